import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql, type Transaction } from 'kysely';
import { onBothEngines } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { createView } from './queries.ts';
import { maxViews } from './schema.ts';

onBothEngines('shared views', (start, engine) => {
  const overdue = { list: 'issues', name: 'Overdue', query: 'overdue=true&sort=due_on' };

  test('are created, listed, renamed and deleted, with versions', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const response = await service.post('/v1/views', key, overdue, { 'idempotency-key': 'k' });
    assert.equal(response.status, 201, response.text);
    const view = response.body;
    assert.match(response.headers.get('location') ?? '', new RegExp(`/v1/views/${view.id}$`));
    assert.deepEqual((await service.post('/v1/views', key, overdue, { 'idempotency-key': 'k' })).body, view);
    const path = `/v1/views/${view.id}`;
    const read = await service.get(path, key);
    assert.deepEqual(read.body, view);
    await service.make('/v1/views', key, { list: 'risks', name: 'Overdue', query: '' });
    const names = async (query = '') =>
      (await service.get(`/v1/views${query}`, key)).body.data.map(({ list }: { list: string }) => list);
    assert.deepEqual(await names(), ['issues', 'risks']);
    assert.deepEqual(await names('?list=risks'), ['risks']);
    assert.deepEqual(await names('?list=tasks'), []);

    const ifMatch = { 'if-match': read.headers.get('etag') ?? '' };
    const renamed = await service.call('PATCH', path, key, { name: 'Past due' }, ifMatch);
    assert.deepEqual([renamed.status, renamed.body.name, renamed.body.version], [200, 'Past due', 2]);
    assert.deepEqual((await service.get(path, key)).body, renamed.body);
    assert.equal((await service.call('PATCH', path, key, { name: 'Late' }, ifMatch)).status, 412);
    assert.equal((await service.call('PATCH', path, key, { name: 'Past due' })).body.version, 2);
    assert.equal((await service.call('DELETE', path, key, undefined, ifMatch)).status, 412);
    assert.equal((await service.call('DELETE', path, key)).status, 204);
    assert.equal((await service.get(path, key)).status, 404);
    assert.deepEqual(await names(), ['risks']);
  });

  test('have a name of their own in their list', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { id } = await service.make('/v1/views', key, overdue);
    const taken = await service.post('/v1/views', key, overdue);
    assert.deepEqual([taken.status, taken.body.existing_id], [409, id]);
    const other = await service.make('/v1/views', key, { ...overdue, name: 'Other' });
    const renamed = await service.call('PATCH', `/v1/views/${other.id}`, key, { name: 'Overdue' });
    assert.equal(renamed.status, 409);
    const both = await Promise.all(
      [1, 2].map(() => service.post('/v1/views', key, { ...overdue, name: 'At once' })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  });

  test('need a known list, a name, and a query on one line', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const body = { list: 'groups', name: '', query: 'a b', id: 'x' };
    const { status, body: problem } = await service.post('/v1/views', key, body);
    assert.deepEqual(
      [status, problem.errors.map(({ pointer }: { pointer: string }) => pointer).sort()],
      [422, ['#/id', '#/list', '#/name', '#/query']],
    );
    const moved = await service.make('/v1/views', key, overdue);
    assert.equal((await service.call('PATCH', `/v1/views/${moved.id}`, key, { list: 'risks' })).status, 422);
  });

  test('are read with the scope of their list, and changed with its manage scope', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { id } = await service.make('/v1/views', key, overdue);
    await service.make('/v1/views', key, { list: 'personnel', name: 'Agents', query: 'kind=agent' });
    const lists = async (reader: string) =>
      (await service.get('/v1/views', reader)).body.data.map(({ list }: { list: string }) => list);
    assert.deepEqual(await lists(await service.key('projects.read')), ['issues']);
    assert.deepEqual(await lists(await service.key('personnel.manage')), ['personnel']);
    assert.deepEqual(await lists(await service.key('keys.read')), []);
    const reader = await service.key('projects.read', 'personnel.manage');
    const denied = await service.post('/v1/views', reader, { ...overdue, name: 'Mine' });
    assert.deepEqual(
      [denied.status, denied.body.code, denied.body.scope],
      [403, 'insufficient_scope', 'projects.manage'],
    );
    assert.equal((await service.call('PATCH', `/v1/views/${id}`, reader, { name: 'x' })).status, 403);
    assert.equal((await service.call('DELETE', `/v1/views/${id}`, reader)).status, 403);
    const stranger = await service.key('personnel.manage');
    assert.equal((await service.call('DELETE', `/v1/views/${id}`, stranger)).status, 404);
    assert.equal((await service.get(`/v1/views/${id}`, key)).body.version, 1);
  });

  test('are hidden from a key that is limited to projects', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { id } = await service.make('/v1/views', key, { ...overdue, query: 'project=OTHER' });
    const limited = await service.limitedKey(['APOLLO']);
    assert.deepEqual((await service.get('/v1/views', limited)).body.data, []);
    assert.equal((await service.get(`/v1/views/${id}`, limited)).status, 404);
    const write = await service.post('/v1/views', limited, overdue);
    assert.deepEqual([write.status, write.body.code], [403, 'key_limited']);
  });

  test('are at most 200 of a list, even if many are created at once', { timeout: 60_000 }, async (t) => {
    const service = await start(t);
    const key = await service.key();
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
