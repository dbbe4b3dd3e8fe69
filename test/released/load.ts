import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { type Engine, freshDatabase, type TestDatabase } from '../databases.ts';
import { releasedFile } from './versions.ts';

/** A database as a released version has written it. */
export async function loadReleased(engine: Engine, version: string): Promise<TestDatabase> {
  const database = await freshDatabase(engine);
  const text = readFileSync(releasedFile(version, `${engine}.sql`), 'utf8');
  if (engine === 'sqlite') {
    const file = new Sqlite(database.url.slice('sqlite:'.length));
    try {
      file.exec(`begin; ${text} commit`);
    } finally {
      file.close();
    }
  } else {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query(text).finally(() => client.end());
  }
  return database;
}
