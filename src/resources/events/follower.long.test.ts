import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { onBothEngines } from '../../../test/service.ts';
import { bySystem } from '../../store/writes/change.ts';
import { addEvent } from '../../store/writes/events.ts';
import { createPeople, createPerson, personSubject } from '../personnel/queries.ts';
import type { Event } from './schema.ts';

const writers = 8;
const writesPerWriter = 120;

onBothEngines('followers of events', (start, engine) => {
  test('miss no event and get none twice, with concurrent writers on two instances', async (t) => {
    const service = await start(t);
    const { clock } = service.app;
    const instances = [service, await start(t, { target: { url: service.url, drop: async () => {} } })];
    const key = await service.key();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

    const acknowledged = new Set<string>();
    let isDone = false;
    /** Every other writer commits some time after its change, so that later changes overtake it. */
    const write = async (writer: number) => {
      const { origin, database } = instances[writer % 2] as (typeof instances)[number];
      for (let n = 0; n < writesPerWriter; n++) {
        const name = `${writer} ${n}`;
        if (writer < 4 || n % 10 > 0) {
          const body = JSON.stringify({ name });
          const response = await fetch(`${origin}/v1/personnel`, { method: 'POST', headers, body });
          assert.equal(response.status, 201);
        } else {
          await database.write(async (db) => {
            await createPerson(db, { name }, bySystem(clock()));
            await setTimeout(5);
          });
        }
        acknowledged.add(name);
      }
    };

    const follow = async (origin: string, limit: number) => {
      const events: Event[] = [];
      for (let after = 0; ; ) {
        // Read before the request, which must then return everything that was acknowledged.
        const isLast = isDone;
        const url = `${origin}/v1/events?after=${after}&limit=${limit}`;
        const { data, page, meta } = (await (await fetch(url, { headers })).json()) as {
          data: Event[];
          page: { has_more: boolean };
          meta: { next_after: number };
        };
        events.push(...data);
        after = meta.next_after;
        if (isLast && !page.has_more) return events;
      }
    };

    const following = [7, 100, 1000].map((limit, i) => follow(instances[i % 2]?.origin ?? '', limit));
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    isDone = true;
    for (const events of await Promise.all(following)) {
      const sequences = events.map(({ sequence }) => sequence);
      assert.deepEqual(
        sequences,
        [...new Set(sequences)].toSorted((a, b) => a - b),
      );
      const names = events.filter(({ type }) => type === 'person.created').map(({ data }) => data.name);
      assert.equal(names.length, writers * writesPerWriter);
      assert.deepEqual(new Set(names), acknowledged);
    }
  });

  test('get no event of a change that is rolled back, even if it shares a transaction with others', async (t) => {
    const { database, app, key, get } = await start(t);
    const secret = await key();
    const change = bySystem(app.clock());
    const broken = database.write(async (db) => {
      const { user_id: subject_id } = await createPerson(db, { name: 'Broken' }, change);
      // The event of the person is already prepared when this one fails.
      const subject = { ...personSubject, json: () => sql.ref<string>('missing') };
      const differences = { created: { from: null, to: null } };
      addEvent(db, { subject, subject_id: `${subject_id} 2`, at: change.now, change, differences });
    });
    const good = database.write((db) => createPerson(db, { name: 'Good' }, change));
    await assert.rejects(broken, /missing/);
    await good;
    const { data } = (await get('/v1/events?after=0&types=person.created', secret)).body;
    assert.deepEqual(
      data.map((event: Event) => event.data.name),
      ['Good'],
    );
  });

  // SQLite has one writer.
  if (engine === 'sqlite') return;

  test('see the changes of others while a large transaction still inserts its events', async (t) => {
    const { url, database, app, key, make, get } = await start(t);
    const secret = await key();
    const lock = new pg.Client(url);
    // If the test fails, dropping the database ends the connection.
    lock.on('error', () => {});
    await lock.connect();
    await lock.query(`
      create function wait_for_test() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(42); return new; end $$;
      create trigger wait_for_test before insert on events for each row when (new.key_name = 'large')
        execute function wait_for_test();
      select pg_advisory_lock(42)`);
    const change = { ...bySystem(app.clock()), name: 'large' };
    const large = database.write((db) => createPeople(db, [{ name: 'First' }, { name: 'Second' }], change));
    const isWaiting = async () =>
      (await lock.query("select from pg_locks where locktype = 'advisory' and objid = 42 and not granted"))
        .rowCount;
    while (!(await isWaiting())) await setTimeout(5);
    await make('/v1/personnel', secret, { name: 'Small' });
    const names = async () =>
      (await get('/v1/events?after=0&types=person.created', secret)).body.data.map(
        ({ data }: Event) => data.name,
      );
    assert.deepEqual(await names(), ['Small']);
    await lock.query('select pg_advisory_unlock(42)');
    await large;
    assert.deepEqual(await names(), ['Small', 'First', 'Second']);
    await lock.end();
  });
});
