import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import pg from 'pg';
import { migratedDatabase } from '../../../test/databases.ts';
import { startTestService, withKey } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { groupRow } from '../../resources/groups/queries.ts';
import { createPerson } from '../../resources/personnel/queries.ts';
import { openDatabase } from '../../store/open.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem } from '../../store/writes/change.ts';
import { insertRows } from '../../store/writes/rows.ts';
import { inSavepoint } from '../sql/savepoint.ts';

test('a change does not wait for statements without a result', async (t) => {
  const { url, roundTrips } = await startDistantServer(t, await createDatabase(t));
  const database = openDatabase(url, undefined, { maxConnections: 5 });
  t.after(() => database.close());
  const add = () =>
    database.write((db) => createPerson(db, { name: 'Ada' }, bySystem(systemClock(), 'a test')));
  await add();
  const before = roundTrips();
  await add();
  // The start of the transaction; the person, the history and the read of the person; the event, the versions and the
  // commit. Each statement on its own would take seven.
  assert.equal(roundTrips() - before, 3);
});

test('a change of an item does not wait for the lock on its project before it reads the item', async (t) => {
  const { url, roundTrips } = await startDistantServer(t, await createDatabase(t));
  const { service, key } = await withKey(
    startTestService(t, 'postgres', { target: { url, drop: async () => {} } }),
  );
  await service.make('/v1/projects', key, { name: 'APOLLO' });
  await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
  const change = (title: string) => service.patch('/v1/projects/APOLLO/tasks/APOLLO-T1', key, { title });
  await change('first');
  const before = roundTrips();
  await change('second');
  // As many as without the lock.
  assert.equal(roundTrips() - before, 7);
});

test('a warning of a trigger during the commit does not make its outcome unknown', async (t) => {
  const url = await createDatabase(t);
  const owner = new pg.Client(url);
  await owner.connect();
  await owner.query(`create function warn() returns trigger language plpgsql as
    $$ begin raise warning 'Somebody has changed a group.'; return null; end $$`);
  await owner.query(`create constraint trigger warn after insert on groups deferrable initially deferred
    for each row execute function warn()`);
  await owner.query('create trigger warn_at_once after insert on groups execute function warn()');
  await owner.end();
  const database = openDatabase(url);
  t.after(() => database.close());
  await database.write((db) => insertGroups(db, 'A'));
  const groups = await database.db.selectFrom('groups').select('name').execute();
  assert.deepEqual(groups, [{ name: 'A' }]);
});

test('the error of a statement that nobody waited for fails the transaction', async (t) => {
  const database = openDatabase(await createDatabase(t));
  t.after(() => database.close());
  const names = async () =>
    (await database.db.selectFrom('groups').select('name').execute()).map(({ name }) => name);
  const isNotNull = { code: '23502' };

  await assert.rejects(
    database.write((db) => insertGroups(db, 'A', null)),
    isNotNull,
    'found by the commit',
  );
  const readAfter = database.write(async (db) => {
    await insertGroups(db, 'A', null, 'B');
    return db.selectFrom('groups').select('name').execute();
  });
  await assert.rejects(readAfter, isNotNull, 'found by the next statement, which fails for another reason');
  const manyInserts = database.write(async (db) => {
    for (let i = 0; i < 100; i++) await insertGroups(db, i === 3 ? null : `Group ${i}`);
    assert.fail('the failed insert should have been noticed before the end');
  });
  await assert.rejects(manyInserts, isNotNull);
  assert.deepEqual(await names(), []);

  const outcomes = await database.write(async (db) => [
    (await inSavepoint(db, () => insertGroups(db, 'C'))).status,
    (await inSavepoint(db, () => insertGroups(db, 'D', null))).status,
    (await inSavepoint(db, () => insertGroups(db, 'E'))).status,
  ]);
  assert.deepEqual(outcomes, ['fulfilled', 'rejected', 'fulfilled']);
  assert.deepEqual((await names()).sort(), ['C', 'E']);

  const failing = database.write(async (db) => {
    await insertGroups(db, 'F', null);
    throw new Error('something else');
  });
  await assert.rejects(failing, /something else/);
  await database.write((db) => insertGroups(db, 'G'));
  assert.deepEqual((await names()).sort(), ['C', 'E', 'G']);
});

/** Inserts groups one by one. The database rejects a group without a name. */
async function insertGroups(db: Transaction<Tables>, ...names: (string | null)[]): Promise<void> {
  for (const name of names) {
    const row = groupRow(newId('group'), { name: name ?? '' }, systemClock());
    await insertRows(db, 'groups', [{ ...row, name } as typeof row]);
  }
}

async function createDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await migratedDatabase('postgres');
  t.after(drop);
  return url;
}

/** Makes the server of this URL respond with a delay, and counts how often a client waited for it. */
async function startDistantServer(t: TestContext, url: string) {
  const target = new URL(url);
  const port = Number(target.port);
  let count = 0;
  const proxy = createServer((client) => {
    let isWaiting = false;
    const server = connect(port, target.hostname);
    client.on('data', (data) => {
      if (!isWaiting) count++;
      isWaiting = true;
      server.write(data);
    });
    server.on('data', async (data) => {
      await setTimeout(50);
      isWaiting = false;
      client.write(data);
    });
    for (const [socket, other] of [[client, server] as const, [server, client] as const])
      socket.on('error', () => {}).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  target.port = String((proxy.address() as AddressInfo).port);
  return { url: target.href, roundTrips: () => count };
}
