import type { Agent } from 'node:http';
import type { Known } from './known.ts';

/** A running service and its API keys. */
export type Target = {
  name: string;
  origin: string;
  /** One key with every scope and one key per scope. No request may change the keys with these ids. */
  keys: {
    all: string;
    ids: string[];
    byScope: Record<string, string>;
    revoked: string;
    expired: string;
    /** Limited to some projects; created after the first projects, if the service supports it. */
    limited?: { secret: string; projects: string[] };
  };
};

/** A target with the resources recorded from its responses. */
export type Side = Target & { known: Known; agent: Agent };
