import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, type TestService } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('tasks', (start) => {
  test('creates, reads, updates and deletes a task, by id or by key', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const created = await service.post('/v1/projects/APOLLO/tasks', key, { title: 'Order valves' });
    assert.equal(created.status, 201);
    assert.match(created.headers.get('etag') ?? '', /^"1-/);
    const { id, project_id } = created.body;
    assert.equal(created.headers.get('location'), `${service.origin}/v1/projects/${project_id}/tasks/${id}`);
    assert.deepEqual(created.body, {
      id,
      key: 'APOLLO-T1',
      project_id,
      project_key: 'APOLLO',
      project_name: 'Apollo',
      title: 'Order valves',
      description: null,
      kind: 'work',
      status: 'todo',
      assignee_user_id: null,
      start_on: null,
      due_on: null,
      risk_id: null,
      issue_id: null,
      external_id: null,
      assignee_name: null,
      assignee_active: null,
      web_url: `${service.origin}/tasks/APOLLO-T1`,
      version: 1,
      created_at: clock().now,
      updated_at: clock().now,
    });
    for (const path of [`/v1/projects/${project_id}/tasks/${id}`, apolloT1]) {
      assert.deepEqual((await service.get(path, key)).body, created.body, path);
    }

    const patched = await service.call('PATCH', apolloT1, key, { title: 'Order pumps', status: 'done' });
    assert.equal(patched.status, 200);
    assert.match(patched.headers.get('etag') ?? '', /^"2-/);
    assert.deepEqual(patched.body, { ...created.body, title: 'Order pumps', status: 'done', version: 2 });
    assert.deepEqual(titles((await service.get('/v1/projects/APOLLO/tasks?q=pumps', key)).body), [
      'Order pumps',
    ]);
    const unchanged = await service.call('PATCH', apolloT1, key, { status: 'done' });
    assert.equal(unchanged.body.version, 2);

    assert.equal((await service.call('DELETE', apolloT1, key)).status, 204);
    assert.equal((await service.get(apolloT1, key)).status, 404);
    const next = await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    assert.equal(next.key, 'APOLLO-T2');
  });

  test('can be created in any status, and change from any status to any other', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const statuses = ['cancelled', 'done', 'blocked', 'in_progress', 'todo'];
    for (const status of statuses) {
      const task = await service.make('/v1/projects/APOLLO/tasks', key, { title: status, status });
      assert.equal(task.status, status);
    }
    for (const status of ['done', 'todo', 'cancelled', 'blocked', 'done', 'in_progress']) {
      const { body } = await service.call('PATCH', apolloT1, key, { status });
      assert.equal(body.status, status);
    }
  });

  test('rejects an update or delete with a stale If-Match', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    const seen = { 'if-match': '"1"' };
    assert.equal((await service.call('PATCH', apolloT1, key, { title: 'y' }, seen)).status, 200);
    for (const response of [
      await service.call('PATCH', apolloT1, key, { title: 'z' }, seen),
      await service.call('DELETE', apolloT1, key, undefined, seen),
    ]) {
      assert.equal(response.status, 412);
      assert.equal(response.body.code, 'stale');
      assert.equal(response.headers.get('etag'), '"2"');
    }
    assert.equal((await service.get(apolloT1, key)).body.title, 'y');
    assert.equal((await service.call('DELETE', apolloT1, key, undefined, { 'if-match': '"2"' })).status, 204);
  });

  test('records who changed which field, and why', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', due_on: '2026-12-01' });
    await service.call('PATCH', apolloT1, key, { due_on: null, status: 'blocked', reason: 'No valves.' });
    await service.call('PATCH', apolloT1, key, { title: 'x', reason: 'Changes nothing.' });
    const { body } = await service.get(`${apolloT1}/history`, await service.key('projects.read'));
    const entries = body.data.map(({ id, key_id, ...entry }: Record<string, unknown>) => entry);
    const by = { at: clock().now, key_name: 'projects.manage' };
    assert.deepEqual(entries, [
      { ...by, field: 'created', from: null, to: 'APOLLO-T1', reason: null },
      { ...by, field: 'status', from: 'todo', to: 'blocked', reason: 'No valves.' },
      { ...by, field: 'due_on', from: '2026-12-01', to: null, reason: 'No valves.' },
    ]);
  });

  test('lists tasks by due date; tasks without one come last', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
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
    assert.deepEqual(titles((await service.get('/v1/projects/GEMINI/tasks', key)).body), [
      'soon, created later',
      'later',
    ]);
  });

  test('sorts tasks by start or by last change, also across pages', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const body of [
      { title: 'some day' },
      { title: 'second', start_on: '2026-12-02' },
      { title: 'first', start_on: '2026-12-01', due_on: '2027-01-01' },
    ]) {
      await service.make('/v1/projects/APOLLO/tasks', key, body);
    }
    const paged = async (sort: string) => {
      const first = await service.get(`/v1/tasks?sort=${sort}&limit=2`, key);
      const next = `/v1/tasks?sort=${sort}&limit=2&cursor=${first.body.page.next_cursor}`;
      return [...titles(first.body), ...titles((await service.get(next, key)).body)];
    };
    assert.deepEqual(await paged('start_on'), ['first', 'second', 'some day']);
    assert.deepEqual(
      titles((await service.get('/v1/tasks?sort=start_on', key)).body),
      await paged('start_on'),
    );
    // Created at the same time, so the newest id is first.
    assert.deepEqual(await paged('-updated_at'), ['first', 'second', 'some day']);
    assert.equal((await service.get('/v1/tasks?sort=rank', key)).status, 400);
  });

  test('lists open tasks across projects, and all tasks of one project, by default', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await makeFilterable(service, key);
    const found = async (path: string) => titles((await service.get(path, key)).body);

    assert.deepEqual(await found('/v1/tasks'), ['full', 'plain']);
    assert.deepEqual(await found('/v1/tasks?status=all'), ['done', 'full', 'plain']);
    assert.deepEqual(await found('/v1/tasks?status=open,done'), ['done', 'full', 'plain']);
    assert.deepEqual(await found('/v1/projects/APOLLO/tasks'), ['done', 'full']);
    assert.deepEqual(await found('/v1/projects/APOLLO/tasks?status=open'), ['full']);
    assert.deepEqual(await found('/v1/projects/APOLLO/tasks?status=done,cancelled'), ['done']);
  });

  test('each filter returns exactly the matching tasks', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    const { ada, risk, issue } = await makeFilterable(service, key);
    const found = async (query: string) => titles((await service.get(`/v1/tasks?${query}`, key)).body);

    assert.deepEqual(await found('project=GEMINI'), ['plain']);
    assert.deepEqual(await found('project_status=planned'), ['plain']);
    assert.deepEqual(await found('status=blocked'), ['full']);
    assert.deepEqual(await found('kind=mitigation,resolution'), ['full']);
    assert.deepEqual(await found(`assignee_user_id=${ada}`), ['full']);
    assert.deepEqual(await found('unassigned=true'), ['plain']);
    assert.deepEqual(await found('unassigned=false'), ['full']);
    assert.deepEqual(await found('overdue=true&status=all'), ['full']);
    assert.deepEqual(await found('overdue=false&status=all'), ['done', 'plain']);
    assert.deepEqual(await found(`risk_id=${risk}`), ['full']);
    assert.deepEqual(await found(`issue_id=${issue}`), ['full']);
    assert.deepEqual(await found('due_before=2026-11-15'), ['full']);
    assert.deepEqual(await found('due_after=2026-11-14'), ['plain']);
    assert.deepEqual(await found('updated_since=2026-11-15T12:00:00Z'), ['plain']);
    assert.deepEqual(await found('external_id=x-1'), ['full']);
    assert.deepEqual(await found('q=apollo-t1'), ['full']);
    assert.deepEqual(await found('q=VALVES'), ['full']);
  });

  test('leaves out archived projects by default', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await makeFilterable(service, key);
    await service.post('/v1/projects/GEMINI/archive', key, undefined);
    const found = async (query: string) => titles((await service.get(`/v1/tasks${query}`, key)).body);
    assert.deepEqual(await found(''), ['full']);
    assert.deepEqual(await found('?archived=true'), ['plain']);
    assert.deepEqual(await found('?archived=any'), ['full', 'plain']);
  });

  test('rejects a person who is not assignable, and names the person', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    const gone = await service.make('/v1/personnel', key, { name: 'Gone', status: 'inactive' });
    const later = await service.make('/v1/personnel', key, { name: 'Later', start_on: '2027-01-01' });
    for (const { user_id: assignee_user_id, name } of [gone, later]) {
      for (const response of [
        await service.post('/v1/projects/APOLLO/tasks', key, { title: 'x', assignee_user_id }),
        await service.call('PATCH', apolloT1, key, { assignee_user_id }),
      ]) {
        assert.equal(response.status, 422);
        assert.equal(response.body.errors[0].code, 'not_assignable');
        assert.ok(response.body.detail.includes(name));
      }
    }
    const unknown = await service.call('PATCH', apolloT1, key, { assignee_user_id: `usr_${'0'.repeat(26)}` });
    assert.equal(unknown.status, 422);
    assert.equal(unknown.body.errors[0].code, 'unknown_reference');
  });

  test('an inactive assignee keeps the task until it is reassigned', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', assignee_user_id: user_id });
    await service.database.write((db) =>
      db.updateTable('people').set({ status: 'inactive' }).where('user_id', '=', user_id).execute(),
    );
    const response = await service.call('PATCH', apolloT1, key, { title: 'y', assignee_user_id: user_id });
    assert.equal(response.status, 200);
    assert.deepEqual([response.body.title, response.body.assignee_name], ['y', 'Ada']);
  });

  test('rejects a risk or an issue of another project', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    const { id: risk_id } = await service.make('/v1/projects/GEMINI/risks', key, { title: 'x' });
    const { id: issue_id } = await service.make('/v1/projects/GEMINI/issues', key, { title: 'x' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    for (const response of [
      await service.post('/v1/projects/APOLLO/tasks', key, { title: 'x', risk_id, issue_id }),
      await service.call('PATCH', apolloT1, key, { risk_id, issue_id }),
    ]) {
      assert.equal(response.status, 422);
      assert.deepEqual(
        response.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code]),
        [
          ['#/risk_id', 'unknown_reference'],
          ['#/issue_id', 'unknown_reference'],
        ],
      );
    }
    await service.make('/v1/projects/GEMINI/tasks', key, { title: 'x', risk_id, issue_id });
  });

  test('rejects a due date before the start date', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', due_on: '2026-12-01' });
    for (const response of [
      await service.post('/v1/projects/APOLLO/tasks', key, {
        title: 'x',
        start_on: '2026-12-02',
        due_on: '2026-12-01',
      }),
      await service.call('PATCH', apolloT1, key, { start_on: '2026-12-02' }),
    ]) {
      assert.equal(response.status, 422);
      assert.equal(response.body.errors[0].code, 'date_order');
    }
    assert.equal((await service.call('PATCH', apolloT1, key, { start_on: '2026-12-01' })).status, 200);
  });

  test('rejects a second task with the same external id in a project', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    const holder = await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', external_id: 'x-1' });
    for (const response of [
      await service.post('/v1/projects/APOLLO/tasks', key, { title: 'x', external_id: 'x-1' }),
      await service.call('PATCH', apolloT1, key, { external_id: 'x-1' }),
    ]) {
      assert.equal(response.status, 409);
      assert.equal(response.body.code, 'duplicate');
      assert.equal(response.body.existing_id, holder.id);
    }
    await service.make('/v1/projects/GEMINI/tasks', key, { title: 'x', external_id: 'x-1' });
  });

  test('cannot change while its project is archived', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    assert.equal((await service.post('/v1/projects/APOLLO/archive', key, undefined)).status, 200);
    for (const response of [
      await service.post('/v1/projects/APOLLO/tasks', key, { title: 'y' }),
      await service.call('PATCH', apolloT1, key, { title: 'y' }),
      await service.call('DELETE', apolloT1, key),
    ]) {
      assert.equal(response.status, 409);
      assert.equal(response.body.code, 'project_archived');
    }
    await service.post('/v1/projects/APOLLO/unarchive', key, undefined);
    const next = await service.make('/v1/projects/APOLLO/tasks', key, { title: 'y' });
    assert.equal(next.key, 'APOLLO-T2');
  });

  test('is counted on its risk, in total and when done', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
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
    await service.call('PATCH', apolloT1, key, { status: 'done' });
    assert.deepEqual(await counts(), [2, 1]);
    await service.call('DELETE', apolloT1, key);
    assert.deepEqual(await counts(), [1, 0]);
  });

  test('is readable with projects.read and writable only with projects.manage', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    const reader = await service.key('projects.read');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x' });
    for (const path of ['/v1/tasks', '/v1/projects/APOLLO/tasks', apolloT1, `${apolloT1}/history`]) {
      assert.equal((await service.get(path, reader)).status, 200, path);
      assert.equal((await service.get(path, await service.key('personnel.manage'))).status, 403, path);
    }
    for (const [method, path, body] of [
      ['POST', '/v1/projects/APOLLO/tasks', { title: 'y' }],
      ['PATCH', apolloT1, { title: 'y' }],
      ['DELETE', apolloT1, undefined],
    ] as const) {
      assert.equal((await service.call(method, path, reader, body)).status, 403, method);
    }
  });
});

const apolloT1 = '/v1/projects/APOLLO/tasks/APOLLO-T1';

const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);

async function makeFilterable(service: TestService, key: string) {
  const ada = (await service.make('/v1/personnel', key, { name: 'Ada' })).user_id;
  await service.make('/v1/projects', key, { name: 'Apollo' });
  await service.make('/v1/projects', key, { name: 'Gemini', status: 'planned' });
  const risk = (await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' })).id;
  const issue = (await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' })).id;
  const full = await service.make('/v1/projects/APOLLO/tasks', key, {
    title: 'full',
    description: 'Two more valves',
    kind: 'mitigation',
    status: 'blocked',
    assignee_user_id: ada,
    due_on: '2026-11-14',
    risk_id: risk,
    issue_id: issue,
    external_id: 'x-1',
  });
  await service.make('/v1/projects/GEMINI/tasks', key, { title: 'plain', due_on: '2026-11-15' });
  await service.make('/v1/projects/APOLLO/tasks', key, {
    title: 'done',
    status: 'done',
    due_on: '2026-11-01',
    external_id: 'x-2',
  });
  await service.database.write((db) =>
    db
      .updateTable('tasks')
      .set({ updated_at: '2026-11-15T11:59:59.999Z' })
      .where('id', '=', full.id)
      .execute(),
  );
  return { ada, risk, issue };
}
