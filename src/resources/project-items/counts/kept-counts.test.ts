import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { settableClock } from '../../../../test/clock.ts';
import { onBothEngines, type Start, type TestService, withKey } from '../../../../test/service.ts';
import type { Moment } from '../../../core/clock.ts';
import type { Database, Snapshot } from '../../../database/open.ts';
import { deleteOldEvents } from '../../../jobs/retention.ts';
import { openDatabase } from '../../../store/open.ts';
import { countableRisks, summarizeRisks } from '../../risks/summaries.ts';
import { type CountedSnapshot, keepCounts } from './kept-counts.ts';

const projects = ['APOLLO', 'GEMINI', 'MERCURY'];

/** Projects and people. */
async function fill(service: TestService, key: string) {
  for (const name of projects) await service.make('/v1/projects', key, { name, key: name });
  const people: string[] = [];
  for (const name of ['Ada', 'Grace', 'Mary'])
    people.push((await service.make('/v1/personnel', key, { name })).user_id);
  return { people };
}

async function inSnapshot<S extends Snapshot, T>(snapshot: S, work: (snapshot: S) => Promise<T>): Promise<T> {
  try {
    return await work(snapshot);
  } finally {
    await snapshot.end();
  }
}

const activeRisks = (moment: Moment) => ({
  filters: { archived: 'false' as const, status: ['active' as const] },
  moment,
});

const summarize = (moment: Moment) => (snapshot: Pick<Snapshot, 'db'> & Partial<CountedSnapshot>) =>
  summarizeRisks(snapshot, activeRisks(moment), 20, null);

/** A second database object on the same data, whose statements that count items are recorded. */
function watchCounting(t: TestContext, service: TestService) {
  const counted: string[] = [];
  const database = openDatabase(service.url, undefined, {}, ({ query: { sql, parameters } }) => {
    if (sql.includes('string_agg') && sql.includes('as "project"'))
      counted.push(
        ...(parameters.filter(
          (value) => typeof value === 'string' && value.startsWith('["prj_'),
        ) as string[]),
      );
  });
  t.after(() => database.close());
  return { database, takeCounted: () => counted.splice(0).flatMap((ids) => JSON.parse(ids) as string[]) };
}

const setUp = async (t: TestContext, start: Start) => {
  const clock = settableClock('2026-11-18T09:00:00.000Z');
  const { service, key } = await withKey(start(t, { clock }));
  const people = await fill(service, key);
  return { clock, service, key, ...people };
};

onBothEngines('kept counts', (startService, engine) => {
  test('only the projects that changed are counted again', async (t) => {
    const { service, key, clock, people } = await setUp(t, startService);
    const made = new Map<string, string>();
    const idOf = (project: string) => made.get(project) as string;
    for (const project of projects) {
      const risk = { title: 'x', owner_user_id: people[0] };
      made.set(project, (await service.make(`/v1/projects/${project}/risks`, key, risk)).project_id);
    }
    const { database, takeCounted } = watchCounting(t, service);
    const counts = keepCounts(countableRisks);
    const read = async () => inSnapshot(await counts.open(database), summarize(clock()));
    await read();
    assert.deepEqual(takeCounted().sort(), [...made.values()].sort());
    await read();
    assert.deepEqual(takeCounted(), []);
    await service.make('/v1/projects/GEMINI/risks', key, { title: 'y' });
    assert.equal((await read()).total, 4);
    assert.deepEqual(takeCounted(), [idOf('GEMINI')]);
    await service.patch('/v1/projects/APOLLO', key, { appetite: 3 });
    await service.make('/v1/projects/MERCURY/tasks', key, { title: 'z' });
    await read();
    assert.deepEqual(takeCounted(), [idOf('APOLLO')]);
    const inactiveOwners = async () =>
      (await read()).by_check.find(({ check }) => check === 'owner_inactive')?.count;
    assert.equal(await inactiveOwners(), 0);
    await service.post(`/v1/personnel/${people[0]}/deactivate`, key, {});
    assert.equal(await inactiveOwners(), 3);
    assert.deepEqual(takeCounted(), []);
    await service.post('/v1/projects/MERCURY/archive', key, {});
    assert.equal((await read()).total, 3);
    takeCounted();
    clock.set('2026-11-19T09:00:00.000Z');
    await read();
    assert.deepEqual(takeCounted().sort(), [idOf('APOLLO'), idOf('GEMINI')].sort());
  });

  test('only the projects that a request chooses are counted', async (t) => {
    const { service, key, clock } = await setUp(t, startService);
    const ids: string[] = [];
    for (const project of projects)
      ids.push((await service.make(`/v1/projects/${project}/risks`, key, { title: 'x' })).project_id);
    const { database, takeCounted } = watchCounting(t, service);
    const counts = keepCounts(countableRisks);
    const total = async (project?: string[]) => {
      const { moment, filters } = activeRisks(clock());
      const register = { moment, filters: { ...filters, ...(project && { project }) } };
      const snapshot = await counts.open(database);
      return (await inSnapshot(snapshot, () => summarizeRisks(snapshot, register, 20, null))).total;
    };
    const [apollo = '', gemini = '', mercury = ''] = ids;
    assert.equal(await total([gemini]), 1);
    assert.deepEqual(takeCounted(), [gemini]);
    assert.equal(await total(), 3);
    assert.deepEqual(takeCounted().sort(), [apollo, mercury].sort());
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'y' });
    assert.equal(await total([gemini]), 1);
    assert.deepEqual(takeCounted(), []);
    assert.equal(await total(), 4);
    assert.deepEqual(takeCounted(), [apollo]);
  });

  test('requests that arrive together count once', async (t) => {
    const { service, key, clock } = await setUp(t, startService);
    for (const project of projects) await service.make(`/v1/projects/${project}/risks`, key, { title: 'x' });
    const { database, takeCounted } = watchCounting(t, service);
    const counts = keepCounts(countableRisks);
    const read = async () => inSnapshot(await counts.open(database), summarize(clock()));
    const all = await Promise.all(Array.from({ length: 64 }, read));
    assert.deepEqual(new Set(all.map(({ total }) => total)), new Set([3]));
    assert.equal(takeCounted().length, 3);
  });

  test('are those of their snapshot, whatever is written meanwhile', async (t) => {
    const { service, key, clock } = await setUp(t, startService);
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const counts = keepCounts(countableRisks);
    const write = () => service.make('/v1/projects/APOLLO/risks', key, { title: 'y' });
    for (const expected of [1, 2]) {
      await inSnapshot(await counts.open(service.database), async (snapshot) => {
        // The snapshot begins with its first statement.
        await snapshot.db.selectFrom('data_versions').selectAll().execute();
        await write();
        assert.equal((await summarize(clock())(snapshot)).total, expected);
        assert.equal((await summarize(clock())({ db: snapshot.db })).total, expected);
      });
    }
    await inSnapshot(await counts.open(service.database), async (snapshot) =>
      assert.equal((await summarize(clock())(snapshot)).total, 3),
    );
  });

  test('an error in the middle leaves the former counts', async (t) => {
    const { service, key, clock, people } = await setUp(t, startService);
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', owner_user_id: people[0] });
    let onCount: (() => Promise<void>) | undefined;
    const database = openDatabase(service.url, undefined, {}, ({ query }) => {
      if (query.sql.includes('string_agg')) void onCount?.();
    });
    t.after(() => database.close());
    const counts = keepCounts(countableRisks);
    const read = async (work = (snapshot: CountedSnapshot) => summarize(clock())(snapshot)) =>
      inSnapshot(await counts.open(database), work);
    for (const expected of [1, 2]) {
      await assert.rejects(
        read((snapshot) => {
          // The connection is gone as soon as something has been counted.
          onCount = () => snapshot.end();
          return summarize(clock())(snapshot);
        }),
      );
      onCount = undefined;
      const plain = inSnapshot(await database.snapshot('slow'), summarize(clock()));
      assert.deepEqual(await read(), await plain);
      assert.equal((await read()).total, expected);
      const risk = { title: 'y', owner_user_id: people[expected] };
      await service.make('/v1/projects/APOLLO/risks', key, risk);
    }
  });

  test('a client that disconnects while its summary is counted holds up nobody', async (t) => {
    const { service, key } = await setUp(t, startService);
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const clients = Array.from({ length: 8 }, (_, i) => {
      const client = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      const response = fetch(`${service.origin}/v1/risks/summary?top=${i + 1}`, {
        headers,
        signal: client.signal,
      });
      setTimeout(() => client.abort(), i);
      return response.then((received) => received.text()).catch(() => '');
    });
    await Promise.all(clients);
    assert.equal((await service.list('/v1/risks/summary', key)).total, 1);
  });

  test('notice changes that no event tells of', async (t) => {
    const { service, key, clock, people } = await setUp(t, startService);
    const { database } = service;
    for (const project of projects)
      await service.make(`/v1/projects/${project}/risks`, key, { title: 'x', owner_user_id: people[0] });
    const counts = keepCounts(countableRisks);
    const assertEqual = async (what: string) => {
      const kept = inSnapshot(await counts.open(database), summarize(clock()));
      const plain = inSnapshot(await database.snapshot('slow'), summarize(clock()));
      assert.deepEqual(await kept, await plain, what);
    };
    await assertEqual('at first');
    await database.write((db) => db.updateTable('risks').set({ category: 'by hand' }).execute());
    await assertEqual('rows changed by hand');
    await database.write((db) => db.updateTable('people').set({ status: 'inactive' }).execute());
    await assertEqual('people changed by hand');
    await service.make('/v1/projects/GEMINI/risks', key, { title: 'y' });
    await deleteOldEvents(database, { ...clock(), now: '2028-01-01T00:00:00.000Z' }, 1);
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'y' });
    await assertEqual('events deleted');
    await service.make('/v1/projects/GEMINI/risks', key, { title: 'z' });
    await assertEqual('after the first event');
    await restoreEarlier(database);
    await assertEqual('an earlier state restored');
  });

  test('are not kept if they take too much memory', async (t) => {
    const { service, key, clock } = await setUp(t, startService);
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', category: 'c'.repeat(200) });
    const counts = keepCounts(countableRisks, 100);
    for (let i = 0; i < 2; i++) {
      await inSnapshot(await counts.open(service.database), async (snapshot) => {
        const { project_id } = await service.list('/v1/risks', key).then(([risk]) => risk);
        assert.equal(await snapshot.counts(clock(), [project_id]), undefined);
        assert.equal((await summarize(clock())(snapshot)).total, 1);
      });
    }
  });

  test('of the new day stay if a request of the day before is still running', async (t) => {
    const { service, key, clock } = await setUp(t, startService);
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', due_on: '2026-11-18' });
    const yesterday = clock();
    clock.set('2026-11-19T00:00:00.000Z');
    const { database, takeCounted } = watchCounting(t, service);
    const counts = keepCounts(countableRisks);
    const overdue = async (moment: Moment) =>
      inSnapshot(await counts.open(database), async (snapshot) => {
        const { by_check } = await summarize(moment)(snapshot);
        return by_check.find(({ check }) => check === 'due_overdue')?.count;
      });
    assert.deepEqual([await overdue(clock()), await overdue(yesterday), await overdue(clock())], [1, 0, 1]);
    assert.equal(takeCounted().length, 3);
  });

  test('of one instance include what another one has written', async (t) => {
    const { service, key } = await setUp(t, startService);
    const other = await startService(t, { target: { url: service.url, drop: async () => {} } });
    const total = async (instance: TestService) =>
      (await instance.list('/v1/risks/summary', key)).total as number;
    assert.equal(await total(other), 0);
    for (let n = 1; n <= 5; n++) {
      const [one, next] = n % 2 === 0 ? [other, service] : [service, other];
      await one.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
      assert.deepEqual([await total(next), await total(one)], [n, n], engine);
    }
  });
});

/** Removes the latest risk with its events, as if a backup had been restored. */
const restoreEarlier = (database: Database) =>
  database.write(async (db) => {
    await db.deleteFrom('risks').where('title', '=', 'z').execute();
    await db.deleteFrom('events').execute();
    await db.updateTable('data_versions').set({ version: 5 }).where('table_name', '=', 'events').execute();
  });
