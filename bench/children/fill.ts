import Sqlite from 'better-sqlite3';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { systemClock } from '../../src/core/clock.ts';
import { createKey } from '../../src/resources/keys/queries.ts';
import { openDatabase } from '../../src/store/open.ts';
import type { Tables } from '../../src/store/tables.ts';
import { fillDataset, type Sizes, updateProjectCounts } from '../dataset.ts';

/** Migrates a database, creates a key, fills the tables and prints the key. Creating the indexes last is faster. */
const { url, sizes }: { url: string; sizes: Sizes } = JSON.parse(process.argv[2] ?? '');

const database = openDatabase(url);
await database.migrate();
const key = await database.write((db) =>
  createKey(db, { name: 'bench', scopes: ['personnel.manage', 'projects.manage'] }, systemClock()),
);
await database.close();

const { db, indexes, finish } = url.startsWith('sqlite:')
  ? openSqlite(url.slice('sqlite:'.length))
  : openPostgres(url);
const { rows } = await indexes.execute(db);
for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(db);
await fillDataset(db, sizes);
for (const { definition } of rows) await sql.raw(definition).execute(db);
await updateProjectCounts(db);
await finish();
await db.destroy();
console.log(key.secret);

type Index = { name: string; definition: string };

/** Opens the file without durability: a failed run starts over with an empty file. */
function openSqlite(file: string) {
  const raw = new Sqlite(file);
  for (const pragma of [
    'journal_mode = memory',
    'synchronous = off',
    'foreign_keys = off',
    'cache_size = -500000',
  ]) {
    raw.pragma(pragma);
  }
  // A second thread speeds up sorting ten million keys.
  raw.pragma('threads = 1');
  return {
    db: new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) }),
    indexes: sql<Index>`
      select name, sql as definition from sqlite_master where type = 'index' and sql is not null`,
    // No `analyze`, because the service does not run it either.
    finish: async () => void raw.pragma('journal_mode = wal'),
  };
}

function openPostgres(connectionString: string) {
  // Skip foreign key checks: the generated rows are consistent.
  const options = '-c session_replication_role=replica';
  const pool = new pg.Pool({ connectionString, max: 1, options });
  return {
    db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
    indexes: sql<Index>`
      select indexname as name, indexdef as definition from pg_indexes
      where schemaname = 'public' and indexname not in (
        select conname from pg_constraint where contype in ('p', 'u'))`,
    finish: async () => void (await pool.query('vacuum analyze')),
  };
}
