import { type Kysely, sql, type Transaction } from 'kysely';
import { UsageError } from '../../core/errors.ts';
import type { Engine } from '../engine.ts';
import { migrate, migrationNames } from '../migrate.ts';
import { runsBatches } from '../sql/batches.ts';
import { jsonItems } from '../sql/functions.ts';
import { namedStatement, param } from '../sql/statement.ts';
import { allTables, type StoredTable, type Tables } from '../tables.ts';
import type { Manifest, Rows } from './file.ts';

export type Backup = { manifest: Manifest; tables(): AsyncGenerator<Rows> };

export type RestoreOptions = {
  /** After a loss: table versions that clients may know from before the loss must not be used again. */
  newVersions?: boolean;
  onProgress(table: string, rows: number): void;
};

/** More transactions than can have been lost. */
const versionGap = 1_000_000;

/**
 * Loads a backup into a database without rows. The tables are created as they were in the version that wrote the backup;
 * later migrations then run on the data. Everything becomes visible at once, or nothing does.
 */
export async function restoreDatabase(
  engine: Engine,
  { manifest, tables }: Backup,
  { newVersions = false, onProgress }: RestoreOptions,
): Promise<void> {
  const last = lastMigration(engine, manifest);
  await engine.restore({
    assertEmpty: (db) => assertEmpty(db, engine),
    async load(db) {
      await migrate(db, engine, last);
      const stored = new Map((await engine.describeTables(db)).map((table) => [table.table, table]));
      // The migrations have filled it.
      await db.deleteFrom('data_versions').execute();
      const createIndexes = await engine.dropIndexes(db);
      let current = '';
      let rows = 0;
      for await (const part of tables()) {
        await insertPart(db, findTable(stored, part), part);
        rows = part.table === current ? rows + part.count : part.count;
        current = part.table;
        onProgress(current, rows);
      }
      if (newVersions)
        await db
          .updateTable('data_versions')
          .set((eb) => ({ version: eb('version', '+', versionGap) }))
          // Those are sequence numbers of events, which start from the time and so do not repeat.
          .where(sql<boolean>`table_name not in ('events', 'deleted_events')`)
          .execute();
      onProgress('indexes', 0);
      await createIndexes();
      await migrate(db, engine);
    },
  });
}

/** Returns the last migration of the backup, if this version has all of them. */
function lastMigration(engine: Engine, { migrations, version }: Manifest): string {
  const known = migrationNames(engine);
  const unknown = migrations.find((name) => !known.includes(name));
  if (unknown)
    throw new UsageError(
      `The backup was written by a newer version of Muster (${version}, migration ${unknown}). Install that version to restore it.`,
    );
  return migrations.at(-1) ?? '';
}

async function assertEmpty(db: Kysely<Tables>, engine: Engine): Promise<void> {
  const existing = (await engine.describeTables(db)).map(({ table }) => table);
  for (const table of allTables.filter((name) => name !== 'data_versions' && existing.includes(name))) {
    const row = await db.selectFrom(table).select(sql.lit(1).as('one')).limit(1).executeTakeFirst();
    if (row)
      throw new UsageError(
        `The database ${engine.name} is not empty: its table ${table} has rows. Restore into a new database.`,
      );
  }
}

function findTable(stored: Map<string, StoredTable>, { table, columns }: Rows): StoredTable {
  const found = stored.get(table);
  const isKnown = (name: string) => found?.columns.some((column) => column.name === name);
  if (found && columns.every(isKnown)) return found;
  throw new UsageError(
    `The backup is damaged: it has a table or column that its version does not have, in ${table}. Nothing was restored.`,
  );
}

/** Loads rows in the way that is fastest on the engine. */
async function insertPart(db: Transaction<Tables>, stored: StoredTable, part: Rows): Promise<void> {
  try {
    await (runsBatches(db) ? insertBatch(db, part) : insertJson(db, stored, part));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `The backup is damaged: rows of ${part.table} cannot be loaded (${why}). Nothing was restored.`,
      {
        cause: error,
      },
    );
  }
}

async function insertBatch(db: Transaction<Tables>, { table, columns, rows }: Rows): Promise<void> {
  const values = JSON.parse(`[${rows}]`);
  const insert = namedStatement(`restore batch ${table} ${columns}`, (db) =>
    db
      .insertInto(table as 'people')
      .values(Object.fromEntries(columns.map((name, i) => [name, param(i)])) as never),
  );
  // Batches are not awaited: another statement waits for the previous one, so that there is never more than one.
  await sql`select 1`.execute(db);
  await insert(db, values);
}

/** The server parses the rows, which is faster than one parameter for each value. */
async function insertJson(
  db: Transaction<Tables>,
  stored: StoredTable,
  { table, columns, rows }: Rows,
): Promise<void> {
  const typeOf = new Map(stored.columns.map(({ name, type }) => [name, type]));
  const insert = namedStatement(`restore JSON ${table} ${columns}`, (db) =>
    db
      .insertInto(table as 'people')
      .columns(columns as never[])
      .expression(
        (eb) =>
          eb
            .selectFrom(jsonItems(param('rows')).as('items'))
            .select(
              columns.map((name, i) =>
                sql`cast(items.value ->> ${sql.lit(i)} as ${sql.raw(typeOf.get(name) ?? 'text')})`.as(name),
              ),
            ) as never,
      ),
  );
  await insert(db, { rows: `[${rows}]` });
}
