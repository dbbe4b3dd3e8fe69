import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
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
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(engine) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}
