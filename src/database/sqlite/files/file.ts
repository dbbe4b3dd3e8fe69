import { closeSync, mkdirSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { UsageError } from '../../../core/errors.ts';
import { fold } from '../../../core/text.ts';

/** How to open a connection, in the main thread or a worker. */
export type FileOptions = { readonly: boolean; expected?: FileIdentity | undefined };

/** Device and inode of the database file and its write-ahead log, to detect that a file was replaced. */
export type FileIdentity = { walFile: string; database: string; wal: string | undefined };

/** Opens an existing database file. `createFile` creates one. */
export function openFile(file: string, { readonly, expected }: FileOptions): Sqlite.Database {
  if (expected) assertSameFile(file, expected);
  // Waiting for a lock inside SQLite blocks the thread, so writers wait in the write queue. Readers rarely wait at all.
  const connection = new Sqlite(file, { readonly, timeout: readonly ? 1000 : 0, fileMustExist: true });
  try {
    configure(connection, readonly);
    connection.function('fold', { deterministic: true }, (text) =>
      text === null ? null : fold(String(text)),
    );
    // The first read opens the write-ahead log, so that its identity can be checked.
    connection.pragma('schema_version');
    if (expected) assertSameFile(file, expected);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function configure(connection: Sqlite.Database, readonly: boolean): void {
  connection.pragma('foreign_keys = on');
  // In KiB. Small, because the connections share the page cache of the operating system, and a reader discards its own
  // after each commit of the writer.
  connection.pragma(`cache_size = -${readonly ? 2000 : 8000}`);
  if (readonly) return;
  connection.pragma('journal_mode = wal');
  // In WAL mode, NORMAL may lose acknowledged commits on power failure.
  connection.pragma('synchronous = full');
  // Keeps savepoint journals in memory instead of a file. The size of a transaction is limited.
  connection.pragma('temp_store = memory');
  connection.pragma(`journal_size_limit = ${maxIdleWalBytes}`);
}

/** SQLite truncates a larger write-ahead log when it restarts from the beginning. */
const maxIdleWalBytes = 16 * 1024 * 1024;

/**
 * Creates the file on first start, if neither it nor its write-ahead log exists. Only the owner may read it; SQLite creates
 * the files beside it with the same mode.
 */
export function createFile(file: string): void {
  const found = find(file);
  if (found && found.size > 0) return;
  assertNoLog(file);
  if (found) return;
  mkdirSync(dirname(file), { recursive: true });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Another process that starts at the same time may have created it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Only its type is imported: each thread that opens the file would load all of the library. */
const migrationTable: typeof DEFAULT_MIGRATION_TABLE = 'kysely_migration';

/** Throws if the file is a database of another application. A file that is no database is reported when it is opened. */
export function assertOwnFile(file: string): void {
  if (!hasContent(file)) return;
  const tables = tablesOf(file);
  if (tables.length === 0 || tables.includes(migrationTable)) return;
  throw new UsageError(
    `The file ${file} is a database of another application (it has the tables ${tables.slice(0, 5).join(', ')}). ` +
      'Set MUSTER_DATABASE_URL to a file that does not exist yet, or to one of Muster.',
  );
}

function tablesOf(file: string): string[] {
  try {
    const connection = new Sqlite(file, { readonly: true, fileMustExist: true });
    try {
      const rows = connection.prepare(`select name from sqlite_schema where type = 'table' order by name`);
      return rows.pluck().all() as string[];
    } finally {
      connection.close();
    }
  } catch {
    return [];
  }
}

/** Whether the file exists and is not empty. */
export const hasContent = (file: string): boolean => (find(file)?.size ?? 0) > 0;

/** A file that replaces the database must not meet the log of another one: SQLite would delete the log or apply it. */
export function assertNoLog(file: string): void {
  if (!find(walPath(file))?.size) return;
  throw new UsageError(
    hasContent(file)
      ? `The database file ${file} is in use by another process. Stop it first.`
      : `The database file ${file} is missing or empty, but its write-ahead log ${walPath(file)} exists. ` +
          'Restore the database file, or move the log away to start with an empty database.',
  );
}

/** Callers that check often pass `walFile`, because resolving symbolic links takes longer than the rest. */
export function identify(
  file: string,
  walFile = walPath(file),
): (FileIdentity & { walBytes: number }) | undefined {
  const database = find(file);
  if (!database) return undefined;
  const wal = find(walFile);
  return { walFile, database: idOf(database), wal: wal && idOf(wal), walBytes: wal?.size ?? 0 };
}

/** Treats a file in an inaccessible folder as missing. */
function find(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const idOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

/** SQLite puts the log beside the target of a symbolic link. */
function walPath(file: string): string {
  try {
    return `${realpathSync(file)}-wal`;
  } catch {
    return `${file}-wal`;
  }
}

export function isSameFile(found: FileIdentity | undefined, expected: FileIdentity): boolean {
  return found?.database === expected.database && (expected.wal === undefined || found.wal === expected.wal);
}

function assertSameFile(file: string, expected: FileIdentity): void {
  if (!isSameFile(identify(file, expected.walFile), expected)) throw fileMoved();
}

/** Uses the code that SQLite itself uses for a moved database. */
export const fileMoved = () =>
  new Sqlite.SqliteError('The database file was removed or replaced.', 'SQLITE_READONLY_DBMOVED');
