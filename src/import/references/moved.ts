import { type Kysely, sql, type Transaction } from 'kysely';
import { idPattern } from '../../core/ids.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Importable } from '../importable.ts';

/*
 * An export of another Muster service has the ids of that service. Each row that is created from it is remembered by its old
 * id, so that the other exports, and a second import of the same one, find it.
 */

/** The ids of this service by those of the service that exported the rows. */
export async function findMoved(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('moved_ids')
    .select(['old_id', 'new_id'])
    .where(inJsonArray(sql.ref('old_id'), [...new Set(ids)]))
    .execute();
  return new Map(rows.map(({ old_id, new_id }) => [old_id, new_id]));
}

export const isIdOf = (what: Importable['what']) => {
  const pattern = new RegExp(idPattern(what));
  return (text: string) => pattern.test(text);
};

/** Remembers the new ids of rows by the ids in their file. A key that is limited to projects replaces none of others. */
export async function recordMoved(
  db: Transaction<Tables>,
  moved: readonly { old_id: string; new_id: string }[],
  { project_ids }: Pick<Change, 'project_ids'>,
): Promise<void> {
  if (moved.length === 0) return;
  const latest = new Map(moved.map(({ old_id, new_id }) => [old_id, new_id]));
  await db
    .insertInto('moved_ids')
    .values([...latest].map(([old_id, new_id]) => ({ old_id, new_id })))
    .onConflict((conflict) => {
      const again = conflict.column('old_id');
      return project_ids === null
        ? again.doUpdateSet((eb) => ({ new_id: eb.ref('excluded.new_id') }))
        : again.doNothing();
    })
    .execute();
}
