import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { UsageError } from '../core/errors.ts';
import type { Engine } from './engine.ts';
import { up as foundation } from './migrations/0001_foundation.ts';
import { up as search } from './migrations/0002_search.ts';
import { up as links } from './migrations/0003_links.ts';
import { up as narrow } from './migrations/0004_narrow.ts';
import { up as events } from './migrations/0005_events.ts';
import { up as webhooks } from './migrations/0006_webhooks.ts';
import { up as comments } from './migrations/0007_comments.ts';
import { up as views } from './migrations/0008_views.ts';
import { up as created } from './migrations/0009_created.ts';
import { up as indexes } from './migrations/0010_indexes.ts';
import { up as settings } from './migrations/0011_settings.ts';
import { up as also } from './migrations/0012_also.ts';
import type { Tables } from './tables.ts';

/**
 * Migrations run forward only. Never rename or remove one that was released. After the first release, the name of a
 * migration contains the version that adds it, as in `0009_0.2.0_sessions`, so that an older version can report it.
 */
const migrations = ({ kind }: Engine) => ({
  '0001_foundation': { up: foundation },
  '0002_search': { up: search[kind] },
  '0003_links': { up: links },
  '0004_narrow': { up: narrow[kind] },
  '0005_events': { up: events[kind] },
  '0006_webhooks': { up: webhooks },
  '0007_comments': { up: comments },
  '0008_views': { up: views },
  '0009_created': { up: created },
  '0010_indexes': { up: indexes },
  '0011_settings': { up: settings },
  '0012_also': { up: also },
});

export const migrationNames = (engine: Engine): string[] => Object.keys(migrations(engine));

/**
 * Runs pending migrations, all of them or up to `last`, and returns their names. Kysely's migration lock allows one process
 * at a time.
 */
export async function migrate(db: Kysely<Tables>, engine: Engine, last?: string): Promise<string[]> {
  const available = migrations(engine);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => available } });
  const { error, results } = await (last === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(last));
  if (error) throw (await findNewerMigration(db, engine, Object.keys(available))) ?? error;
  return (results ?? []).map((result) => result.migrationName);
}

/** Returns the names of the migrations that ran and of those that did not, without running any. */
export async function migrationState(
  db: Kysely<Tables>,
  engine: Engine,
): Promise<{ applied: string[]; pending: string[] }> {
  const available = migrationNames(engine);
  const tables = await engine.describeTables(db);
  if (!tables.some(({ table }) => table === DEFAULT_MIGRATION_TABLE))
    return { applied: [], pending: available };
  const newer = await findNewerMigration(db, engine, available);
  if (newer) throw newer;
  const { rows } = await executedMigrations(db);
  const applied = rows.map(({ name }) => name);
  return { applied, pending: available.filter((name) => !applied.includes(name)) };
}

const executedMigrations = (db: Kysely<Tables>) =>
  sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db);

/** Returns an error if the database contains a migration that this version does not have. */
async function findNewerMigration(
  db: Kysely<Tables>,
  { name }: Engine,
  available: readonly string[],
): Promise<UsageError | undefined> {
  const { rows } = await executedMigrations(db).catch(() => ({ rows: [] }));
  const unknown = rows.findLast((row) => !available.includes(row.name));
  if (!unknown) return undefined;
  const [, version] = /^\d+_(\d+\.\d+\.\d+)_/.exec(unknown.name) ?? [];
  const install = version === undefined ? 'that version' : `version ${version} or newer`;
  return new UsageError(
    `The database ${name} was written by a newer version of Muster (migration ${unknown.name}). ` +
      `Install ${install}, or restore a backup.`,
  );
}
