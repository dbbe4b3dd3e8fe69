import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { restoreCommand } from '../src/commands/backup.ts';
import { checkCommand } from '../src/commands/check.ts';
import { version } from '../src/core/version.ts';
import type { Database } from '../src/database/open.ts';
import { migrationNames } from '../src/store/migrate.ts';
import { openDatabase } from '../src/store/open.ts';
import { type Engine, migratedDatabase } from './databases.ts';
import { loadReleased } from './released/load.ts';
import { hashMigrations, releasedFile, releasedVersions } from './released/versions.ts';
import { freshDatabase, onBothEngines, startTestService } from './service.ts';

test('the migrations of released versions have not changed', () => {
  for (const released of releasedVersions) {
    const frozen = JSON.parse(readFileSync(releasedFile(released, 'json'), 'utf8'));
    assert.deepEqual(hashMigrations(released), frozen, `a migration of ${released} has changed`);
  }
});

test('the name of each migration contains its number and the version that adds it', () => {
  for (const [i, name] of migrationNames.entries()) {
    const [, number, added = ''] = /^(\d{4})_(\d+\.\d+\.\d+)_[a-z_]+$/.exec(name) ?? [];
    assert.equal(Number(number), i + 1, name);
    assert.ok(releasedVersions.includes(added) || added === version, `${name} is of no known version`);
  }
});

onBothEngines('a released version', (_start, engine) => {
  for (const released of releasedVersions) {
    test(`${released}: a database is upgraded, and then served`, async (t) => {
      const target = await loadReleased(engine, released);
      await withDatabase(target.url, async (database) => {
        await database.migrate();
        assert.deepEqual((await checkCommand(database, () => {})).violations, []);
        const fresh = await migratedDatabase(engine);
        t.after(fresh.drop);
        const expected = await withDatabase(fresh.url, (empty) => describe(empty, engine));
        assert.deepEqual(await describe(database, engine), expected, 'it has the tables of a new database');
      });

      const service = await startTestService(t, engine, { target });
      const key = await service.key();
      const { data } = (await service.get('/v1/risks', key)).body;
      assert.deepEqual(
        data.map(({ title, score }: Record<string, unknown>) => [title, score]),
        [
          ['Rated 5 and 5', 25],
          ['Rated 3 and 4', 12],
          ['Rated 1 and 2', 2],
          ['Rated null and 3', null],
        ],
      );
      const [{ id }] = data;
      const path = `/v1/projects/APOLLO/risks/${id}`;
      assert.equal((await service.call('PATCH', path, key, { impact: 1 })).body.score, 5);
      assert.equal((await service.get(`${path}/history`, key)).body.data.length, 4);
      assert.deepEqual((await checkCommand(service.database, () => {})).violations, []);
    });

    test(`${released}: a backup is restored, and then upgraded`, async (t) => {
      const target = await freshDatabase(engine);
      t.after(target.drop);
      const database = openDatabase(target.url);
      t.after(() => database.close());
      const { rows } = await restoreCommand(database, releasedFile(released, 'backup'), { onProgress() {} });
      assert.deepEqual([rows.risks, rows.past_risks], [4, 5]);
      assert.deepEqual((await database.migrations()).pending, []);
      assert.deepEqual((await checkCommand(database, () => {})).violations, []);
    });
  }
});

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** The columns and indexes of all tables, in an order that does not depend on when they were added. */
async function describe(database: Database, engine: Engine) {
  const tables = await database.describeTables(database.db);
  const indexes = await sql<{ text: string }>`${
    engine === 'sqlite'
      ? sql`select sql as text from sqlite_schema where type = 'index' and sql is not null order by name`
      : sql`select indexdef as text from pg_indexes where schemaname = current_schema() order by indexname`
  }`.execute(database.db);
  return {
    tables: tables.map(({ columns, ...table }) => ({
      ...table,
      columns: columns.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    })),
    indexes: indexes.rows.map(({ text }) => text.toLowerCase()),
  };
}
