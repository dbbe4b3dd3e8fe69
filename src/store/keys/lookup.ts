import type { Kysely, Selectable } from 'kysely';
import { Key } from '../../resources/keys/schema.ts';
import type { Tables } from '../tables.ts';

/** Finds a key by the hash of its secret. */
export async function findKeyByHash(db: Kysely<Tables>, hash: string): Promise<Key | undefined> {
  const row = await db.selectFrom('keys').select(keyColumns).where('hash', '=', hash).executeTakeFirst();
  return row && keyOf(row);
}

/** Finds a key by the hash of its previous secret, while the overlap after a rotation lasts. */
export async function findKeyByPreviousHash(
  db: Kysely<Tables>,
  hash: string,
  now: string,
): Promise<Key | undefined> {
  const row = await db
    .selectFrom('keys')
    .select(keyColumns)
    .where('previous_hash', '=', hash)
    .where('previous_until', '>', now)
    .executeTakeFirst();
  return row && keyOf(row);
}

/** The columns of the API resource; hashes are never read. */
export const keyColumns = Object.keys(Key.properties) as (keyof Key)[];

export const keyOf = (row: Pick<Selectable<Tables['keys']>, keyof Key>): Key => ({
  ...row,
  scopes: JSON.parse(row.scopes),
  project_ids: row.project_ids === null ? null : JSON.parse(row.project_ids),
});
