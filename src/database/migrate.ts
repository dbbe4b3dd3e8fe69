import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration';
import { UsageError } from '../core/errors.ts';
import type { Engine } from './engine.ts';
import { up as foundation } from './migrations/0001_foundation.ts';
import { up as search } from './migrations/0002_search.ts';
import { up as links } from './migrations/0003_links.ts';
import { up as narrow } from './migrations/0004_narrow.ts';
import type { Tables } from './tables.ts';

/** Forward only; a name that has run is never changed or taken away. */
const migrations = ({ kind }: Engine) => ({
  '0001_foundation': { up: foundation },
  '0002_search': { up: search[kind] },
  '0003_links': { up: links },
  '0004_narrow': { up: narrow[kind] },
});

/** Brings the tables up to date and says which migrations ran. The engine's lock lets one process do it at a time. */
export async function migrate(db: Kysely<Tables>, engine: Engine): Promise<string[]> {
  const known = migrations(engine);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw (await newerDatabase(db, engine, Object.keys(known))) ?? error;
  return (results ?? []).map((result) => result.migrationName);
}

/** The error to report when migrations have run that this version does not have. */
async function newerDatabase(
  db: Kysely<Tables>,
  { name }: Engine,
  known: readonly string[],
): Promise<UsageError | undefined> {
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`
    .execute(db)
    .catch(() => ({ rows: [] }));
  const unknown = rows.find((row) => !known.includes(row.name));
  return (
    unknown &&
    new UsageError(
      `The database ${name} was written by a newer version of Muster (migration ${unknown.name}). ` +
        'Install that version or restore a backup.',
    )
  );
}
