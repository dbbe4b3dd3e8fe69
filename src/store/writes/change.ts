import type { Moment } from '../../core/clock.ts';
import { type Scope, scopes } from '../../core/scopes.ts';
import type { Actor } from '../../resources/history/schema.ts';

/** Who makes a change, when, and optionally why. */
export type Change = Moment & {
  /** The person who signed in, or whose personal key is used. */
  user_id: string | null;
  key_id: string | null;
  /** The name of the person, or of the key. */
  name: string;
  /** What a change may do, and what errors and reports may reveal, depends on the access of the actor. */
  scopes: readonly Scope[];
  project_ids: readonly string[] | null;
  /** When the key of the actor expires. */
  expires_at?: string | null;
  reason?: string | null | undefined;
  /** Set for rows of a file, which report what was decided elsewhere. */
  isImport?: true;
};

/** The actor, as history, events and comments show it. */
export const actorOf = ({ user_id, key_id, name }: Pick<Change, 'user_id' | 'key_id' | 'name'>): Actor => ({
  type: key_id !== null ? 'key' : user_id !== null ? 'person' : 'service',
  user_id,
  key_id,
  name,
});

/** A change or event by the service itself, such as reopening a risk when its acceptance expires. */
export const bySystem = (moment: Moment, reason?: string): Change => ({
  ...moment,
  user_id: null,
  key_id: null,
  name: 'Muster',
  scopes,
  project_ids: null,
  reason,
});

/** Changed fields with their old and new values. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

export const byCommandLine = (moment: Moment) => bySystem(moment, 'Changed from the command line.');
