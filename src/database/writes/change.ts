import type { Moment } from '../../core/clock.ts';

/** Who makes a change, when, and optionally why. */
export type Change = Moment & { key_id: string | null; key_name: string; reason?: string | null | undefined };

/** A change or event by the service itself, such as reopening a risk when its acceptance expires. */
export const bySystem = (moment: Moment, reason?: string): Change => ({
  ...moment,
  key_id: null,
  key_name: 'Muster',
  reason,
});

/** Changed fields with their old and new values. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

export const byCommandLine = (moment: Moment) => bySystem(moment, 'Changed from the command line.');
