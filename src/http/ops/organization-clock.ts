import { type Clock, clockIn } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Versions } from '../../database/versions.ts';
import { findTimeZone } from '../../store/settings.ts';

export type OrganizationClock = ReturnType<typeof createOrganizationClock>;

/**
 * The clock of the organization: its day is that of the stored time zone, which any instance may change. The clock of the
 * service itself is in UTC. `onChange` is called with each time zone that is read.
 */
export function createOrganizationClock(
  database: Pick<Database, 'db' | 'versions'>,
  serviceClock: Clock,
  onChange: (time_zone: string) => void,
) {
  let version: number | undefined;
  let time_zone = 'UTC';
  let clock = serviceClock;
  /** Whether the clock has the time zone that was stored at these versions. */
  const isCurrent = (versions: Versions) => version !== undefined && versions.settings === version;
  return {
    clock: (() => clock()) satisfies Clock,
    isCurrent,
    /** Reads the stored time zone if it has changed. */
    async refresh(versions?: Versions): Promise<void> {
      // Read before the time zone, so that the next call detects a change between the two reads.
      const current = versions ?? (await database.versions());
      if (isCurrent(current)) return;
      const stored = (await findTimeZone(database.db)) ?? 'UTC';
      version = current.settings;
      if (stored === time_zone) return;
      time_zone = stored;
      clock = stored === 'UTC' ? serviceClock : clockIn(stored, serviceClock);
      onChange(stored);
    },
  };
}
