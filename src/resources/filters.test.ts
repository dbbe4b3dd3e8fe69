import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../test/clock.ts';
import { onBothEngines, type TestService, withKey } from '../../test/service.ts';

const missing = (prefix: string) => `${prefix}_${'0'.repeat(26)}`;

/** Asserts that a filter is rejected in the name of a parameter, with a detail that says what to do. */
async function assertRejected(service: TestService, key: string, path: string, name: string, detail: RegExp) {
  const { status, body, text } = await service.get(path, key);
  assert.deepEqual(
    [status, body.code, body.errors?.[0]?.parameter],
    [400, 'invalid_parameter', name],
    `${path} ${text}`,
  );
  assert.match(body.detail, detail, path);
}

onBothEngines('filters of lists', (start) => {
  test('reject a project that `archived` leaves out, in every list, summary and chart', async (t) => {
    const clock = settableClock('2026-11-01T12:00:00.000Z');
    const { service, key } = await withKey(start(t, { clock }));
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    for (const project of ['OLD', 'NEW']) {
      await service.make('/v1/projects', key, { name: project, key: project, lead_user_id: ada.user_id });
      await service.make(`/v1/projects/${project}/risks`, key, { title: 'Risk', probability: 3, impact: 3 });
      await service.make(`/v1/projects/${project}/issues`, key, { title: 'Issue' });
      await service.make(`/v1/projects/${project}/tasks`, key, { title: 'Task' });
    }
    const lists = [
      '/v1/risks',
      '/v1/issues',
      '/v1/issues/all',
      '/v1/tasks',
      `/v1/personnel/${ada.user_id}/assignments`,
    ];
    const charts = ['/v1/risks/summary', '/v1/risks/heatmap', '/v1/issues/summary'];
    // Cached responses must not hide that the project is archived since.
    for (let i = 0; i < 3; i++)
      for (const path of lists) {
        const { status, body } = await service.get(`${path}?project=old`, key);
        assert.deepEqual([status, body.data.length], [200, 1], path);
      }
    clock.set('2026-11-05T12:00:00.000Z');
    await service.post('/v1/projects/OLD/archive', key, undefined);
    clock.set('2026-11-10T12:00:00.000Z');
    const advice =
      /^The project OLD is archived, so nothing can match\. Add `archived=any` to include archived projects\.$/;
    for (const path of [...lists, ...charts]) {
      for (const projects of ['OLD', 'old'])
        await assertRejected(service, key, `${path}?project=${projects}`, 'project', advice);
      await assertRejected(
        service,
        key,
        `${path}?project=NEW&archived=true`,
        'project',
        /^The project NEW is not archived, so nothing can match\. Remove `archived=true`\.$/,
      );
      for (const query of [
        'project=OLD&archived=any',
        'project=OLD&archived=true',
        'project=NEW',
        'project=NEW,OLD',
        '',
      ])
        assert.equal((await service.get(`${path}?${query}`, key)).status, 200, `${path}?${query}`);
    }
    for (const path of lists) {
      const data = await service.list(`${path}?project=OLD&archived=any`, key);
      assert.equal(data.length, 1, path);
    }
    // A past register has the projects that were not archived on that day.
    const then = await service.get('/v1/risks?project=OLD&as_of=2026-11-04', key);
    assert.deepEqual([then.status, then.body.data.length], [200, 1]);
    await assertRejected(service, key, '/v1/risks?project=OLD&as_of=2026-11-06', 'project', advice);
    await assertRejected(service, key, '/v1/risks/trend?project=OLD&from=2026-11-06', 'project', advice);
    assert.equal((await service.get('/v1/risks/trend?project=OLD&from=2026-11-02', key)).status, 200);
    await service.post('/v1/projects/OLD/unarchive', key, undefined);
    await assertRejected(service, key, '/v1/risks?project=OLD&as_of=2026-11-06', 'project', advice);
    assert.equal((await service.get('/v1/risks?project=OLD', key)).body.data.length, 1);
  });

  test('say nothing about an archived project that a limited key cannot access', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const project of ['MINE', 'HIDDEN'])
      await service.make('/v1/projects', key, { name: project, key: project });
    await service.post('/v1/projects/HIDDEN/archive', key, undefined);
    const { secret } = await service.make('/v1/keys', key, {
      name: 'limited',
      scopes: ['projects.read'],
      project_ids: ['MINE'],
    });
    for (const path of ['/v1/risks', '/v1/issues', '/v1/tasks', '/v1/risks/summary', '/v1/risks/trend'])
      for (const query of ['', '&archived=any', '&archived=true']) {
        const [hidden, none] = await Promise.all(
          ['HIDDEN', 'NOTHING'].map((project) => service.get(`${path}?project=${project}${query}`, secret)),
        );
        assert.deepEqual([hidden?.status, none?.status], [400, 400]);
        assert.equal(hidden?.body.detail.replace('HIDDEN', 'NOTHING'), none?.body.detail);
      }
  });

  test('reject ids that do not exist, also after a cached response', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [path, name, prefix, detail] of [
      ['/v1/personnel', 'group_id', 'grp', 'group'],
      ['/v1/personnel', 'manager_user_id', 'usr', 'person'],
      ['/v1/groups', 'parent_id', 'grp', 'group'],
      ['/v1/groups', 'lead_user_id', 'usr', 'person'],
      ['/v1/projects', 'lead_user_id', 'usr', 'person'],
      ['/v1/risks', 'owner_user_id', 'usr', 'person'],
      ['/v1/issues', 'owner_group_id', 'grp', 'group'],
      ['/v1/issues', 'risk_id', 'rsk', 'risk'],
      ['/v1/issues/summary', 'risk_id', 'rsk', 'risk'],
      ['/v1/tasks', 'assignee_user_id', 'usr', 'person'],
      ['/v1/tasks', 'risk_id', 'rsk', 'risk'],
      ['/v1/tasks', 'issue_id', 'iss', 'issue'],
    ] as const)
      await assertRejected(
        service,
        key,
        `${path}?${name}=${missing(prefix)}`,
        name,
        new RegExp(`^There is no ${detail} ${missing(prefix)}\\.$`),
      );
    // Ids that are looked up may be gone.
    const found = await service.get(`/v1/personnel?user_ids=${missing('usr')}`, key);
    assert.deepEqual([found.status, found.body.data], [200, []]);
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    const leads = ['/v1/groups', '/v1/projects'].map((path) => `${path}?lead_user_id=${ada.user_id}`);
    for (let i = 0; i < 3; i++)
      for (const path of leads) assert.equal((await service.get(path, key)).status, 200);
    await service.delete(`/v1/personnel/${ada.user_id}`, key);
    for (const path of leads) await assertRejected(service, key, path, 'lead_user_id', /^There is no person/);
  });

  test('reject combinations that nothing can match', async (t) => {
    const { service, key } = await withKey(start(t));
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    for (const [path, query, name] of [
      ['/v1/risks', `unowned=true&owner_user_id=${ada.user_id}`, 'unowned'],
      ['/v1/risks', `check=unowned&owner_user_id=${ada.user_id}`, 'check'],
      ['/v1/risks', 'check=unowned&unowned=false', 'check'],
      ['/v1/risks', 'check=unassessed&assessed=true', 'check'],
      ['/v1/risks', 'check=unassessed&min_score=3', 'min_score'],
      ['/v1/risks', 'assessed=false&min_score=3', 'min_score'],
      ['/v1/risks', 'assessed=false&impact=5', 'impact'],
      ['/v1/risks', 'probability=1&impact=2,3&level=critical', 'level'],
      ['/v1/risks', 'level=huge', 'level'],
      ['/v1/risks', 'unowned=1', 'unowned'],
      ['/v1/risks', 'project=NOPE', 'project'],
      ['/v1/risks', 'min_score=9&max_score=8', 'min_score'],
      ['/v1/risks', 'level=low&min_score=20', 'level'],
      ['/v1/risks', 'review_overdue=true&status=closed,materialized', 'review_overdue'],
      ['/v1/risks', 'due_before=2026-11-02&due_after=2026-11-01', 'due_before'],
      ['/v1/risks', 'review_before=2026-11-02&review_after=2026-11-01', 'review_before'],
      ['/v1/risks', 'transitive=true', 'transitive'],
      ['/v1/personnel', 'transitive=true', 'transitive'],
      ['/v1/issues', `unassigned=true&assignee_user_id=${ada.user_id}`, 'unassigned'],
      ['/v1/issues', 'unassigned=true&assignee_active=true', 'unassigned'],
      ['/v1/issues', 'status=closed', 'status'],
      ['/v1/issues/all', 'overdue=true&status=closed', 'overdue'],
      ['/v1/issues/all', 'resolved_since=2026-11-01T00:00:00Z&status=open,blocked', 'resolved_since'],
      ['/v1/tasks', 'overdue=true&status=done,cancelled', 'overdue'],
      ['/v1/tasks', 'unassigned=true&assignee_active=false', 'unassigned'],
    ] as const)
      await assertRejected(service, key, `${path}?${query}`, name, /./);
    for (const path of [
      '/v1/risks?check=unowned&unowned=true',
      '/v1/risks?check=unassessed&assessed=false',
      '/v1/risks?review_overdue=true&status=closed,open',
      '/v1/risks?review_overdue=false&status=closed',
      '/v1/risks?due_before=2026-11-03&due_after=2026-11-01',
      '/v1/issues/all?overdue=true&status=all',
      '/v1/issues/all?overdue=false&status=closed',
      '/v1/issues/all?resolved_since=2026-11-01T00:00:00Z&status=open,closed',
      '/v1/tasks?overdue=true&status=done,todo',
      '/v1/tasks?unassigned=false&assignee_active=true',
    ])
      assert.equal((await service.get(path, key)).status, 200, path);
  });
});
