import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { maxReports } from './schema.ts';

type Titled = { title: string };
const titles = (items: Titled[]) => items.map(({ title }) => title);

/** Two projects with risks that have changed after the tenth, an issue that is overdue, and a task. */
async function portfolio(service: TestService, key: string, clock: ReturnType<typeof settableClock>) {
  const add = (path: string, body: object) => service.make(`/v1/projects/${path}`, key, body);
  const patch = async (path: string, body: object) =>
    assert.equal((await service.patch(`/v1/projects/${path}`, key, body)).status, 200);
  for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
  const [rising, falling, closed, reopened, occurred] = [
    await add('APOLLO/risks', { title: 'Rising', probability: 2, impact: 2, response_plan: 'Watch it.' }),
    await add('APOLLO/risks', { title: 'Falling', probability: 5, impact: 5 }),
    await add('APOLLO/risks', { title: 'Closed', probability: 3, impact: 3 }),
    await add('GEMINI/risks', { title: 'Reopened', probability: 1, impact: 2 }),
    await add('GEMINI/risks', { title: 'Occurred', probability: 1, impact: 3 }),
  ];
  await add('GEMINI/risks', { title: 'Chance', kind: 'opportunity', probability: 3, impact: 3 });
  await patch(`GEMINI/risks/${reopened.key}`, { status: 'closed', closure_reason: 'Over.' });
  clock.set('2026-11-12T12:00:00Z');
  await patch(`APOLLO/risks/${rising.key}`, { probability: 5, impact: 5, reason: 'Late.' });
  await patch(`APOLLO/risks/${falling.key}`, { probability: 1 });
  await patch(`APOLLO/risks/${closed.key}`, { status: 'closed', closure_reason: 'Over.' });
  await patch(`GEMINI/risks/${reopened.key}`, { status: 'open', reason: 'Back.', probability: 5 });
  assert.equal(
    (await service.post(`/v1/projects/GEMINI/risks/${occurred.key}/materialize`, key, {})).status,
    201,
  );
  await add('GEMINI/risks', { title: 'New' });
  await add('APOLLO/tasks', { title: 'Later', risk_id: rising.id, due_on: '2026-12-24' });
  await add('APOLLO/tasks', { title: 'Next', risk_id: rising.id, due_on: '2026-11-20' });
  await add('APOLLO/tasks', { title: 'Done', risk_id: rising.id, due_on: '2026-11-19', status: 'done' });
  await add('APOLLO/issues', { title: 'Late', raised_on: '2026-11-01', due_on: '2026-11-11' });
  clock.set('2026-11-15T12:00:00Z');
  return { rising };
}

onBothEngines('reports', (start) => {
  test('contain the state of the portfolio and its changes, and stay as they are', async (t) => {
    const clock = settableClock('2026-11-10T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    const { rising } = await portfolio(service, key, clock);
    const apollo = (await service.get('/v1/projects/APOLLO', key)).body;
    const report = await service.make('/v1/reports', key, {
      title: 'November',
      since: '2026-11-10',
      audience: 'Board',
      length: 'one_page',
      sections: ['projects', 'top_risks'],
      commentary: 'All is well.',
      project_commentary: [{ project_id: apollo.id, text: 'On its way.' }],
      risk_commentary: [{ risk_id: rising.id, text: 'Escalated.' }],
    });
    assert.deepEqual(
      [report.day, report.since, report.sections, report.all_projects, report.project_ids.length],
      ['2026-11-15', '2026-11-10', ['top_risks', 'projects'], true, 2],
    );
    const path = `/v1/reports/${report.id}`;
    const { content, ...header } = (await service.get(path, key)).body;
    assert.deepEqual(header, report);
    assert.deepEqual(titles(content.top_risks), ['Rising', 'Reopened', 'Falling', 'New']);
    const [top] = content.top_risks;
    assert.deepEqual(
      [top.score, top.movement.score_then, top.movement.reason, top.response_plan, top.next_task.title],
      [25, 4, 'Late.', 'Watch it.', 'Next'],
    );
    assert.equal(content.top_risks[1].next_task, null);
    assert.deepEqual(titles(content.opportunities), ['Chance']);
    const changes = ['added', 'reopened', 'up', 'down', 'occurred', 'closed'].map((name) => {
      const { total, items } = content.changes[name];
      assert.equal(total, items.length);
      return titles(items);
    });
    assert.deepEqual(changes, [['New'], ['Reopened'], ['Rising'], ['Falling'], ['Occurred'], ['Closed']]);
    assert.deepEqual([content.register.before.total, content.register.after.total], [4, 4]);
    assert.deepEqual(
      [content.issues, titles(content.overdue_issues.items)],
      [{ open: 2, overdue: 1 }, ['Late']],
    );
    assert.deepEqual(content.dates.overdue, [{ kind: 'issue', count: 1 }]);
    assert.deepEqual(
      content.dates.next.map(({ day, kind, count }: Record<string, unknown>) => [day, kind, count]),
      [
        ['2026-11-20', 'task', 1],
        ['2026-12-24', 'task', 1],
      ],
    );
    assert.deepEqual(pluck(content.projects.items, 'key').sort(), ['APOLLO', 'GEMINI']);
    assert.equal(content.ranking.length, 4);
    const preview = await service.get('/v1/reports/preview?since=2026-11-10', key);
    assert.deepEqual(preview.body.data, content);

    await service.patch(`/v1/projects/APOLLO/risks/${rising.key}`, key, { title: 'Another title' });
    assert.equal((await service.get(path, key)).body.content.top_risks[0].title, 'Rising');
    assert.equal((await service.patch(path, key, { title: 'Other' })).status, 405);

    assert.deepEqual(pluck(await service.list(`${path}/history`, key), 'field', 'to'), [
      ['created', 'November'],
    ]);
    assert.equal((await service.delete(path, key)).status, 204);
    assert.equal((await service.get(path, key)).status, 404);
    const reader = await service.key('events.read', 'projects.read');
    const events = await service.list('/v1/events?types=report.created,report.deleted', reader);
    assert.deepEqual(pluck(events, 'type'), ['report.created', 'report.deleted']);
    assert.deepEqual((events[1] as { data: unknown }).data, report);
  });

  test('are visible only to those who see all of their projects', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of ['Apollo', 'Gemini']) {
      const { id } = await service.make('/v1/projects', key, { name });
      await service.make(`/v1/projects/${id}/risks`, key, { title: name, probability: 2, impact: 2 });
    }
    const body = { title: 'Both', since: '2026-01-01' };
    const both = await service.make('/v1/reports', key, body);
    const own = await service.make('/v1/reports', key, { ...body, title: 'Apollo', project: ['apollo'] });
    const limited = await service.limitedKey(['APOLLO']);
    assert.deepEqual(pluck(await service.list('/v1/reports', limited), 'title'), ['Apollo']);
    assert.deepEqual(pluck(await service.list('/v1/reports', key), 'title'), ['Apollo', 'Both']);
    for (const path of [`/v1/reports/${both.id}`, `/v1/reports/${both.id}/history`])
      assert.equal((await service.get(path, limited)).status, 404);
    assert.equal((await service.delete(`/v1/reports/${both.id}`, limited)).status, 404);
    assert.equal((await service.get(`/v1/reports/${own.id}`, limited)).status, 200);
    const mine = await service.make('/v1/reports', limited, { ...body, title: 'Mine' });
    const { content } = (await service.get(`/v1/reports/${mine.id}`, limited)).body;
    assert.deepEqual(titles(content.top_risks), ['Apollo']);
    assert.equal(mine.project_ids.length, 1);
    const reader = await service.key('projects.read');
    assert.equal((await service.post('/v1/reports', reader, body)).status, 403);
    assert.equal((await service.get(`/v1/reports/${both.id}`, reader)).status, 200);
    assert.equal((await service.get('/v1/reports', await service.key('personnel.manage'))).status, 403);
  });

  test('need a past day, projects, and comments on what they show', async (t) => {
    const { service, key } = await withKey(start(t));
    const body = { title: 'x', since: '2026-01-01' };
    const post = async (changes: object) => {
      const { status, body: problem } = await service.post('/v1/reports', key, { ...body, ...changes });
      return [status, problem.errors?.[0]?.pointer ?? problem.parameter];
    };
    assert.deepEqual(await post({}), [422, '#/project']);
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    const risk = await service.make(`/v1/projects/${id}/risks`, key, { title: 'x' });
    const other = await service.make('/v1/projects', key, { name: 'Gemini' });
    assert.deepEqual(await post({ since: '2999-01-01' }), [422, '#/since']);
    assert.deepEqual(await post({ project: ['NONE'] }), [422, '#/project']);
    assert.deepEqual(await post({ content: {} }), [422, '#/content']);
    assert.deepEqual(
      await post({ project: [id], project_commentary: [{ project_id: other.id, text: 'x' }] }),
      [422, '#/project_commentary/0'],
    );
    assert.deepEqual(
      await post({ project: [other.id], risk_commentary: [{ risk_id: risk.id, text: 'x' }] }),
      [422, '#/risk_commentary/0'],
    );
    const repeatable = () => service.post('/v1/reports', key, body, { 'idempotency-key': '1' });
    const stored = (await repeatable()).body;
    await service.database.write(async (db) => {
      const row = await db.selectFrom('reports').selectAll().executeTakeFirstOrThrow();
      const rows = Array.from({ length: maxReports - 1 }, (_, i) => ({ ...row, id: `${stored.id}${i}` }));
      await db.insertInto('reports').values(rows).execute();
    });
    assert.deepEqual(await post({}), [422, '#/project']);

    // The stored response is sent again, although nothing can be reported on any more.
    for (const project of ['APOLLO', 'GEMINI'])
      await service.post(`/v1/projects/${project}/archive`, key, undefined);
    assert.deepEqual(await post({}), [422, '#/project']);
    const repeated = await repeatable();
    assert.deepEqual([repeated.status, repeated.headers.get('idempotent-replayed')], [201, 'true']);
    assert.deepEqual(repeated.body, stored);
  });
});
