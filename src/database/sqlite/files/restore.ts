import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Kysely, sql, type Transaction } from 'kysely';
import { flush } from '../../../core/flush.ts';
import { type StoredColumn, type StoredTable, storedTables, type Tables } from '../../tables.ts';
import { lockFile } from './lock.ts';

export async function describeTables(db: Kysely<Tables>): Promise<StoredTable[]> {
  const { rows } = await sql<StoredColumn>`
    select tables.name as "table", columns.name, lower(columns.type) as type, nullif(columns.pk, 0) as "key"
    from sqlite_schema as tables join pragma_table_xinfo(tables.name) as columns
    where tables.type = 'table' and columns.hidden = 0
    order by tables.name, columns.cid`.execute(db);
  return storedTables(rows);
}

export async function describeSchema(db: Kysely<Tables>): Promise<Set<string>> {
  const { rows } = await sql<{ definition: string }>`
    select type || ' ' || name || ': ' || coalesce(sql, '') as definition from sqlite_schema`.execute(db);
  return new Set(rows.map(({ definition }) => definition));
}

export async function checkIntegrity(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(100)`.execute(db);
  return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
}

/** Building an index from all rows is faster than adding each row to it. Returns a function that creates them again. */
export async function dropIndexes(db: Transaction<Tables>): Promise<() => Promise<void>> {
  const { rows } = await sql<{ name: string; sql: string }>`
    select name, sql from sqlite_schema where type = 'index' and sql is not null order by rowid`.execute(db);
  for (const { name } of rows) await db.schema.dropIndex(name).execute();
  return async () => {
    for (const index of rows) await sql.raw(index.sql).execute(db);
    const [broken] = (
      await sql<{ table: string; parent: string; column: string; row: number }>`
        select c."table", c.parent, f."from" as "column", c.rowid as "row"
        from pragma_foreign_key_check as c join pragma_foreign_key_list(c."table") as f on f.id = c.fkid
        limit 1`.execute(db)
    ).rows;
    if (!broken) return;
    const { table, parent, column, row } = broken;
    const { rows: found } = await sql<{ id: string }>`
      select ${sql.ref(column)} as id from ${sql.table(table)} where rowid = ${row}`.execute(db);
    throw new BrokenReference(`${table}.${column} is ${found[0]?.id}, which is not in ${parent}`);
  };
}

/** Found by the check after loading, when foreign keys are off. */
class BrokenReference extends Error {
  override readonly name = 'BrokenReference';
}

export function describeViolation(error: unknown): string | undefined {
  if (error instanceof BrokenReference) return error.message;
  if (!(error instanceof Sqlite.SqliteError) || !error.code.startsWith('SQLITE_CONSTRAINT')) return undefined;
  const [, index, table, columns] =
    /^UNIQUE constraint failed: (?:index '(\w+)'|(\w+)\.(.+))$/.exec(error.message) ?? [];
  if (index !== undefined) return `two rows have the same value in the unique index ${index}`;
  if (columns === undefined) return error.message;
  return `two rows of ${table} have the same ${columns.replaceAll(`${table}.`, '')}`;
}

/** The new file is built in a folder beside the database. */
export const restoreFolder = (file: string) => `${file}-restore-`;

const lockPath = (folder: string) => join(folder, 'lock');

export const hasLock = (folder: string) => existsSync(lockPath(folder));

/** Marks a folder as in use until the lock is released or this process ends. */
export const lockFolder = (folder: string) => lockFile(lockPath(folder));

/**
 * Builds a new database file and moves it into place when it is complete and on disk. `open` returns a connection to write
 * the new file. `assertReplaceable` throws if there is a file that must not be replaced.
 */
export async function buildFile(
  path: string,
  open: (file: string) => { db: Kysely<Tables>; close(): Promise<void> },
  load: (db: Transaction<Tables>) => Promise<void>,
  assertReplaceable: (file: string) => Promise<void>,
): Promise<void> {
  const file = existsSync(path) ? realpathSync(path) : path;
  await assertReplaceable(file);
  const created = mkdirSync(dirname(file), { recursive: true });
  let folder: string | undefined;
  let lock: ReturnType<typeof lockFolder>;
  try {
    folder = mkdtempSync(`${restoreFolder(file)}${process.pid}-`);
    // A full disk fails here already.
    lock = lockFolder(folder);
    const built = join(folder, 'new.db');
    writeFileSync(built, '', { flag: 'wx', mode: 0o600 });
    const { db, close } = open(built);
    try {
      // Only the finished file is ever used. New pages need no journal, and it cannot be turned off.
      for (const pragma of [
        'journal_mode = memory',
        'synchronous = off',
        'foreign_keys = off',
        'temp_store = file',
        'cache_size = -16000',
      ])
        await sql.raw(`pragma ${pragma}`).execute(db);
      await db.transaction().execute(load);
    } finally {
      await close();
    }
    flush(built);
    await assertReplaceable(file);
    renameSync(built, file);
    flush(dirname(file));
  } finally {
    lock?.release();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    if (created !== undefined && !existsSync(file)) removeEmptyFolders(dirname(file), created);
  }
}

/** Removes the folders that a failed restore has created, unless something else is in them by now. */
function removeEmptyFolders(folder: string, last: string): void {
  try {
    rmdirSync(folder);
    if (resolve(folder) !== resolve(last)) removeEmptyFolders(dirname(folder), last);
  } catch {}
}
