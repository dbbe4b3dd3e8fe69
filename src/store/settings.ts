import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../database/open.ts';
import type { Tables } from './tables.ts';

/** The time zone of the organization; undefined until one is stored. */
export const findTimeZone = (db: Kysely<Tables>) => findSetting(db, 'time_zone');

/** Stores the time zone of the organization for all instances. */
export async function storeTimeZone({ db, write }: Pick<Database, 'db' | 'write'>, value: string) {
  if ((await findTimeZone(db)) === value) return;
  await write((db) => storeSetting(db, 'time_zone', value));
}

/**
 * `history_start` is the instant from which on the history is complete, which requests are checked against, and
 * `history_deleted` the one before which it has been deleted.
 */
type SettingName = 'time_zone' | 'history_start' | 'history_deleted';

export async function findSetting(db: Kysely<Tables>, name: SettingName): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value;
}

export const storeSetting = (db: Transaction<Tables>, name: SettingName, value: string) =>
  db
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
