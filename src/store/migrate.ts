import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { UsageError } from '../core/errors.ts';
import { version } from '../core/version.ts';
import type { Engine } from '../database/engine.ts';
import { foldAgain } from './folds.ts';
import { up as first } from './migrations/0001_first.ts';
import { up as identity } from './migrations/0002_identity.ts';
import { up as lists } from './migrations/0003_lists.ts';
import { up as riskModel } from './migrations/0004_risk_model.ts';
import { up as organization } from './migrations/0005_organization.ts';
import { up as imports } from './migrations/0006_imports.ts';
import { up as handovers } from './migrations/0007_handovers.ts';
import { up as reports } from './migrations/0008_reports.ts';
import { up as historyOrder } from './migrations/0009_history_order.ts';
import { up as knownClients } from './migrations/0011_known_clients.ts';
import { up as timelines } from './migrations/0012_timelines.ts';
import { up as accountEvents } from './migrations/0013_account_events.ts';
import type { Tables } from './tables.ts';

/**
 * Migrations run forward only, and a released one never changes: `test/released.test.ts` fails if it does. The name contains
 * the version that adds the migration, which an older version reports.
 */
const migrations: Record<string, (db: Kysely<unknown>, kind: Engine['kind']) => Promise<void>> = {
  '0001_0.2.0_first': first,
  '0002_0.3.0_identity': identity,
  '0003_0.3.0_lists': lists,
  '0004_0.4.0_risk_model': riskModel,
  '0005_0.4.0_organization': organization,
  '0006_0.4.0_imports': imports,
  '0007_0.4.0_handovers': handovers,
  '0008_0.4.0_reports': reports,
  '0009_0.5.0_history_order': historyOrder,
  '0010_0.5.0_folds': (db) => foldAgain(db),
  '0011_0.5.0_known_clients': knownClients,
  '0012_0.5.0_timelines': timelines,
  '0013_0.5.0_account_events': accountEvents,
};

export const migrationNames = Object.keys(migrations);

/**
 * Runs pending migrations, all of them or up to `last`, and returns their names. Kysely's migration lock allows one process
 * at a time.
 */
export async function migrate(db: Kysely<Tables>, engine: Engine, last?: string): Promise<string[]> {
  const available = Object.entries(migrations).map(([name, up]) => [
    name,
    { up: (db: Kysely<unknown>) => up(db, engine.kind) },
  ]);
  const provider = { getMigrations: async () => Object.fromEntries(available) };
  const migrator = new Migrator({ db, provider });
  const { error, results } = await (last === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(last));
  if (error) throw (await findUnknownMigration(db, engine)) ?? error;
  return (results ?? []).map((result) => result.migrationName);
}

/** Runs all migrations without recording them. */
export async function createTables(db: Kysely<Tables>, kind: Engine['kind']): Promise<void> {
  for (const up of Object.values(migrations)) await up(db as never, kind);
}

/** Returns the names of the migrations that ran and of those that did not, without running any. */
export async function migrationState(
  db: Kysely<Tables>,
  engine: Engine,
): Promise<{ applied: string[]; pending: string[] }> {
  const tables = engine.exists?.() === false ? [] : await engine.describeTables(db);
  if (!tables.some(({ table }) => table === DEFAULT_MIGRATION_TABLE))
    return { applied: [], pending: migrationNames };
  const unknown = await findUnknownMigration(db, engine);
  if (unknown) throw unknown;
  const { rows } = await executedMigrations(db);
  const applied = rows.map(({ name }) => name);
  return { applied, pending: migrationNames.filter((name) => !applied.includes(name)) };
}

const executedMigrations = (db: Kysely<Tables>) =>
  sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db);

/** Returns an error if the database contains a migration that this version does not have. */
async function findUnknownMigration(db: Kysely<Tables>, { name }: Engine): Promise<UsageError | undefined> {
  const { rows } = await executedMigrations(db).catch(() => ({ rows: [] }));
  if (rows.some((row) => isUnreleased(row.name)))
    return new UsageError(
      `The database ${name} was written by an unreleased version of Muster before 0.2.0, which cannot be upgraded: ` +
        'start with a new database, and to keep the data, export it with that version and import it.',
    );
  const unknown = rows.findLast((row) => !migrationNames.includes(row.name));
  if (!unknown) return undefined;
  const newer = versionIn(unknown.name);
  return new UsageError(
    `The database ${name} was written by version ${newer} of Muster, which is newer than this one (${version}). ` +
      `Install version ${newer} or newer, or restore a backup.`,
  );
}

/** The names of released migrations contain a version. */
export const isUnreleased = (migration: string): boolean => versionIn(migration) === undefined;

const versionIn = (migration: string) => /^\d+_(\d+\.\d+\.\d+)_/.exec(migration)?.[1];
