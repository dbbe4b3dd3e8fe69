import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { migratedDatabase } from '../../../test/databases.ts';
import { pluck, startTestService, withKey } from '../../../test/service.ts';
import { momentOf, systemClock } from '../../core/clock.ts';
import { advanceSequence } from '../../jobs/retention.ts';
import { createPerson } from '../../resources/personnel/queries.ts';
import { bySystem } from '../../store/writes/change.ts';
import type { Database } from '../open.ts';

const inAnHour = () => momentOf(new Date(Date.now() + 3_600_000), 'UTC');

const writes: Record<string, (database: Database) => Promise<unknown>> = {
  'a write with an event': ({ write }) =>
    write((db) => createPerson(db, { name: 'New' }, bySystem(systemClock(), 'a test'))),
  'a write with many events': ({ write }) =>
    write(async (db) => {
      for (const name of ['New', 'Newer'])
        await createPerson(db, { name }, bySystem(systemClock(), 'a test'));
    }),
  'a new hour': (database) => advanceSequence(database, inAnHour()),
};

/** Leaves what a standby has that lacked the last commit, and was promoted. */
async function lose(url: string, kept: number, user_id: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`begin;
    delete from events where sequence > ${kept}; delete from people where user_id = '${user_id}';
    update data_versions set version = ${kept} where table_name = 'events';
    update data_versions set version = version + 1 where table_name = 'timeline';
    commit`);
  await client.end();
}

for (const [name, write] of Object.entries(writes)) {
  test(`followers learn of lost events if ${name} comes before the first request after a promotion`, async (t) => {
    const { service, key } = await withKey(startTestService(t, 'postgres'));
    const next = async () => (await service.get('/v1/events', key)).body.meta.next_after;
    await service.make('/v1/personnel', key, { name: 'Kept' });
    const kept = await next();
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Lost' });
    const lost = await next();
    await lose(service.url, kept, user_id);

    await write(service.database);
    const gone = await service.get(`/v1/events?after=${lost}`, key);
    assert.deepEqual([gone.status, gone.body.code], [410, 'events_expired']);
    const people = pluck(await service.list('/v1/personnel', key), 'name').sort();
    const events = await service.list(`/v1/events?after=${kept}`, key);
    assert.deepEqual(['Kept', ...pluck(events, 'data.name')].sort(), people);
    assert.equal(await next(), (await service.database.versions()).events);
  });
}

test('followers learn of events that were lost before others were', async (t) => {
  const { service, key } = await withKey(startTestService(t, 'postgres'));
  const project = await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
  const limited = await service.limitedKey([project.id], 'events.read', 'personnel.read');
  const next = async () => (await service.get('/v1/events', key)).body.meta.next_after;
  const losses = [];
  for (const name of ['first', 'second']) {
    await service.make('/v1/personnel', key, { name: 'Kept' });
    const kept = await next();
    const { user_id } = await service.make('/v1/personnel', key, { name });
    losses.push(await next());
    await lose(service.url, kept, user_id);
    await service.make('/v1/personnel', key, { name: 'Later' });
  }
  for (const lost of losses)
    for (const reader of [key, limited])
      assert.equal((await service.get(`/v1/events?after=${lost}`, reader)).status, 410);
  assert.equal((await service.get(`/v1/events?after=${await next()}`, key)).status, 200);
});

test('an event that is lost may be of an instance whose clock is ahead of the one that notices it', async (t) => {
  const { url, drop } = await migratedDatabase('postgres');
  t.after(drop);
  const start = (ms: number) =>
    startTestService(t, 'postgres', {
      clock: () => momentOf(new Date(Date.now() + ms)),
      target: { url, drop: async () => {} },
    });
  const ahead = await start(20_000);
  const key = await ahead.key();
  const kept = (await ahead.get('/v1/events', key)).body.meta.next_after;
  const { user_id } = await ahead.make('/v1/personnel', key, { name: 'Lost' });
  const lost = (await ahead.get('/v1/events', key)).body.meta.next_after;
  await lose(url, kept, user_id);
  const other = await start(0);
  const { status, body } = await other.get(`/v1/events?after=${lost}`, key);
  assert.deepEqual([status, body.code], [410, 'events_expired']);
});
