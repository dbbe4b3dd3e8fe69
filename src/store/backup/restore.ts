import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { UsageError } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';
import type { Engine } from '../../database/engine.ts';
import { runsBatches } from '../../database/sql/batches.ts';
import { jsonItems } from '../../database/sql/functions.ts';
import { namedStatement, param } from '../../database/sql/statement.ts';
import type { StoredTable } from '../../database/tables.ts';
import { isUnreleased, migrate, migrationNames } from '../migrate.ts';
import { allTables, backupTables, type Tables } from '../tables.ts';
import { startVersions } from '../writes/table-versions.ts';
import type { decodeBackup, Rows } from './file.ts';

type Backup = Awaited<ReturnType<typeof decodeBackup>>;

export type RestoreOptions = {
  /** Returns a function that returns what is wrong with a row of a table, given the values of its columns. */
  rowValidator(
    table: keyof Tables,
    columns: readonly string[],
  ): (values: readonly unknown[]) => string | undefined;
  /** Writes columns that follow from others, whatever the backup says. */
  recompute(db: Transaction<Tables>): Promise<void>;
  onProgress(table: string, rows: number): void;
};

/**
 * Loads a backup into a database without rows. The tables are created as they were in the version that wrote the backup;
 * later migrations then run on the data. Everything becomes visible at once, or nothing does.
 */
export async function restoreDatabase(
  engine: Engine,
  backup: Backup,
  { onProgress, ...options }: RestoreOptions,
): Promise<void> {
  const last = lastMigration(backup);
  await engine.restore({
    tables: allTables,
    assertEmpty: (db) => assertEmpty(db, engine),
    async load(db) {
      await migrate(db, engine, last);
      const stored = await engine.describeTables(db);
      // The migrations have filled it.
      await db.deleteFrom('data_versions').execute();
      const createIndexes = await engine.dropIndexes(db);
      try {
        await loadTables(db, stored, backup, { ...options, onProgress });
        onProgress('indexes', 0);
        await createIndexes();
      } catch (error) {
        // Rows were validated, but only the database knows which values must be unique and which rows must exist.
        const why = engine.describeViolation(error);
        throw why === undefined ? error : backup.damaged(why, error);
      }
      await migrate(db, engine);
      await startVersions(db);
      await options.recompute(db);
    },
  });
}

async function loadTables(
  db: Transaction<Tables>,
  stored: readonly StoredTable[],
  { tables, damaged }: Backup,
  { rowValidator, onProgress }: Pick<RestoreOptions, 'rowValidator' | 'onProgress'>,
): Promise<void> {
  const missing = new Set<string>(backupTables.filter((name) => stored.some(({ table }) => table === name)));
  let current = '';
  let rows = 0;
  let types = new Map<string, string>();
  let validate: ReturnType<RestoreOptions['rowValidator']> = () => undefined;
  for await (const part of tables()) {
    if (part.table !== current) {
      current = part.table;
      rows = 0;
      if (!missing.delete(current))
        throw damaged(`line ${part.line} has a table that its version does not have: ${shortened(current)}`);
      types = new Map(
        stored.find(({ table }) => table === current)?.columns.map(({ name, type }) => [name, type]),
      );
      const difference = compareColumns(part.columns, [...types.keys()]);
      if (difference) throw damaged(`line ${part.line} (${current}) ${difference}`);
      validate = rowValidator(current as keyof Tables, part.columns);
    }
    for (const [i, values] of part.values.entries()) {
      const wrong = validate(values);
      if (wrong !== undefined) throw damaged(`line ${part.line + i} (${current}): ${wrong}`);
    }
    if (part.values.length > 0) await (runsBatches(db) ? insertBatch(db, part) : insertJson(db, types, part));
    rows += part.values.length;
    onProgress(current, rows);
  }
  const [first] = missing;
  if (first !== undefined) throw damaged(`it does not have the table ${first}`);
}

function compareColumns(columns: readonly string[], expected: readonly string[]): string | undefined {
  const unknown = columns.find((name) => !expected.includes(name));
  if (unknown !== undefined) return `has a column that its version does not have: ${shortened(unknown)}`;
  const missing = expected.find((name) => !columns.includes(name));
  if (missing !== undefined) return `does not have the column ${missing}`;
  return columns.length === expected.length ? undefined : 'has a column twice';
}

/** Returns the last migration of the backup, if this version has all of them. */
function lastMigration({ manifest: { migrations, version }, damaged }: Backup): string {
  if (migrations.some(isUnreleased))
    throw new UsageError(
      'The backup was written by an unreleased version of Muster before 0.2.0, which cannot be restored: ' +
        'start with a new database, and to keep the data, restore and export it with that version and import it.',
    );
  const unknown = migrations.find((name) => !migrationNames.includes(name));
  if (unknown)
    throw new UsageError(
      `The backup was written by a newer version of Muster (${shortened(version)}, migration ${shortened(unknown)}). ` +
        'Install that version to restore it.',
    );
  const last = migrations.at(-1);
  if (last === undefined || migrations.some((name, i) => name !== migrationNames[i]))
    throw damaged('its migrations are not those of any version');
  return last;
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

async function insertBatch(db: Transaction<Tables>, { table, columns, values }: Rows): Promise<void> {
  const insert = namedStatement(`restore batch ${table} ${columns}`, (db) =>
    db
      .insertInto(table as 'people')
      .values(Object.fromEntries(columns.map((name, i) => [name, param(i)])) as never),
  );
  // Batches are not awaited: another statement waits for the previous one, so that there is never more than one.
  await sql`select 1`.execute(db);
  await insert(db, values as never);
}

/** The server parses the rows, which is faster than one parameter for each value. */
async function insertJson(
  db: Transaction<Tables>,
  types: Map<string, string>,
  { table, columns, rows }: Rows,
): Promise<void> {
  const insert = namedStatement(`restore JSON ${table} ${columns}`, (db) =>
    db
      .insertInto(table as 'people')
      .columns(columns as never[])
      .expression(
        (eb) =>
          eb
            .selectFrom(jsonItems(param('rows')).as('items'))
            .select(
              columns.map((name, i) => castTo(types.get(name), sql`items.value ->> ${sql.lit(i)}`).as(name)),
            ) as never,
      ),
  );
  await insert(db, { rows: `[${rows}]` });
}

/** An integer such as 1.0 or 1e2 is valid JSON, but an integer of PostgreSQL only by way of a number. */
const castTo = (type = 'text', value: RawBuilder<unknown>) =>
  type === 'text' ? value : sql`cast(cast(${value} as numeric) as ${sql.raw(type)})`;
