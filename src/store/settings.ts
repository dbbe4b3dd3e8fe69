import type { Kysely, Transaction } from 'kysely';
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

/** The time zone of the organization; undefined until one is stored. */
export const findTimeZone = async (db: Kysely<Tables>) => (await readSettings(db)).get('time_zone');
