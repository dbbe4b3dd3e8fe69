import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migratedDatabase } from '../../test/databases.ts';
import { muster, temporaryFolder } from '../../test/process.ts';
import { freshDatabase, onBothEngines, pluck, withKey } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { createFirstKey } from '../resources/keys/queries.ts';
import { createPerson } from '../resources/personnel/queries.ts';
import { migrationNames } from '../store/migrate.ts';
import { openDatabase } from '../store/open.ts';
import { bySystem } from '../store/writes/change.ts';
import { dataVersion } from '../store/writes/table-versions.ts';
import { WriteConflict } from './application.ts';

test('a write that waits alone has no savepoint on SQLite, those of a group have one each', async (t) => {
  const { url, drop } = await migratedDatabase('sqlite');
  const statements: string[] = [];
  const database = openDatabase(url, undefined, {}, ({ query }) => statements.push(query.sql));
  t.after(async () => {
    await database.close();
    await drop();
  });
  const write = (value: string) =>
    database.write((db) => db.insertInto('settings').values({ name: value, value }).execute());
  const savepoints = () => statements.splice(0).filter((text) => text.startsWith('savepoint')).length;
  await write('a');
  assert.equal(savepoints(), 0);
  await assert.rejects(write('a'), /UNIQUE/);
  const outcomes = await Promise.allSettled([write('b'), write('b'), write('c')]);
  assert.equal(savepoints(), 3);
  assert.deepEqual(pluck(outcomes, 'status'), ['fulfilled', 'rejected', 'fulfilled']);
  const rows = await database.db
    .selectFrom('settings')
    .select('name')
    .where('name', 'in', ['a', 'b', 'c'])
    .orderBy('name')
    .execute();
  assert.deepEqual(pluck(rows, 'name'), ['a', 'b', 'c']);
});

onBothEngines('database', (start, engine) => {
  test('two instances that start at the same time migrate once and create one first key', async (t) => {
    const { url, drop } = await freshDatabase(engine);
    const instances = [openDatabase(url), openDatabase(url)];
    t.after(async () => {
      await Promise.all(instances.map((instance) => instance.close()));
      await drop();
    });
    const ran = await Promise.all(instances.map((instance) => instance.migrate()));
    assert.deepEqual(ran.flat(), migrationNames);
    const keys = await Promise.all(
      instances.map(({ write }) => write((db) => createFirstKey(db, systemClock()))),
    );
    assert.equal(keys.filter(Boolean).length, 1);
    assert.deepEqual(await migrateAgain(url), []);
  });

  test('names the newer version that has written a database', async (t) => {
    const service = await start(t);
    await service.database.write((db) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999_2.5.0_latest', '2030-01-01')`.execute(
        db,
      ),
    );
    await assert.rejects(migrateAgain(service.url), ({ name, message }: Error) => {
      assert.equal(name, 'UsageError');
      assert.match(
        message,
        /written by version 2\.5\.0 of Muster, which is newer than this one \(\d+\.\d+\.\d+\)\./,
      );
      assert.match(message, / Install version 2\.5\.0 or newer, or restore a backup\.$/);
      return true;
    });
  });

  test('refuses a database of an unreleased version in one sentence', async (t) => {
    const service = await start(t);
    await service.database.write((db) =>
      sql`update kysely_migration set name = '0001_foundation' where name like '0001%'`.execute(db),
    );
    const environment = { MUSTER_DATABASE_URL: service.url, MUSTER_PORT: '0' };
    for (const command of ['serve', 'migrate', 'check', 'backup']) {
      const { code, stdout, stderr } = await muster(temporaryFolder(t), [command], environment);
      assert.deepEqual([code, stdout], [1, ''], command);
      assert.match(
        stderr,
        /^muster: The database \S+ was written by an unreleased version of Muster before 0\.2\.0, [^.\n]+\.\n$/,
      );
    }
  });

  test('does not prepare lookups of many values, because their plan must follow the size of the table', async (t) => {
    const { database } = await start(t);
    if (engine === 'sqlite') return;
    const statements = await database.write(async (db) => {
      for (let i = 0; i < 4; i++) {
        const input = { name: 'Ada', email: `ada${i}@example.com` };
        await createPerson(db, input, bySystem(systemClock(), 'a test'));
      }
      return sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db);
    });
    const prepared = statements.rows.map(({ statement }) => statement);
    assert.ok(prepared.some((statement) => statement.startsWith('insert into "people"')));
    assert.deepEqual(
      prepared.filter((statement) => statement.includes('any(')),
      [],
    );
  });

  test('transactions are atomic', async (t) => {
    const { database } = await start(t);
    const failing = database.write(async (db) => {
      await createPerson(db, { name: 'Ada' }, bySystem(systemClock(), 'a test'));
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.equal((await database.db.selectFrom('people').selectAll().execute()).length, 0);
    await database.write((db) => createPerson(db, { name: 'Bob' }, bySystem(systemClock(), 'a test')));
    assert.equal((await database.db.selectFrom('people').selectAll().execute()).length, 1);
  });

  test('a transaction increments the version of each table it changes once', async (t) => {
    const { database } = await start(t);
    const versions = () =>
      Promise.all([dataVersion(database.db, ['people']), dataVersion(database.db, ['groups', 'risks'])]);
    const [people = 0, unchanged] = await versions();
    await database.write(async (db) => {
      await createPerson(db, { name: 'Ada' }, bySystem(systemClock(), 'a test'));
      await createPerson(db, { name: 'Bob' }, bySystem(systemClock(), 'a test'));
    });
    assert.deepEqual(await versions(), [people + 1, unchanged]);
    await database.write((db) => db.selectFrom('people').selectAll().execute());
    assert.deepEqual(await versions(), [people + 1, unchanged]);
  });

  test('retries a transaction after a write conflict', async (t) => {
    const { database } = await start(t);
    let attempts = 0;
    await database.write(async (db) => {
      attempts++;
      await createPerson(db, { name: 'Ada' }, bySystem(systemClock(), 'a test'));
      if (attempts === 1) throw new WriteConflict();
    });
    assert.equal(attempts, 2);
    assert.equal((await database.db.selectFrom('people').selectAll().execute()).length, 1);
  });

  test('watchers of events share one connection, and each is woken until it ends', {
    timeout: 30_000,
  }, async (t) => {
    const { database } = await start(t);
    const watch = () => {
      let woken = Promise.withResolvers<void>();
      const end = database.watchEvents(() => woken.resolve());
      t.after(end);
      const next = () => {
        woken = Promise.withResolvers();
        return woken.promise;
      };
      return { end, woken: woken.promise, next };
    };
    const append = () => database.write((db) => createPerson(db, { name: 'Ada' }, bySystem(systemClock())));
    const [first, second] = [watch(), watch()];
    await append();
    await Promise.all([first.woken, second.woken]);
    if (engine === 'postgres') {
      const connections = await sql`select pid from pg_stat_activity
        where datname = current_database() and application_name = 'muster events'`.execute(database.db);
      assert.ok(connections.rows.length <= 1);
    }
    first.end();
    first.end();
    const next = second.next();
    await append();
    await next;
  });

  test('responds with 503 while the database is unavailable', async (t) => {
    const { service, key } = await withKey(start(t));
    assert.equal((await service.get('/readyz')).status, 200);
    if (engine === 'sqlite') return;
    const name = new URL(service.url).pathname.slice(1);
    const admin = openDatabase(service.url.replace(name, 'postgres'));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(
      admin.db,
    );
    await sql`alter database ${sql.ref(name)} rename to ${sql.ref(`${name}_away`)}`.execute(admin.db);
    await admin.close();
    for (const path of ['/readyz', '/v1/personnel']) {
      const away = await service.get(path, key);
      assert.equal(away.status, 503, path);
      assert.equal(away.body.code, 'unavailable');
      assert.ok(away.headers.get('retry-after'));
      assert.doesNotMatch(away.text, /terminat|pg_|connection/i);
    }
    assert.equal((await service.get('/livez')).status, 200);
  });
});

async function migrateAgain(url: string): Promise<string[]> {
  const database = openDatabase(url);
  try {
    return await database.migrate();
  } finally {
    await database.close();
  }
}
