import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, onSqlite, pluck, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));
const kinds = ['risks', 'issues', 'tasks'] as const;
const nobody = `usr_${'0'.repeat(26)}`;

onBothEngines('risks, issues and tasks', (start) => {
  test('follow the same rules when they are created and when they are changed', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    for (const kind of kinds) await service.make(`/v1/projects/APOLLO/${kind}`, key, { title: 'x' });
    const make = (path: string, body: object) => service.make(path, key, body);
    const { user_id: ada } = await make('/v1/personnel', { name: 'Ada' });
    const { user_id: gone } = await make('/v1/personnel', { name: 'Gone', status: 'inactive' });
    const { user_id: later } = await make('/v1/personnel', { name: 'Later', start_on: '2027-01-01' });
    const { id: ops } = await make('/v1/groups', { name: 'Ops' });
    const { id: risk_id } = await make('/v1/projects/GEMINI/risks', { title: 'x' });
    const { id: issue_id } = await make('/v1/projects/GEMINI/issues', { title: 'x' });
    for (const [kind, body, error, detail = /./] of [
      ['risks', { score: 25 }, '#/score unknown_field'],
      ['risks', { owner_user_id: nobody }, '#/owner_user_id unknown_reference'],
      ['risks', { owner_user_id: ada, owner_group_id: ops }, '#/owner_group_id two_owners'],
      ['risks', { due_on: '2026-11-14' }, '#/due_on date_order'],
      ['risks', { residual_probability: 2, residual_impact: 2 }, '#/residual_probability above_current'],
      ['issues', { assignee_user_id: gone }, '#/assignee_user_id not_assignable', /Gone/],
      ['issues', { assignee_user_id: later }, '#/assignee_user_id not_assignable', /Later/],
      ['issues', { owner_user_id: ada, owner_group_id: ops }, '#/owner_group_id two_owners'],
      ['issues', { risk_id }, '#/risk_id unknown_reference'],
      ['tasks', { assignee_user_id: nobody }, '#/assignee_user_id unknown_reference'],
      ['tasks', { assignee_user_id: gone }, '#/assignee_user_id not_assignable', /Gone/],
      ['tasks', { assignee_user_id: later }, '#/assignee_user_id not_assignable', /Later/],
      ['tasks', { risk_id }, '#/risk_id unknown_reference'],
      ['tasks', { issue_id }, '#/issue_id unknown_reference'],
      ['tasks', { start_on: '2026-12-02', due_on: '2026-12-01' }, '#/due_on date_order'],
    ] as [string, object, string, RegExp?][]) {
      const ratings = kind === 'risks' ? { probability: 1, impact: 2 } : {};
      const path = `/v1/projects/APOLLO/${kind}`;
      const id = `APOLLO-${kind.charAt(0).toUpperCase()}1`;
      for (const response of [
        await service.post(path, key, { title: 'x', ...ratings, ...body }),
        await service.patch(`${path}/${id}`, key, { ...ratings, ...body }),
      ]) {
        const errors = pluck(response.body.errors, 'pointer', 'code').map((found) => found.join(' '));
        assert.deepEqual([response.status, errors], [422, [error]], `${kind} ${JSON.stringify(body)}`);
        assert.match(response.body.detail, detail);
      }
    }
    await make('/v1/projects/GEMINI/tasks', { title: 'x', risk_id, issue_id });
  });

  test('keep an assignee who has become inactive, and who cannot be assigned again', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const paths = ['/v1/projects/APOLLO/issues', '/v1/projects/APOLLO/tasks'];
    for (const path of paths) await service.make(path, key, { title: 'x', assignee_user_id: user_id });
    await service.patch(`/v1/personnel/${user_id}`, key, { status: 'inactive' });
    for (const path of paths) {
      const [{ id }] = await service.list(path, key);
      const patch = (body: object) => service.patch(`${path}/${id}`, key, body);
      const { status, body } = await patch({ title: 'y', assignee_user_id: user_id });
      assert.deepEqual([status, body.title, body.assignee_active], [200, 'y', false], path);
      await patch({ assignee_user_id: null });
      assert.equal((await patch({ assignee_user_id: user_id })).status, 422, path);
    }
  });

  test('have an external id of their own in their project', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    for (const kind of kinds) {
      const path = `/v1/projects/APOLLO/${kind}`;
      const body = { title: 'x', external_id: 'x-1' };
      const { id } = await service.make(path, key, body);
      const other = await service.make(path, key, { title: 'x' });
      for (const { status, body: problem } of [
        await service.post(path, key, body),
        await service.patch(`${path}/${other.id}`, key, { external_id: 'x-1' }),
      ]) {
        assert.deepEqual([status, problem.code, problem.existing_id], [409, 'duplicate', id], kind);
      }
      await service.make(`/v1/projects/GEMINI/${kind}`, key, body);
    }
  });

  test('of an archived project cannot change, and are left out of lists by default', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const kind of kinds) await service.make(`/v1/projects/APOLLO/${kind}`, key, { title: 'x' });
    assert.equal((await service.post('/v1/projects/APOLLO/archive', key, undefined)).status, 200);
    for (const kind of kinds) {
      const path = `/v1/projects/APOLLO/${kind}`;
      const item = `${path}/APOLLO-${kind.charAt(0).toUpperCase()}1`;
      for (const response of [
        await service.post(path, key, { title: 'y' }),
        await service.patch(item, key, { title: 'y' }),
        await service.delete(item, key),
        ...(kind === 'risks' ? [await service.post(`${item}/materialize`, key, {})] : []),
      ]) {
        assert.deepEqual([response.status, response.body.code], [409, 'project_archived'], kind);
      }
      const found = async (query: string) => (await service.get(`/v1/${kind}${query}`, key)).body.page.total;
      assert.deepEqual(
        [await found(''), await found('?archived=true'), await found('?archived=any')],
        [0, 1, 1],
      );
    }
    await service.post('/v1/projects/APOLLO/unarchive', key, undefined);
    const next = await service.make('/v1/projects/APOLLO/tasks', key, { title: 'y' });
    assert.equal(next.key, 'APOLLO-T2');
  });

  test('are found by each filter', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    const filters = expectedTitles(await makeFilterable(service, key));
    for (const [kind, expected] of Object.entries(filters)) {
      for (const [query, titles] of Object.entries(expected))
        assert.deepEqual(pluck(await service.list(`/v1/${kind}?${query}`, key), 'title'), titles, query);
    }
  });

  test('are sorted by relevance for a search, with pages, in every list across projects', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    for (const project of ['PIPE', 'OTHER'])
      await service.make('/v1/projects', key, { key: project, name: project });
    const titles = {
      described: { title: 'Leak', description: 'In the pipe below' },
      inside: { title: 'A windpipe is blocked' },
      word: { title: 'Große Straße: Pipe' },
      start: { title: 'Pîpe of the cooling' },
    };
    for (const [list, rank] of [
      ['risks', { probability: 5, impact: 5 }],
      ['issues', { severity: 'critical' }],
      ['tasks', { due_on: '2020-01-01' }],
    ] as const) {
      for (const [i, item] of Object.values(titles).entries()) {
        // The worse the match, the higher the item is in the default order.
        await service.make(`/v1/projects/OTHER/${list}`, key, { ...item, ...(i < 3 && rank) });
      }
      await service.make(`/v1/projects/PIPE/${list}`, key, { title: 'Found by its key' });
      const found = async (query: string) => {
        const { status, body } = await service.get(`/v1/${list}?${query}`, key);
        assert.equal(status, 200, JSON.stringify(body));
        return { titles: pluck(body.data, 'title'), page: body.page };
      };
      const expected = [
        'Found by its key',
        titles.start.title,
        titles.word.title,
        titles.inside.title,
        titles.described.title,
      ];
      assert.notDeepEqual((await found('q=PIPE&search=all')).titles, expected);
      assert.deepEqual((await found('q=PIPE&search=all&sort=relevance')).titles, expected);
      assert.deepEqual((await found('q=PIPE&sort=relevance')).titles, expected.slice(0, -1));
      const first = await found('q=pipe&search=all&sort=relevance&limit=2');
      const rest = await found(`q=pipe&search=all&sort=relevance&limit=3&cursor=${first.page.next_cursor}`);
      assert.deepEqual([...first.titles, ...rest.titles], expected);
      // The keys of the last of them start with the key of the first, and they are higher in the default order.
      for (let number = 2; number <= 11; number++)
        await service.make(`/v1/projects/PIPE/${list}`, key, { title: `Number ${number}`, ...rank });
      const firstKey = `PIPE-${list.charAt(0)}1`;
      assert.equal((await found(`q=${firstKey}&sort=relevance`)).titles[0], 'Found by its key');
      const without = await service.get(`/v1/${list}?sort=relevance`, key);
      assert.equal(without.status, 400);
      assert.match(without.body.errors[0].detail, /needs `q`/);
      const lone = await service.get(`/v1/${list}?search=all`, key);
      assert.deepEqual([lone.status, lone.body.errors[0].parameter], [400, 'search']);
    }
  });
});

onSqlite('risks, issues and tasks', (start) => {
  test('are found by two filters if each of them finds them', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    const filters = expectedTitles(await makeFilterable(service, key));
    for (const [kind, expected] of Object.entries(filters)) {
      // Not with `status`, which replaces a filter that applies by default.
      const single = Object.entries(expected).filter(([query]) => !/&|^status=/.test(query));
      for (const [one, foundByOne] of single) {
        for (const [other, foundByOther] of single) {
          if (nameOf(one) >= nameOf(other)) continue;
          const both = foundByOne.filter((title) => foundByOther.includes(title));
          const query = `${one}&${other}`;
          const { status, body } = await service.get(`/v1/${kind}?${query}`, key);
          // The API rejects filters that exclude each other, such as a high level with a low score.
          if (status === 400) assert.deepEqual([body.code, both], ['invalid_parameter', []], query);
          else assert.deepEqual(pluck(body.data, 'title'), both, query);
        }
      }
    }
  });
});

const nameOf = (query: string) => query.split('=')[0] ?? '';

type Dataset = Awaited<ReturnType<typeof makeFilterable>>;

/** The titles of the items that each filter finds, in the order of the list. */
const expectedTitles = ({ ada, ops, risk, issue }: Dataset): Record<string, Record<string, string[]>> => ({
  risks: {
    'project=GEMINI': ['plain'],
    'project_status=planned': ['plain'],
    'status=mitigating': ['full'],
    'status=closed': ['closed'],
    'status=closed,mitigating': ['full', 'closed'],
    'status=active,closed': ['full', 'plain', 'closed', 'unassessed'],
    'status=all': ['full', 'plain', 'closed', 'unassessed'],
    'level=critical,high': ['full'],
    'min_score=7': ['full'],
    'max_score=6': ['plain'],
    'probability=5': ['full'],
    'impact=3,4': ['full', 'plain'],
    'kind=opportunity': ['plain'],
    'category=supply': ['full'],
    'strategy=avoid': ['full'],
    [`owner_user_id=${ada}`]: ['full'],
    [`owner_group_id=${ops}`]: ['plain'],
    'unowned=true': ['unassessed'],
    'unowned=false': ['full', 'plain'],
    'assessed=true': ['full', 'plain'],
    'assessed=false': ['unassessed'],
    'above_appetite=true': ['full'],
    'above_appetite=false': ['plain', 'unassessed'],
    'review_overdue=true': ['full'],
    'review_overdue=false': ['plain', 'unassessed'],
    'check=no_response_plan': ['full', 'unassessed'],
    'due_before=2027-01-02': ['full'],
    'due_after=2027-01-01': ['plain'],
    'review_before=2026-11-15': ['full'],
    'review_after=2026-11-14': ['plain'],
    'raised_since=2026-11-15': ['full', 'unassessed'],
    'updated_since=2026-11-15T12:00:00.001Z': [],
    'external_id=x-1': ['full'],
    'q=geheimnisvoll': [],
    'q=geheimnisvoll&search=all': ['full'],
    'q=FULL': ['full'],
    'q=GEMINI-R1': ['plain'],
  },
  issues: {
    'project=GEMINI': ['plain'],
    'project_status=planned': ['plain'],
    'status=blocked': ['full'],
    'severity=critical,high': ['full'],
    'priority=urgent': ['full'],
    [`assignee_user_id=${ada}`]: ['full'],
    [`owner_user_id=${ada}`]: ['full'],
    [`owner_group_id=${ops}`]: ['plain'],
    'unassigned=true': ['plain'],
    'overdue=true': ['full'],
    'overdue=false': ['plain'],
    'due_before=2026-11-15': ['full'],
    'due_after=2026-11-14': ['plain'],
    'min_age_days=15': [],
    'min_age_days=14': ['full'],
    [`risk_id=${risk}`]: ['full'],
    'raised_since=2026-11-02': ['plain'],
    'updated_since=2026-11-15T12:00:00Z&severity=medium': ['plain'],
    'external_id=x-1': ['full'],
    'q=apollo-i1': ['full'],
  },
  tasks: {
    'project=GEMINI': ['plain'],
    'project_status=planned': ['plain'],
    'status=blocked': ['full'],
    'status=all': ['done', 'full', 'plain'],
    'status=open,done': ['done', 'full', 'plain'],
    'kind=mitigation,resolution': ['full'],
    [`assignee_user_id=${ada}`]: ['full'],
    'unassigned=true': ['plain'],
    'unassigned=false': ['full'],
    'overdue=true': ['full'],
    'overdue=false&status=all': ['done', 'plain'],
    [`risk_id=${risk}`]: ['full'],
    [`issue_id=${issue}`]: ['full'],
    'due_before=2026-11-15': ['full'],
    'due_after=2026-11-14': ['plain'],
    'updated_since=2026-11-15T12:00:00Z': ['plain'],
    'external_id=x-1': ['full'],
    'q=apollo-t1': ['full'],
    'q=VALVES&search=all': ['full'],
  },
});

/** Of each kind, an item with all fields and one with few in an active and in a planned project, and others. */
async function makeFilterable(service: TestService, key: string) {
  const make = (path: string, body: object) => service.make(path, key, body);
  const ada = (await make('/v1/personnel', { name: 'Ada' })).user_id;
  const ops = (await make('/v1/groups', { name: 'Ops' })).id;
  await make('/v1/projects', { name: 'Apollo' });
  await make('/v1/projects', { name: 'Gemini', status: 'planned' });
  const full = { title: 'full', external_id: 'x-1' };
  const apollo = '/v1/projects/APOLLO';
  const gemini = '/v1/projects/GEMINI';
  const { id: risk } = await make(`${apollo}/risks`, {
    ...full,
    description: 'Geheimnisvöll',
    category: 'supply',
    probability: 5,
    impact: 4,
    residual_probability: 1,
    residual_impact: 1,
    status: 'mitigating',
    strategy: 'avoid',
    owner_user_id: ada,
    due_on: '2027-01-01',
    review_on: '2026-11-14',
  });
  await make(`${gemini}/risks`, {
    title: 'plain',
    kind: 'opportunity',
    response_plan: 'Ask.',
    probability: 2,
    impact: 3,
    owner_group_id: ops,
    raised_on: '2026-11-01',
    due_on: '2027-01-02',
    review_on: '2026-11-15',
  });
  await make(`${apollo}/risks`, { title: 'unassessed' });
  const closed = await make(`${apollo}/risks`, { title: 'closed', probability: 1, impact: 1 });
  await service.patch(`${apollo}/risks/${closed.id}`, key, { status: 'closed', closure_reason: 'Gone.' });

  const { id: issue } = await make(`${apollo}/issues`, {
    ...full,
    severity: 'critical',
    priority: 'urgent',
    status: 'blocked',
    owner_user_id: ada,
    assignee_user_id: ada,
    raised_on: '2026-11-01',
    due_on: '2026-11-14',
    risk_id: risk,
  });
  const plain = { title: 'plain', owner_group_id: ops, raised_on: '2026-11-02', due_on: '2026-11-15' };
  await make(`${gemini}/issues`, plain);

  const task = await make(`${apollo}/tasks`, {
    ...full,
    description: 'Two more valves',
    kind: 'mitigation',
    status: 'blocked',
    assignee_user_id: ada,
    due_on: '2026-11-14',
    risk_id: risk,
    issue_id: issue,
  });
  await make(`${gemini}/tasks`, { title: 'plain', due_on: '2026-11-15' });
  await make(`${apollo}/tasks`, { title: 'done', status: 'done', due_on: '2026-11-01' });
  const updated_at = '2026-11-15T11:59:59.999Z';
  await service.database.write((db) =>
    db.updateTable('tasks').set({ updated_at }).where('id', '=', task.id).execute(),
  );
  return { ada, ops, risk, issue };
}
