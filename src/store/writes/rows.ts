import { type Insertable, sql, type Transaction } from 'kysely';
import { type Moment, momentOf } from '../../core/clock.ts';
import { WriteConflict } from '../../database/application.ts';
import { runsBatches } from '../../database/sql/batches.ts';
import { inJsonArray, jsonItems, nextMillisecond } from '../../database/sql/functions.ts';
import { namedStatement, param } from '../../database/sql/statement.ts';
import type { ResourceTable, Tables } from '../tables.ts';

/** Numbers of rows per insert statement. With few sizes, inserts of any length reuse a few prepared statements. */
const statementSizes = [64, 16, 4, 1];

/** Inserts rows, all with the same columns in the same order. */
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
  if (runsBatches(db)) {
    // Many rows at once would hold up the event loop, which copies them to the thread that writes.
    for (const part of chunk(values, 500)) await insert(1).send(db, part);
    return;
  }
  let at = 0;
  for (const size of statementSizes) {
    for (; rows.length - at >= size; at += size)
      await insert(size).send(db, values.slice(at, at + size).flat());
  }
}

/** Params numbered in order, row by row. */
const rowsOfParams = (rows: number, columns: readonly string[]) =>
  Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(columns.map((column, i) => [column, param(row * columns.length + i)])),
  );

/** Updates the row if it still has the version that was read. */
export async function updateRow<Table extends ResourceTable>(
  db: Transaction<Tables>,
  table: Table,
  row: { id: string; version: number },
  columns: Partial<Tables[Table]>,
  now: string,
): Promise<void> {
  const id = (table === 'people' ? 'user_id' : 'id') as 'id';
  const set = { ...columns, version: row.version + 1, updated_at: now };
  // Sorted, so that the order of the fields in a request does not create another statement.
  const names = Object.keys(set).sort();
  const update = namedStatement(`update ${table} ${names}`, (db) =>
    db
      // The type of `columns` already fits the table, so any updatable table can stand in for it here.
      .updateTable(table as 'projects')
      .set(params(names))
      .where(id, '=', param<string>('id_read'))
      .where('version', '=', param<number>('version_read')),
  );
  const { numAffectedRows } = await update(db, { ...set, id_read: row.id, version_read: row.version });
  if (numAffectedRows === 0n) throw new WriteConflict();
}

/** Updates many rows in the same way, whatever their versions. Returns the new `updated_at` of each: see `laterThan`. */
export async function updateRows<Table extends ResourceTable>(
  db: Transaction<Tables>,
  table: Table,
  ids: readonly string[],
  columns: Partial<Tables[Table]>,
  now: string,
): Promise<{ id: string; at: string; version: number }[]> {
  const id = (table === 'people' ? 'user_id' : 'id') as 'id';
  // A statement that changes no row would still increment the version of the table.
  if (ids.length === 0) return [];
  return db
    .updateTable(table as 'projects')
    .set((eb) => ({
      ...(columns as object),
      version: eb('version', '+', 1),
      updated_at: sql<string>`case when updated_at < ${now} then ${now} else ${nextMillisecond(sql.ref('updated_at'))} end`,
    }))
    .where(inJsonArray(sql.ref(id), ids))
    .returning([`${id} as id`, 'updated_at as at', 'version'])
    .execute();
}

/** Updates the same columns of many rows, each with its own values, if each still has the version that was read. */
export async function updateReadRows<Table extends ResourceTable>(
  db: Transaction<Tables>,
  table: Table,
  rows: readonly { id: string; version: number; columns: Partial<Tables[Table]> }[],
  now: string,
): Promise<void> {
  const [first] = rows;
  if (!first) return;
  if (rows.length === 1) return updateRow(db, table, first, first.columns, now);
  const id = table === 'people' ? 'user_id' : 'id';
  const values = rows.map(({ id, version, columns }) => ({ ...columns, id_read: id, version_read: version }));
  const item = (name: string) => sql`items.value ->> ${sql.lit(name)}`;
  const expressionOf = (name: string) => {
    const types = new Set(rows.map(({ columns }) => typeOf((columns as Record<string, unknown>)[name])));
    if (types.has('number')) return sql`cast(${item(name)} as integer)`;
    // PostgreSQL does not take a text for a column of integers, even if it is NULL.
    return types.has('string') ? item(name) : sql`null`;
  };
  const { numUpdatedRows } = await db
    .updateTable(table as 'projects')
    .from(jsonItems(sql`${JSON.stringify(values)}`).as('items') as never)
    .set({
      ...Object.fromEntries(Object.keys(first.columns).map((name) => [name, expressionOf(name)])),
      version: sql`${sql.ref(`${table}.version`)} + 1`,
      updated_at: now,
    } as never)
    .where(sql<boolean>`${sql.ref(`${table}.${id}`)} = ${item('id_read')}`)
    .where(sql<boolean>`${sql.ref(`${table}.version`)} = cast(${item('version_read')} as integer)`)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows < BigInt(rows.length)) throw new WriteConflict();
}

const typeOf = (value: unknown) => (value === null ? 'null' : typeof value);

/** Counts all rows of a table, also those outside of the project scope of a key: for a limit that all keys share. */
export async function countAllRows(db: Transaction<Tables>, table: keyof Tables): Promise<number> {
  const { count } = await db
    .withoutPlugins()
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Splits a list, because engines limit the number of parameters of a statement. */
export function* chunk<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Deletes the row if it still has the version that was read. */
export async function deleteRow(
  db: Transaction<Tables>,
  table: ResourceTable,
  row: { id: string; version: number },
): Promise<void> {
  const id = (table === 'people' ? 'user_id' : 'id') as 'id';
  const deleteAsRead = namedStatement(`delete ${table}`, (db) =>
    db
      .deleteFrom(table as 'projects')
      .where(id, '=', param<string>('id'))
      .where('version', '=', param<number>('version')),
  );
  const { numAffectedRows } = await deleteAsRead(db, row);
  if (numAffectedRows === 0n) throw new WriteConflict();
}

const params = (columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, param(column)]));

/**
 * Moves each change of a resource after the one before, when requests overtake each other or the clock of an instance is
 * behind, so that their times have one order. The date moves with the time: otherwise a `raised_on` from before would be in
 * the future, and validation would reject every change.
 */
export const laterThan = <M extends Moment>(moment: M, { updated_at }: { updated_at: string }): M => {
  const now = timeAfter(updated_at, moment.now);
  return now === moment.now ? moment : { ...moment, ...momentOf(new Date(now), moment.time_zone) };
};

/** The time, or a millisecond after the last one if that is not earlier. */
export const timeAfter = (last: string, now: string) =>
  last < now ? now : new Date(Date.parse(last) + 1).toISOString();
