import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('tasks', (start) => {
  test('have a key and defaults, and a deleted one leaves its number unused', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const task = await service.make('/v1/projects/APOLLO/tasks', key, { title: 'Order valves' });
    const { kind, status, project_name, web_url, created_at } = task;
    assert.deepEqual([task.key, kind, status, project_name], ['APOLLO-T1', 'work', 'todo', 'Apollo']);
    assert.deepEqual([web_url, created_at], [`${service.origin}/tasks/APOLLO-T1`, clock().now]);
    assert.deepEqual((await service.get(apolloT1, key)).body, task);
    await service.patch(apolloT1, key, { title: 'Order pumps' });
    assert.deepEqual(titles((await service.get('/v1/projects/APOLLO/tasks?q=pumps', key)).body), [
      'Order pumps',
    ]);
    assert.equal((await service.delete(apolloT1, key)).status, 204);
    const next = await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    assert.equal(next.key, 'APOLLO-T2');
  });

  test('can be created in any status, and change from any status to any other', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const statuses = ['cancelled', 'done', 'blocked', 'in_progress', 'todo'];
    for (const status of statuses) {
      const task = await service.make('/v1/projects/APOLLO/tasks', key, { title: status, status });
      assert.equal(task.status, status);
    }
    for (const status of ['done', 'todo', 'cancelled', 'blocked', 'done', 'in_progress']) {
      const { body } = await service.patch(apolloT1, key, { status });
      assert.equal(body.status, status);
    }
  });

  test('records who changed which field, and why', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', due_on: '2026-12-01' });
    await service.patch(apolloT1, key, { due_on: null, status: 'blocked', reason: 'No valves.' });
    await service.patch(apolloT1, key, { title: 'x', reason: 'Changes nothing.' });
    const { body } = await service.get(`${apolloT1}/history`, await service.key('projects.read'));
    const entries = pluck(body.data, 'at', 'actor.name', 'reason', 'field', 'from', 'to');
    const [created, changed] = [clock().now, '2026-11-15T12:00:00.001Z'];
    const by = 'projects.manage';
    assert.deepEqual(entries, [
      [created, by, null, 'created', null, 'APOLLO-T1'],
      [changed, by, 'No valves.', 'status', 'todo', 'blocked'],
      [changed, by, 'No valves.', 'due_on', '2026-12-01', null],
    ]);
  });

  test('lists tasks by due date; tasks without one come last', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    for (const [project, body] of [
      ['APOLLO', { title: 'some day' }],
      ['GEMINI', { title: 'later', due_on: '2026-12-02' }],
      ['APOLLO', { title: 'soon', due_on: '2026-12-01' }],
      ['GEMINI', { title: 'soon, created later', due_on: '2026-12-01' }],
    ] as const) {
      await service.make(`/v1/projects/${project}/tasks`, key, body);
    }
    const inOrder = ['soon', 'soon, created later', 'later', 'some day'];
    const whole = await service.get('/v1/tasks', key);
    assert.deepEqual(titles(whole.body), inOrder);
    assert.equal(whole.body.page.total, 4);
    assert.deepEqual(whole.body.meta.filters, { archived: 'false', status: ['open'] });

    const first = await service.get('/v1/tasks?limit=3', key);
    const rest = await service.get(`/v1/tasks?limit=3&cursor=${first.body.page.next_cursor}`, key);
    assert.deepEqual([...titles(first.body), ...titles(rest.body)], inOrder);
    // The list of a project also has the tasks that are done.
    await service.make('/v1/projects/GEMINI/tasks', key, { title: 'done', status: 'done' });
    assert.deepEqual(titles((await service.get('/v1/tasks', key)).body), inOrder);
    const found = async (query: string) =>
      titles((await service.get(`/v1/projects/GEMINI/tasks${query}`, key)).body);
    assert.deepEqual(await found(''), ['soon, created later', 'later', 'done']);
    assert.deepEqual(await found('?status=open'), ['soon, created later', 'later']);
    assert.deepEqual(await found('?status=done,cancelled'), ['done']);
  });

  test('is counted on its risk, in total and when done', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { id: risk_id } = await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const counts = async () => {
      const { body } = await service.get(`/v1/projects/APOLLO/risks/${risk_id}`, key);
      return [body.tasks_total, body.tasks_done];
    };
    assert.deepEqual(await counts(), [0, 0]);
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', risk_id });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'y', risk_id });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'of no risk', status: 'done' });
    assert.deepEqual(await counts(), [2, 0]);
    await service.patch(apolloT1, key, { status: 'done' });
    assert.deepEqual(await counts(), [2, 1]);
    await service.delete(apolloT1, key);
    assert.deepEqual(await counts(), [1, 0]);
  });
});

const apolloT1 = '/v1/projects/APOLLO/tasks/APOLLO-T1';

const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);
