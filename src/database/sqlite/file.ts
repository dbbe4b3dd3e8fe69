import { closeSync, mkdirSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { UsageError } from '../../core/errors.ts';

/** How a connection is opened, in whichever thread it lives. */
export type FileOptions = { readonly: boolean; expected?: FileIdentity | undefined };

/** Device and inode of the database file and of its write-ahead log, which tell a file from another of the same name. */
export type FileIdentity = { walFile: string; database: string; wal: string | undefined };

/** Never creates a database: see `createFile`. */
export function openFile(file: string, { readonly, expected }: FileOptions): Sqlite.Database {
  if (expected) assertSameFile(file, expected);
  // Waiting inside SQLite would hold the event loop; who writes waits outside of it, and readers need not wait.
  const connection = new Sqlite(file, { readonly, timeout: readonly ? 1000 : 0, fileMustExist: true });
  try {
    configure(connection, readonly);
    // The first read opens the write-ahead log, so that its identity is known from here on.
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
  // Of each connection; the system keeps as much of the file in memory as there is room for, once for all of them.
  connection.pragma('cache_size = -8000');
  if (readonly) return;
  connection.pragma('journal_mode = wal');
  // In WAL mode NORMAL may lose an acknowledged commit when the power fails.
  connection.pragma('synchronous = full');
  // What a savepoint would bring back is held in memory, not in a file; a transaction holds only so much.
  connection.pragma('temp_store = memory');
  connection.pragma(`journal_size_limit = ${maxIdleWalBytes}`);
}

/** SQLite truncates a larger write-ahead log when it starts to overwrite it from its beginning. */
const maxIdleWalBytes = 16 * 1024 * 1024;

/**
 * Creates the file at a first start, when neither it nor its write-ahead log exists. Only its owner may read it: SQLite
 * gives the files beside it the same mode.
 */
export function createFile(file: string): void {
  const found = find(file);
  if (found && found.size > 0) return;
  // SQLite would delete a log whose database is missing or empty, and the writes in it with it.
  if (find(walPath(file))?.size && !find(file)?.size) {
    throw new UsageError(
      `The database file ${file} is missing or empty, but its write-ahead log ${walPath(file)} is there. ` +
        'Restore the database file beside it, or move the log away to start with an empty database.',
    );
  }
  if (found) return;
  mkdirSync(dirname(file), { recursive: true });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Another process that starts at the same time has created it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** The path of the log may be passed in, because finding it takes longer than all the rest. */
export function identify(
  file: string,
  walFile = walPath(file),
): (FileIdentity & { walBytes: number }) | undefined {
  const database = find(file);
  if (!database) return undefined;
  const wal = find(walFile);
  return { walFile, database: idOf(database), wal: wal && idOf(wal), walBytes: wal?.size ?? 0 };
}

/** A file in a folder that cannot be looked into is as good as gone. */
function find(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const idOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

/** SQLite puts the log beside the file that a symbolic link leads to. */
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

/** SQLite has this code for the same finding. */
export const fileMoved = () =>
  new Sqlite.SqliteError('The database file was removed or replaced.', 'SQLITE_READONLY_DBMOVED');
