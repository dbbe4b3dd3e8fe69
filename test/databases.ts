import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { fillDemo } from '../demo/fill.ts';
import { systemClock } from '../src/core/clock.ts';
import { openDatabase } from '../src/store/open.ts';
import { makeFolder } from './folders.ts';

export type Engine = 'sqlite' | 'postgres';

export type TestDatabase = { url: string; drop(): Promise<void> };

const postgresTemplate = 'muster_template';

/** Migrates one template database per engine for tests to copy. Returns the environment variables of the tests. */
export async function createTemplates(postgresUrl: string, folder: string): Promise<Record<string, string>> {
  const file = join(folder, 'template.db');
  await administer(postgresUrl, `create database ${postgresTemplate}`);
  for (const url of [`sqlite:${file}`, `${postgresUrl}/${postgresTemplate}`]) {
    const database = openDatabase(url);
    await database.migrate();
    await database.close();
  }
  return { TEST_POSTGRES_URL: postgresUrl, TEST_SQLITE_TEMPLATE: file, TEST_FOLDER: folder };
}

/** A database with all tables and no rows. */
export async function migratedDatabase(engine: Engine): Promise<TestDatabase> {
  if (engine === 'postgres') {
    // Copying files is faster than writing every page to the WAL, because fsync is off.
    return createPostgres(`template ${postgresTemplate} strategy file_copy`);
  }
  const { file, database } = temporaryFile();
  copyFileSync(readEnvironment('TEST_SQLITE_TEMPLATE'), file);
  return database;
}

/** A SQLite database with the demo organization of this run. The first test that needs it fills the template. */
export async function demoDatabase(): Promise<TestDatabase> {
  const template = join(readEnvironment('TEST_FOLDER'), 'demo.db');
  if (!existsSync(template)) {
    const { url } = await migratedDatabase('sqlite');
    const database = openDatabase(url);
    await fillDemo(database, systemClock());
    await database.close();
    // Two files may fill one at the same time, so it appears at once.
    renameSync(url.slice('sqlite:'.length), template);
  }
  const { file, database } = temporaryFile();
  copyFileSync(template, file);
  return database;
}

/** A copy of a database that nobody uses. */
export async function copyOf({ url }: TestDatabase): Promise<TestDatabase> {
  if (!url.startsWith('sqlite:'))
    return createPostgres(`template ${new URL(url).pathname.slice(1)} strategy file_copy`);
  const { file, database } = temporaryFile();
  copyFileSync(url.slice('sqlite:'.length), file);
  return database;
}

/** A database without tables. */
export async function freshDatabase(engine: Engine): Promise<TestDatabase> {
  return engine === 'postgres' ? createPostgres() : temporaryFile().database;
}

/** Whether a transaction or a snapshot is open in a database. */
export async function hasTransaction(url: string): Promise<boolean> {
  if (!url.startsWith('sqlite:')) {
    const name = new URL(url).pathname.slice(1);
    const { rows } = await administer(
      readEnvironment('TEST_POSTGRES_URL'),
      // A test may have a transaction of its own, on another connection.
      `select from pg_stat_activity where datname = '${name}' and state like 'idle in transaction%'
        and application_name = 'muster'`,
    );
    return rows.length > 0;
  }
  const file = url.slice('sqlite:'.length);
  if (!existsSync(file)) return false;
  const database = new Sqlite(file, { timeout: 0 });
  try {
    // All of the log can be moved into the file only if nothing reads or writes.
    return database.pragma('wal_checkpoint(truncate)', { simple: true }) === 1;
  } finally {
    database.close();
  }
}

function temporaryFile(): { file: string; database: TestDatabase } {
  const folder = makeFolder();
  const file = join(folder, 'muster.db');
  return { file, database: { url: `sqlite:${file}`, drop: async () => rmSync(folder, { recursive: true }) } };
}

async function createPostgres(options = ''): Promise<TestDatabase> {
  const server = readEnvironment('TEST_POSTGRES_URL');
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  await administer(server, `create database ${name} ${options}`);
  return {
    url: `${server}/${name}`,
    drop: async () => void (await administer(server, `drop database if exists ${name} with (force)`)),
  };
}

function readEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with npm test, which starts PostgreSQL.`);
  return value;
}

let pool: pg.Pool | undefined;

/** Runs a statement on one shared connection, which does not keep the process alive. */
async function administer(server: string, statement: string): Promise<pg.QueryResult> {
  pool ??= new pg.Pool({
    connectionString: `${server}/postgres`,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  }).on('error', () => {});
  return pool.query(statement);
}
