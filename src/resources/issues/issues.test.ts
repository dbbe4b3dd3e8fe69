import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { issueTransitions } from './transitions.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('issues', (start) => {
  test('lists open issues of all projects by severity, priority, due date and age', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
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
    assert.deepEqual([body.data[3].age_days, body.data[0].key, body.page.total], [318, 'GEMINI-I2', 6]);
  });

  test('never returns an issue that is not open, whatever the filters', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    await makeIssues(service, key);
    for (const query of ['', '?archived=any', '?q=done', '?status=open,in_progress,blocked']) {
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
    assert.deepEqual(titles((await service.get('/v1/issues/all', key)).body), ['full', 'plain', 'done']);
    assert.deepEqual(titles((await service.get('/v1/issues?sort=due_on', key)).body), ['full', 'plain']);
  });

  test('finds issues resolved since a time, not those that were only edited since', async (t) => {
    let time = '2026-11-01T12:00:00.000Z';
    const { service, key } = await withKey(
      start(t, { clock: () => momentOf(new Date(time)) }),
      'projects.manage',
    );
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/issues';
    for (const title of ['before', 'since', 'reopened', 'open']) await service.make(path, key, { title });
    const patch = async (issue: string, body: object) => {
      const response = await service.patch(`${path}/${issue}`, key, body);
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
});

const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);

/** Two open issues and one that is closed. */
async function makeIssues(service: TestService, key: string) {
  const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
  for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
  await service.make('/v1/projects/APOLLO/issues', key, {
    title: 'full',
    severity: 'critical',
    priority: 'urgent',
    assignee_user_id: user_id,
    raised_on: '2026-11-01',
    due_on: '2026-11-14',
  });
  await service.make('/v1/projects/GEMINI/issues', key, { title: 'plain', raised_on: '2026-11-02' });
  const { id } = await service.make('/v1/projects/APOLLO/issues', key, { title: 'done' });
  for (const body of [{ status: 'resolved', resolution: 'fixed' }, { status: 'closed' }])
    assert.equal((await service.patch(`/v1/projects/APOLLO/issues/${id}`, key, body)).status, 200);
}

onBothEngines('issue transitions', (start) => {
  test('every pair of statuses: allowed transitions succeed; other transitions are rejected with the allowed ones', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const move = (issue: string, status: string) =>
      service.patch(`/v1/projects/APOLLO/issues/${issue}`, key, {
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
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' });
    const patch = (body: object) => service.patch(`/v1/projects/APOLLO/issues/${issue.key}`, key, body);
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
    const history = await service.list(`/v1/projects/APOLLO/issues/${issue.key}/history`, key);
    assert.equal(history.at(-1).reason, 'It is back.');
  });

  test('are counted by severity, priority, age, project and assignee', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    await makeIssues(service, key);
    const data = await service.list('/v1/issues/summary', key);
    assert.deepEqual([data.total, data.overdue], [2, 1]);
    assert.deepEqual(pluck(data.by_severity, 'count'), [1, 0, 1, 0]);
    assert.deepEqual(pluck(data.by_priority, 'count'), [1, 0, 1, 0]);
    assert.deepEqual(pluck(data.by_age, 'count'), [0, 2, 0, 0]);
    assert.deepEqual(pluck(data.by_project, 'count'), [1, 1]);
    assert.deepEqual(pluck(data.by_assignee, 'assignee_name'), ['Ada', null]);
    const narrowed = (await service.get('/v1/issues/summary?severity=critical', key)).body;
    assert.equal(narrowed.data.total, 1);
    assert.deepEqual(narrowed.meta.filters.severity, ['critical']);
  });
});
