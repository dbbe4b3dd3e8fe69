import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
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

for (const [name, write] of Object.entries(writes)) {
  test(`followers learn of lost events if ${name} comes before the first request after a promotion`, async (t) => {
    const { service, key } = await withKey(startTestService(t, 'postgres'));
    const next = async () => (await service.get('/v1/events', key)).body.meta.next_after;
    await service.make('/v1/personnel', key, { name: 'Kept' });
    const kept = await next();
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Lost' });
    const lost = await next();
    // What a standby has that lacked the last commit.
    const client = new pg.Client(service.url);
    await client.connect();
    await client.query(`begin;
      delete from events where sequence > ${kept}; delete from people where user_id = '${user_id}';
      update data_versions set version = ${kept} where table_name = 'events';
      update data_versions set version = version + 1 where table_name = 'timeline';
      commit`);
    await client.end();

    await write(service.database);
    const gone = await service.get(`/v1/events?after=${lost}`, key);
    assert.deepEqual([gone.status, gone.body.code], [410, 'events_expired']);
    const people = pluck(await service.list('/v1/personnel', key), 'name').sort();
    const events = await service.list(`/v1/events?after=${kept}`, key);
    assert.deepEqual(['Kept', ...pluck(events, 'data.name')].sort(), people);
    assert.equal(await next(), (await service.database.versions()).events);
  });
}
