import type { Agent } from 'node:http';
import type { Known } from './known.ts';

/** A running service and the keys to it. */
export type Target = {
  name: string;
  origin: string;
  /** One key with every scope, which nothing may touch, and one for each single scope. */
  keys: {
    all: string;
    id: string;
    byScope: Record<string, string>;
    revoked: string;
    expired: string;
    /** For some projects only, made as soon as there are any, if the service has such keys. */
    limited?: { secret: string; projects: string[] };
  };
};

/** A target, and what was learnt of it. */
export type Side = Target & { known: Known; agent: Agent };
