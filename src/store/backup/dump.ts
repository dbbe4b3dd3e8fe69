import { type Kysely, sql } from 'kysely';
import { UsageError } from '../../core/errors.ts';
import type { Database } from '../../database/open.ts';
import { jsonRow } from '../../database/sql/functions.ts';
import { countLines, streamLines } from '../../database/sql/lines.ts';
import type { StoredTable } from '../../database/tables.ts';
import { backupTables, type Tables } from '../tables.ts';
import type { Section } from './file.ts';

const sliceRows = 500;

/** Reads all tables in one snapshot. It changes nothing and blocks no writer. The caller must call `end`. */
export async function dumpDatabase(database: Database, onProgress: (table: string, rows: number) => void) {
  if ((await database.migrations()).applied.length === 0)
    throw new UsageError(`The database ${database.name} is empty. There is nothing to back up.`);
  const { db, end } = await database.snapshot('stream');
  try {
    const stored = await database.describeTables(db);
    // Read in the snapshot, so that a migration that runs meanwhile is in both the manifest and the rows, or in neither.
    const { applied } = await database.migrations(db);
    return { migrations: applied, tables: readTables(db, stored, onProgress), db, end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function* readTables(
  db: Kysely<Tables>,
  stored: readonly StoredTable[],
  onProgress: (table: string, rows: number) => void,
): AsyncGenerator<Section | { lines: string; count: number }> {
  for (const name of backupTables) {
    const found = stored.find(({ table }) => table === name);
    if (!found) continue;
    const columns = found.columns.map((column) => column.name);
    yield { table: name, columns };
    let rows = 0;
    for await (const { lines } of streamLines(db, rowsOf(db, name, columns, found.primaryKey), sliceRows)) {
      const count = countLines(lines);
      rows += count;
      yield { lines, count };
      onProgress(name, rows);
    }
  }
}

/** Sorted by the primary key, so that the same data is always the same file. */
function rowsOf(
  db: Kysely<Tables>,
  table: (typeof backupTables)[number],
  columns: readonly string[],
  primaryKey: readonly string[],
) {
  const values = columns.map((column) => sql.ref(column));
  const rows = db.selectFrom(table).select(jsonRow(values).$castTo<string>().as('line'));
  return primaryKey.reduce((sorted, column) => sorted.orderBy(sql.ref(column)), rows);
}
