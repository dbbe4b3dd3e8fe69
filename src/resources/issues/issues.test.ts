import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, type TestService } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { issueTransitions } from './transitions.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('issues', (start) => {
  test('lists open issues of all projects by severity, priority, due date and age', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    for (const [project, body] of [
      ['APOLLO', { title: 'medium' }],
      ['GEMINI', { title: 'high', severity: 'high' }],
      ['APOLLO', { title: 'critical, low priority', severity: 'critical', priority: 'low' }],
      ['GEMINI', { title: 'critical, urgent', severity: 'critical', priority: 'urgent' }],
      ['APOLLO', { title: 'high, due', severity: 'high', due_on: '2026-12-01' }],
      ['GEMINI', { title: 'high, old', severity: 'high', raised_on: '2026-01-01' }],
    ] as const) {
      await service.make(`/v1/projects/${project}/issues`, key, body);
    }
    const { body } = await service.get('/v1/issues', await service.key('projects.read'));
    assert.deepEqual(titles(body), [
      'critical, urgent',
      'critical, low priority',
      'high, due',
      'high, old',
      'high',
      'medium',
    ]);
    assert.equal(body.data[3].age_days, 318);
    assert.equal(body.data[0].key, 'GEMINI-I2');
    assert.equal(body.page.total, 6);
  });

  test('never returns an issue that is not open, whatever the filters', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await makeFilterable(service, key);
    for (const query of [
      '',
      '?archived=any',
      '?q=done',
      '?status=open,in_progress,blocked',
      '?external_id=x-2',
    ]) {
      const { body } = await service.get(`/v1/issues${query}`, key);
      assert.ok(!titles(body).includes('done'), query);
    }
    for (const status of ['closed', 'resolved', 'all', 'open,closed']) {
      const response = await service.get(`/v1/issues?status=${status}`, key);
      assert.equal(response.status, 400, status);
    }
    const inProject = await service.get('/v1/projects/APOLLO/issues', key);
    assert.ok(titles(inProject.body).includes('done'));
    for (const path of ['/v1/projects/APOLLO/issues', '/v1/issues/all']) {
      assert.deepEqual(titles((await service.get(`${path}?status=closed`, key)).body), ['done'], path);
    }
    const all = (await service.get('/v1/issues/all', key)).body.data as { status: string }[];
    const open = (await service.get('/v1/issues', key)).body.data as unknown[];
    assert.equal(all.filter(({ status }) => !['resolved', 'closed'].includes(status)).length, open.length);
    assert.ok(all.length > open.length);
    const sorted = (await service.get('/v1/issues?sort=due_on', key)).body.data as { due_on: string }[];
    const days = sorted.map(({ due_on }) => due_on ?? '9999');
    assert.deepEqual(days, days.toSorted());
  });

  test('each filter returns exactly the matching issues', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    const { ada, ops, risk } = await makeFilterable(service, key);
    const found = async (query: string) => titles((await service.get(`/v1/issues?${query}`, key)).body);

    assert.deepEqual(await found('project=GEMINI'), ['plain']);
    assert.deepEqual(await found('project_status=planned'), ['plain']);
    assert.deepEqual(await found('status=blocked'), ['full']);
    assert.deepEqual(await found('severity=critical,high'), ['full']);
    assert.deepEqual(await found('priority=urgent'), ['full']);
    assert.deepEqual(await found(`assignee_user_id=${ada}`), ['full']);
    assert.deepEqual(await found(`owner_user_id=${ada}`), ['full']);
    assert.deepEqual(await found(`owner_group_id=${ops}`), ['plain']);
    assert.deepEqual(await found('unassigned=true'), ['plain']);
    assert.deepEqual(await found('overdue=true'), ['full']);
    assert.deepEqual(await found('overdue=false'), ['plain']);
    assert.deepEqual(await found('due_before=2026-11-15'), ['full']);
    assert.deepEqual(await found('due_after=2026-11-14'), ['plain']);
    assert.deepEqual(await found('min_age_days=14'), ['full']);
    assert.deepEqual(await found('min_age_days=15'), []);
    assert.deepEqual(await found(`risk_id=${risk}`), ['full']);
    assert.deepEqual(await found('raised_since=2026-11-02'), ['plain']);
    assert.deepEqual(await found('updated_since=2026-11-15T12:00:00Z&severity=medium'), ['plain']);
    assert.deepEqual(await found('external_id=x-1'), ['full']);
    assert.deepEqual(await found('q=apollo-i1'), ['full']);
  });

  test('finds issues resolved since a time, not those that were only edited since', async (t) => {
    let time = '2026-11-01T12:00:00.000Z';
    const service = await start(t, { clock: () => momentOf(new Date(time)) });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/issues';
    for (const title of ['before', 'since', 'reopened', 'open']) await service.make(path, key, { title });
    const patch = async (issue: string, body: object) => {
      const response = await service.call('PATCH', `${path}/${issue}`, key, body);
      assert.equal(response.status, 200, response.text);
    };
    const resolved = { status: 'resolved', resolution: 'fixed' };
    await patch('APOLLO-I1', resolved);
    time = '2026-11-10T12:00:00.000Z';
    await patch('APOLLO-I1', { description: 'The supplier sent them.' });
    await patch('APOLLO-I2', resolved);
    await patch('APOLLO-I3', resolved);
    await patch('APOLLO-I3', { status: 'in_progress', reason: 'It failed again.' });
    const found = async (since: string) => {
      const { body } = await service.get(`/v1/issues/all?resolved_since=${since}`, key);
      return titles(body).sort();
    };
    assert.deepEqual(await found('2026-11-01T00:00:00Z'), ['before', 'since']);
    assert.deepEqual(await found('2026-11-10T14:00:00%2B02:00'), ['since']);
    assert.deepEqual(await found('2026-11-10T12:00:01Z'), []);
  });

  test('two filters combined return the intersection of their results', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    const { ada, ops, risk } = await makeFilterable(service, key);
    const filters = [
      ...[
        'project=GEMINI',
        'project_status=planned',
        'status=blocked',
        'severity=critical',
        'priority=urgent',
      ],
      ...[`assignee_user_id=${ada}`, `owner_user_id=${ada}`, `owner_group_id=${ops}`, 'unassigned=true'],
      ...['overdue=false', 'min_age_days=14', `risk_id=${risk}`, 'raised_since=2026-11-02'],
      ...['due_before=2026-11-15', 'due_after=2026-11-14'],
      ...['updated_since=2026-11-15T12:00:00Z', 'external_id=x-1', 'q=full'],
    ];
    const found = async (query: string) => titles((await service.get(`/v1/issues?${query}`, key)).body);
    const alone = new Map<string, string[]>();
    for (const filter of filters) alone.set(filter, await found(filter));
    for (const [i, one] of filters.entries()) {
      for (const other of filters.slice(i + 1)) {
        const both = alone.get(one)?.filter((title) => alone.get(other)?.includes(title));
        const query = `${one}&${other}`;
        const { status, body } = await service.get(`/v1/issues?${query}`, key);
        // The API rejects filters that exclude each other: such as an assignee together with `unassigned`.
        if (status === 400) assert.deepEqual([body.code, both], ['invalid_parameter', []], query);
        else assert.deepEqual(titles(body), both, query);
      }
    }
  });

  test('rejects a person who is not assignable, and names the person', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const gone = await service.make('/v1/personnel', key, { name: 'Gone', status: 'inactive' });
    const later = await service.make('/v1/personnel', key, { name: 'Later', start_on: '2027-01-01' });
    for (const { user_id, name } of [gone, later]) {
      const response = await service.post('/v1/projects/APOLLO/issues', key, {
        title: 'x',
        assignee_user_id: user_id,
      });
      assert.equal(response.status, 422);
      assert.equal(response.body.errors[0].code, 'not_assignable');
      assert.ok(response.body.detail.includes(name));
    }
  });

  test('rejects a risk of another project', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    const risk = await service.make('/v1/projects/GEMINI/risks', key, { title: 'x' });
    const response = await service.post('/v1/projects/APOLLO/issues', key, { title: 'x', risk_id: risk.id });
    assert.equal(response.body.errors[0].pointer, '#/risk_id');
  });
});

const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);

async function makeFilterable(service: TestService, key: string) {
  const ada = (await service.make('/v1/personnel', key, { name: 'Ada' })).user_id;
  const ops = (await service.make('/v1/groups', key, { name: 'Ops' })).id;
  await service.make('/v1/projects', key, { name: 'Apollo' });
  await service.make('/v1/projects', key, { name: 'Gemini', status: 'planned' });
  const risk = (await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' })).id;
  await service.make('/v1/projects/APOLLO/issues', key, {
    title: 'full',
    severity: 'critical',
    priority: 'urgent',
    status: 'blocked',
    blocked_reason: 'No valves.',
    owner_user_id: ada,
    assignee_user_id: ada,
    raised_on: '2026-11-01',
    due_on: '2026-11-14',
    risk_id: risk,
    external_id: 'x-1',
  });
  await service.make('/v1/projects/GEMINI/issues', key, {
    title: 'plain',
    owner_group_id: ops,
    raised_on: '2026-11-02',
    due_on: '2026-11-15',
  });
  const done = await service.make('/v1/projects/APOLLO/issues', key, { title: 'done', external_id: 'x-2' });
  await service.database.write((db) =>
    db
      .updateTable('issues')
      .set({ status: 'closed', resolution: 'fixed' })
      .where('id', '=', done.id)
      .execute(),
  );
  return { ada, ops, risk };
}

onBothEngines('issue transitions', (start) => {
  test('every pair of statuses: allowed transitions succeed; other transitions are rejected with the allowed ones', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const move = (issue: string, status: string) =>
      service.call('PATCH', `/v1/projects/APOLLO/issues/${issue}`, key, {
        status,
        ...(status === 'resolved' && { resolution: 'fixed' }),
        reason: 'x',
      });
    const way = {
      open: [],
      in_progress: ['in_progress'],
      blocked: ['blocked'],
      resolved: ['resolved'],
      closed: ['resolved', 'closed'],
    };
    for (const from of Object.keys(issueTransitions) as (keyof typeof issueTransitions)[]) {
      for (const to of Object.keys(issueTransitions).filter((status) => status !== from)) {
        const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' });
        for (const status of way[from]) assert.equal((await move(issue.key, status)).status, 200);
        const response = await move(issue.key, to);
        const allowed = issueTransitions[from].some((status) => status === to);
        assert.equal(response.status, allowed ? 200 : 409, `${from} → ${to}`);
        if (!allowed) assert.deepEqual(response.body.allowed, issueTransitions[from]);
      }
    }
  });

  test('resolving requires a resolution, reopening requires a reason, and stale fields are cleared', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' });
    const patch = (body: object) =>
      service.call('PATCH', `/v1/projects/APOLLO/issues/${issue.key}`, key, body);
    assert.equal((await patch({ status: 'resolved' })).body.errors[0].pointer, '#/resolution');
    assert.equal((await patch({ resolution: 'fixed' })).body.errors[0].code, 'not_resolved');
    await patch({ status: 'blocked', blocked_reason: 'No valves.' });
    const resolved = (await patch({ status: 'resolved', resolution: 'fixed' })).body;
    assert.deepEqual([resolved.resolution, resolved.blocked_reason], ['fixed', null]);
    assert.equal((await service.get('/v1/issues', key)).body.page.total, 0);
    await patch({ status: 'closed' });
    assert.equal((await patch({ status: 'open' })).body.errors[0].pointer, '#/reason');
    const reopened = (await patch({ status: 'open', reason: 'It is back.' })).body;
    assert.deepEqual([reopened.status, reopened.resolution], ['open', null]);
    assert.equal((await service.get('/v1/issues', key)).body.page.total, 1);
    const history = (await service.get(`/v1/projects/APOLLO/issues/${issue.key}/history?limit=1000`, key))
      .body.data;
    assert.equal(history.at(-1).reason, 'It is back.');
  });

  test('an inactive assignee keeps the issue, but an inactive person cannot be assigned', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const issue = await service.make('/v1/projects/APOLLO/issues', key, {
      title: 'x',
      assignee_user_id: user_id,
    });
    await service.database.write((db) =>
      db.updateTable('people').set({ status: 'inactive' }).where('user_id', '=', user_id).execute(),
    );
    const patch = (body: object) =>
      service.call('PATCH', `/v1/projects/APOLLO/issues/${issue.key}`, key, body);
    const unchanged = await patch({ priority: 'high' });
    assert.deepEqual([unchanged.status, unchanged.body.assignee_active], [200, false]);
    await patch({ assignee_user_id: null });
    assert.equal((await patch({ assignee_user_id: user_id })).status, 422);
  });

  test('are counted by severity, priority, age, project and assignee', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await makeFilterable(service, key);
    const { data } = (await service.get('/v1/issues/summary', key)).body;
    assert.deepEqual([data.total, data.overdue], [2, 1]);
    assert.deepEqual(
      data.by_severity.map(({ count }: { count: number }) => count),
      [1, 0, 1, 0],
    );
    assert.deepEqual(
      data.by_priority.map(({ count }: { count: number }) => count),
      [1, 0, 1, 0],
    );
    assert.deepEqual(
      data.by_age.map(({ count }: { count: number }) => count),
      [0, 2, 0, 0],
    );
    assert.deepEqual(
      data.by_project.map(({ count }: { count: number }) => count),
      [1, 1],
    );
    assert.deepEqual(
      data.by_assignee.map(({ assignee_name }: { assignee_name: string | null }) => assignee_name),
      ['Ada', null],
    );
    const narrowed = (await service.get('/v1/issues/summary?severity=critical', key)).body;
    assert.equal(narrowed.data.total, 1);
    assert.deepEqual(narrowed.meta.filters.severity, ['critical']);
  });
});
