import type { Moment } from '../../core/clock.ts';
import { type Scope, scopes } from '../../resources/keys/schema.ts';

/** Who makes a change, when, and optionally why. */
export type Change = Moment & {
  key_id: string | null;
  key_name: string;
  /** What errors and reports may reveal depends on the scopes of the key. */
  scopes: readonly Scope[];
  reason?: string | null | undefined;
};

/** A change or event by the service itself, such as reopening a risk when its acceptance expires. */
export const bySystem = (moment: Moment, reason?: string): Change => ({
  ...moment,
  key_id: null,
  key_name: 'Muster',
  scopes,
  reason,
});

/** Changed fields with their old and new values. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

export const byCommandLine = (moment: Moment) => bySystem(moment, 'Changed from the command line.');
