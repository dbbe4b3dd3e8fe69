import { type Insertable, SqliteAdapter, sql, type Transaction } from 'kysely';
import { type Moment, momentOf } from '../../core/clock.ts';
import { namedStatement, param } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';

/** Another transaction has changed the row since it was read: run this one again. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}

type Updatable = 'people' | 'groups' | 'projects' | 'risks' | 'issues' | 'tasks';

/** Rows in a statement. With a few sizes, any number of rows is a few statements, each of which is built but once. */
const statementRows = [64, 16, 4, 1];

/** New rows, all with the same columns in the same order. */
export async function insertRows<Table extends keyof Tables>(
  db: Transaction<Tables>,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => Object.values(row));
  const insert = (size: number) =>
    namedStatement(`insert ${size} ${table} ${columns}`, (db) =>
      db.insertInto(table).values(rowsOfParams(size, columns) as never),
    );
  // SQLite takes longer for a statement of many rows than for many runs of one.
  if (db.getExecutor().adapter instanceof SqliteAdapter) {
    if (rows.length > 0) await insert(1)(db, values);
    return;
  }
  let at = 0;
  for (const size of statementRows) {
    for (; rows.length - at >= size; at += size) await insert(size)(db, values.slice(at, at + size).flat());
  }
}

/** Holes that are numbered through, row by row. */
const rowsOfParams = (rows: number, columns: readonly string[]) =>
  Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(columns.map((column, i) => [column, param(row * columns.length + i)])),
  );

/** Changes the row that was read, and no later version of it. */
export async function updateRow<Table extends Updatable>(
  db: Transaction<Tables>,
  table: Table,
  row: { id: string; version: number },
  columns: Partial<Tables[Table]>,
  now: string,
): Promise<void> {
  const id = (table === 'people' ? 'user_id' : 'id') as 'id';
  const set = { ...columns, version: row.version + 1, updated_at: now };
  // Sorted, so that the order of a client's fields does not make another statement.
  const names = Object.keys(set).sort();
  const update = namedStatement(`update ${table} ${names}`, (db) =>
    db
      // One shape stands for all: what each table takes is said by the type of `columns`.
      .updateTable(table as 'projects')
      .set(params(names))
      .where(id, '=', param<string>('id_read'))
      .where('version', '=', param<number>('version_read')),
  );
  const { numAffectedRows } = await update(db, { ...set, id_read: row.id, version_read: row.version });
  if (numAffectedRows === 0n) throw new WriteConflict();
}

/** Changes many rows in the same way, whatever their versions, and says at which time each of them did. */
export async function updateRows<Table extends Updatable>(
  db: Transaction<Tables>,
  table: Table,
  ids: readonly string[],
  columns: Partial<Tables[Table]>,
  now: string,
): Promise<{ id: string; at: string }[]> {
  const id = (table === 'people' ? 'user_id' : 'id') as 'id';
  const changed: { id: string; at: string }[] = [];
  for (const some of chunk(ids, 1000)) {
    const rows = await db
      .updateTable(table as 'projects')
      .set((eb) => ({
        ...(columns as object),
        version: eb('version', '+', 1),
        updated_at: sql<string>`case when updated_at > ${now} then updated_at else ${now} end`,
      }))
      .where(id, 'in', some)
      .returning([`${id} as id`, 'updated_at as at'])
      .execute();
    changed.push(...rows);
  }
  return changed;
}

/** No statement may have more parameters than an engine takes. */
export function* chunk<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Deletes the row that was read, and no later version of it. */
export async function deleteRow(
  db: Transaction<Tables>,
  table: Updatable,
  row: { id: string; version: number },
): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom(table as 'projects')
    .where((table === 'people' ? 'user_id' : 'id') as 'id', '=', row.id)
    .where('version', '=', row.version)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new WriteConflict();
}

const params = (columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, param(column)]));

/**
 * Time does not run backwards for a row, when requests overtake each other or the clock is set back. The day goes with
 * the time: otherwise `raised_on`, set by the clock before, would be in the future and every change would be rejected.
 */
export const notBefore = <M extends Moment>(moment: M, { updated_at }: { updated_at: string }): M =>
  moment.now < updated_at ? { ...moment, ...momentOf(new Date(updated_at)) } : moment;
