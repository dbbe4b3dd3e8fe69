import type { Kysely } from 'kysely';
import type { Database } from '../database/open.ts';
import type { Tables } from './tables.ts';

/** The time zone of the organization; undefined until one is stored. */
export async function findTimeZone(db: Kysely<Tables>): Promise<string | undefined> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'time_zone')
    .executeTakeFirst();
  return row?.value;
}

/** Stores the time zone of the organization for all instances. */
export async function storeTimeZone({ db, write }: Pick<Database, 'db' | 'write'>, value: string) {
  if ((await findTimeZone(db)) === value) return;
  await write((db) =>
    db
      .insertInto('settings')
      .values({ name: 'time_zone', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute(),
  );
}
