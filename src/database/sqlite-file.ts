import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';

/** How a connection is opened, in whichever thread it lives. */
export type FileOptions = { readonly: boolean };

export function openFile(file: string, { readonly }: FileOptions): Sqlite.Database {
  if (!readonly) mkdirSync(dirname(file), { recursive: true });
  // Waiting inside SQLite would hold the event loop; who writes waits outside of it, and readers need not wait.
  const connection = new Sqlite(file, { readonly, timeout: readonly ? 1000 : 0 });
  connection.pragma('foreign_keys = on');
  // Of each connection; the system keeps as much of the file in memory as there is room for, once for all of them.
  connection.pragma('cache_size = -8000');
  if (!readonly) {
    connection.pragma('journal_mode = wal');
    // In WAL mode NORMAL may lose an acknowledged commit when the power fails.
    connection.pragma('synchronous = full');
    // What a savepoint would bring back is held in memory, not in a file; a transaction holds only so much.
    connection.pragma('temp_store = memory');
  }
  return connection;
}
