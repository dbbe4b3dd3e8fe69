import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { prefixes } from '../../core/ids.ts';
import { nearest } from '../../core/text.ts';
import { isTimeZone } from '../../core/time-zones.ts';
import type { Database } from '../../database/open.ts';
import { readSettings, storeSettings } from '../../store/settings.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem, type Change } from '../../store/writes/change.ts';
import { addEvent, type Subject } from '../../store/writes/events.ts';
import { differencesBetween, recordHistory } from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { laterThan } from '../../store/writes/rows.ts';
import { type Organization, OrganizationPatch, organizationDefaults } from './schema.ts';

export const organizationId = `${prefixes.organization}_${'0'.repeat(26)}`;

/** `configured` is the time zone in the settings of the service, which was stored when it started. */
export async function getOrganization(db: Kysely<Tables>, configured: string | undefined) {
  const stored = await readSettings(db);
  const organization: Organization = {
    id: organizationId,
    name: stored.get('name') ?? null,
    time_zone: stored.get('time_zone') ?? organizationDefaults.time_zone,
    first_day_of_week: (stored.get('first_day_of_week') ??
      organizationDefaults.first_day_of_week) as Organization['first_day_of_week'],
    comparison_days: Number(stored.get('comparison_days') ?? organizationDefaults.comparison_days),
    free_text_categories: stored.get('free_text_categories') !== 'false',
    time_zone_from: configured === undefined ? 'organization' : 'setting',
    version: Number(stored.get('version') ?? 1),
    updated_at: stored.get('updated_at') ?? null,
  };
  return organization;
}

/** Locks the settings, so that a change that had to wait reads the latest ones. */
export const lockOrganization = (db: Transaction<Tables>) => lockTables(db, 'settings');

export async function updateOrganization(
  db: Transaction<Tables>,
  current: Organization,
  patch: OrganizationPatch,
  requested: Change,
): Promise<Organization> {
  const next: Organization = { ...current, ...patch };
  const differences = differencesBetween(current, next, Object.keys(OrganizationPatch.properties));
  if (Object.keys(differences).length === 0) return current;
  if ('time_zone' in differences) rejectTimeZone(current, next.time_zone);
  return save(db, current, next, differences, requested);
}

/** Stores the time zone of `MUSTER_TIME_ZONE` for all instances when a service starts. */
export async function storeConfiguredTimeZone(
  { db, write }: Pick<Database, 'db' | 'write'>,
  time_zone: string,
  moment: Moment,
): Promise<void> {
  if ((await readSettings(db)).get('time_zone') === time_zone) return;
  await write(async (db) => {
    await lockOrganization(db);
    const current = await getOrganization(db, time_zone);
    const next = { ...current, time_zone };
    const differences = differencesBetween(current, next, ['time_zone']);
    // UTC is the default, which may not have been stored.
    if (Object.keys(differences).length === 0) return storeSettings(db, { time_zone });
    await save(db, current, next, differences, bySystem(moment, 'MUSTER_TIME_ZONE was changed.'));
  });
}

async function save(
  db: Transaction<Tables>,
  current: Organization,
  changed: Organization,
  differences: ReturnType<typeof differencesBetween>,
  requested: Change,
): Promise<Organization> {
  const change = laterThan(requested, { updated_at: current.updated_at ?? '' });
  const next = { ...changed, version: current.version + 1, updated_at: change.now };
  const values = Object.entries(differences).map(([name, { to }]) => [name, to === null ? null : String(to)]);
  await storeSettings(db, {
    ...Object.fromEntries(values),
    version: String(next.version),
    updated_at: next.updated_at,
  });
  const changes = { subject_id: organizationId, at: change.now, differences };
  await recordHistory(db, [changes], change);
  addEvent(db, { subject, ...changes, change, given: { data: next } });
  return next;
}

function rejectTimeZone({ time_zone_from }: Organization, time_zone: string): void {
  const reject = (code: string, detail: string) => invalidBody([fieldError('time_zone', code, detail)]);
  if (time_zone_from === 'setting')
    throw reject(
      'read_only',
      'The time zone is set with `MUSTER_TIME_ZONE`. Change it there, or remove it there to choose the time zone here.',
    );
  if (isTimeZone(time_zone)) return;
  const similar = nearest(time_zone, Intl.supportedValuesOf('timeZone'));
  throw reject(
    'unknown_time_zone',
    `“${time_zone}” is no time zone of the IANA database, such as America/Los_Angeles, Europe/Berlin or UTC.` +
      (similar === undefined ? '' : ` Did you mean ${similar}?`),
  );
}

/** Its events contain the organization, so the database never reads it for them. */
const subject: Subject = {
  type: 'organization',
  from: (db) => db.selectFrom('settings'),
  id: sql.ref('settings.name'),
  json: () => sql`null`,
};
