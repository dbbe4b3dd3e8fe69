import type { Agent } from 'node:http';
import type { Known } from './known.ts';

/** A running service and its API keys. */
export type Target = {
  name: string;
  origin: string;
  /** One key with every scope, which no request may change, and one key per scope. */
  keys: {
    all: string;
    id: string;
    byScope: Record<string, string>;
    revoked: string;
    expired: string;
    /** Limited to some projects; created after the first projects, if the service supports it. */
    limited?: { secret: string; projects: string[] };
  };
};

/** A target with the resources recorded from its responses. */
export type Side = Target & { known: Known; agent: Agent };
