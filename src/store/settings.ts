import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../database/open.ts';
import type { Tables } from './tables.ts';

/** The settings of the organization that are stored, by name. Those that are not have their default. */
export async function readSettings(db: Kysely<Tables>): Promise<Map<string, string>> {
  const rows = await db.selectFrom('settings').select(['name', 'value']).execute();
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Stores settings for all instances; null removes one. */
export async function storeSettings(
  db: Transaction<Tables>,
  settings: Readonly<Record<string, string | null>>,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    if (value === null) await db.deleteFrom('settings').where('name', '=', name).execute();
    else
      await db
        .insertInto('settings')
        .values({ name, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute();
  }
}

/**
 * Stores whether people can sign in with a password, when a service starts: whoever has only a password is no administrator
 * otherwise, also for the command line.
 */
export async function storePasswords(
  { db, write }: Pick<Database, 'db' | 'write'>,
  areOn: boolean,
): Promise<void> {
  const passwords = areOn ? null : 'off';
  if (((await readSettings(db)).get('passwords') ?? null) !== passwords)
    await write((db) => storeSettings(db, { passwords }));
}

/** The time zone of the organization; undefined until one is stored. */
export const findTimeZone = async (db: Kysely<Tables>) => (await readSettings(db)).get('time_zone');
