import type { Moment } from '../../core/clock.ts';

/** Who changes something, when, and, where they said so, why. */
export type Change = Moment & { key_id: string | null; key_name: string; reason?: string | null | undefined };

/** What the service does by itself, when a day has come. */
export const bySystem = (moment: Moment, reason: string): Change => ({
  ...moment,
  key_id: null,
  key_name: 'Muster',
  reason,
});

export const byCommandLine = (moment: Moment) => bySystem(moment, 'On the command line.');
