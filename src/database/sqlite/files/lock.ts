import { closeSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/**
 * Locks a file until it is released or the process ends. Returns undefined if another process has locked it, also one in
 * another container, whose process id says nothing here. It uses the locks of SQLite, because Node has none.
 */
export function lockFile(path: string): { release(): void } | undefined {
  closeSync(openSync(path, 'a', 0o600));
  const connection = new Sqlite(path, { timeout: 0 });
  try {
    connection.exec('begin exclusive');
    return { release: () => connection.close() };
  } catch (error) {
    connection.close();
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}
