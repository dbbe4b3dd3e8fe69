import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql, type Transaction } from 'kysely';
import { onBothEngines, pluck, withKey } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { createView } from './queries.ts';
import { maxViews } from './schema.ts';

onBothEngines('shared views', (start, engine) => {
  const overdue = { list: 'issues', name: 'Overdue', query: 'overdue=true&sort=due_on' };

  test('are listed by their list', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/views', key, overdue);
    await service.make('/v1/views', key, { list: 'risks', name: 'Overdue', query: '' });
    const lists = async (query = '') => pluck(await service.list(`/v1/views${query}`, key), 'list');
    assert.deepEqual(await lists(), ['issues', 'risks']);
    assert.deepEqual(await lists('?list=risks'), ['risks']);
    assert.deepEqual(await lists('?list=tasks'), []);
  });

  test('have a name of their own in their list', async (t) => {
    const { service, key } = await withKey(start(t));
    const { id } = await service.make('/v1/views', key, overdue);
    const taken = await service.post('/v1/views', key, overdue);
    assert.deepEqual([taken.status, taken.body.existing_id], [409, id]);
    const other = await service.make('/v1/views', key, { ...overdue, name: 'Other' });
    const renamed = await service.patch(`/v1/views/${other.id}`, key, { name: 'Overdue' });
    assert.equal(renamed.status, 409);
    const both = await Promise.all(
      [1, 2].map(() => service.post('/v1/views', key, { ...overdue, name: 'At once' })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  });

  test('need a known list, a name, and a query on one line', async (t) => {
    const { service, key } = await withKey(start(t));
    const body = { list: 'groups', name: '', query: 'a b', id: 'x' };
    const { status, body: problem } = await service.post('/v1/views', key, body);
    assert.deepEqual(
      [status, pluck(problem.errors, 'pointer').sort()],
      [422, ['#/id', '#/list', '#/name', '#/query']],
    );
    const moved = await service.make('/v1/views', key, overdue);
    assert.equal((await service.patch(`/v1/views/${moved.id}`, key, { list: 'risks' })).status, 422);
  });

  test('are read with the scope of their list, and changed with its manage scope', async (t) => {
    const { service, key } = await withKey(start(t));
    const { id } = await service.make('/v1/views', key, overdue);
    await service.make('/v1/views', key, { list: 'personnel', name: 'Agents', query: 'kind=agent' });
    const lists = async (reader: string) => pluck(await service.list('/v1/views', reader), 'list');
    assert.deepEqual(await lists(await service.key('projects.read')), ['issues']);
    assert.deepEqual(await lists(await service.key('personnel.manage')), ['personnel']);
    assert.deepEqual(await lists(await service.key('keys.read')), []);
    const reader = await service.key('projects.read', 'personnel.manage');
    const denied = await service.post('/v1/views', reader, { ...overdue, name: 'Mine' });
    assert.deepEqual(
      [denied.status, denied.body.code, denied.body.scope],
      [403, 'insufficient_scope', 'projects.manage'],
    );
    assert.equal((await service.patch(`/v1/views/${id}`, reader, { name: 'x' })).status, 403);
    assert.equal((await service.delete(`/v1/views/${id}`, reader)).status, 403);
    const stranger = await service.key('personnel.manage');
    assert.equal((await service.delete(`/v1/views/${id}`, stranger)).status, 404);
    assert.equal((await service.get(`/v1/views/${id}`, key)).body.version, 1);
  });

  test('are hidden from a key that is limited to projects', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { id } = await service.make('/v1/views', key, { ...overdue, query: 'project=OTHER' });
    const limited = await service.limitedKey(['APOLLO']);
    assert.deepEqual(await service.list('/v1/views', limited), []);
    assert.equal((await service.get(`/v1/views/${id}`, limited)).status, 404);
    const write = await service.post('/v1/views', limited, overdue);
    assert.deepEqual([write.status, write.body.code], [403, 'key_limited']);
  });

  test('are at most 200 of a list, even if many are created at once', { timeout: 60_000 }, async (t) => {
    const { service, key } = await withKey(start(t));
    const { id, ...first } = await service.make('/v1/views', key, overdue);
    const rows = Array.from({ length: maxViews - 6 }, (_, i) => ({
      ...first,
      id: `${id}${i}`,
      name: `${i}`,
    }));
    await service.database.write((db) => db.insertInto('views').values(rows).execute());
    const post = (list: string, name: string) => service.post('/v1/views', key, { ...overdue, list, name });
    const names = Array.from({ length: 20 }, (_, i) => `At once ${i}`);
    const [responses, others] = await Promise.all([
      Promise.all(names.map((name) => post('issues', name))),
      Promise.all(names.map((name) => post('tasks', name))),
    ]);
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(5).fill(201), ...Array(15).fill(422)]);
    assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([201]));
    const refused = await post('issues', 'One more');
    assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, '#/list']);
  });

  // SQLite has one writer.
  if (engine === 'sqlite') return;
  test('count those that another transaction is creating', { timeout: 60_000 }, async (t) => {
    const service = await start(t);
    const moment = systemClock();
    const create = (name: string) => (db: Transaction<Tables>) =>
      createView(db, { list: 'issues', name, query: '' }, moment);
    for (let i = 1; i < maxViews; i++) await service.database.write(create(`${i}`));
    const isWaiting = async () => {
      const { rows } = await sql`select 1 from pg_locks where not granted`.execute(service.database.db);
      return rows.length > 0;
    };
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    let second: Promise<unknown> | undefined;
    await service.database.write(async (db) => {
      await create('First')(db);
      second = service.database.write(create('Second'));
      second.then(settle, settle);
      while (!isSettled && !(await isWaiting()));
    });
    await assert.rejects(second ?? Promise.resolve(), { code: 'invalid_body' });
  });
});
