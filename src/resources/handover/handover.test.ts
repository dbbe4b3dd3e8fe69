import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, type Start, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

type Dataset = Awaited<ReturnType<typeof createDataset>>;

/** Ada has every kind of responsibility, in open, finished and archived form. */
async function createDataset(service: TestService) {
  const key = await service.key();
  const person = async (name: string, more: object = {}): Promise<string> =>
    (await service.make('/v1/personnel', key, { name, ...more })).user_id;
  const boss = await person('Boss');
  const ada = await person('Ada', { manager_user_id: boss });
  const bob = await person('Bob', { manager_user_id: ada });
  await person('Dan', { manager_user_id: ada });
  await person('Eve', { manager_user_id: ada, status: 'inactive' });
  await person('Bot', { kind: 'agent', accountable_user_id: ada, manager_user_id: ada });
  const group = async (name: string, lead_user_id: string | null, members: string[]): Promise<string> => {
    const { id } = await service.make('/v1/groups', key, { name, lead_user_id });
    await service.post(`/v1/groups/${id}/members`, key, { user_ids: members });
    return id;
  };
  const ops = await group('Ops', ada, [ada]);
  await group('Team', null, [ada, bob]);

  const create = (path: string, body: object) => service.make(`/v1/projects${path}`, key, body);
  await create('', { name: 'Apollo', lead_user_id: ada });
  await create('', { name: 'Gemini', lead_user_id: ada, status: 'completed' });
  await create('', { name: 'Old', lead_user_id: ada });
  for (const project of ['APOLLO', 'GEMINI', 'OLD']) {
    const add = (kind: string, body: object) => create(`/${project}/${kind}`, { title: 'x', ...body });
    await add('tasks', { assignee_user_id: ada });
    await add('tasks', { assignee_user_id: ada, status: 'done' });
    await add('tasks', { assignee_user_id: bob });
    await add('issues', { owner_user_id: ada, assignee_user_id: ada });
    await add('issues', { owner_user_id: ada, assignee_user_id: bob });
    await add('issues', { owner_user_id: bob, raised_by_user_id: ada });
    await add('risks', { owner_user_id: ada, probability: 2, impact: 3 });
    await add('risks', { raised_by_user_id: ada });
    const closed = await add('risks', { owner_user_id: ada });
    await service.patch(`/v1/projects/${project}/risks/${closed.key}`, key, {
      status: 'closed',
      closure_reason: 'Gone.',
    });
  }
  await service.post('/v1/projects/OLD/archive', key, undefined);
  return { key, boss, ada, bob, ops, service };
}

const carries = {
  tasks: 2,
  issues: 4,
  risks: 2,
  projects: 1,
  groups: 1,
  reports: 3,
  agents: 1,
  memberships: 2,
};
const none = Object.fromEntries(Object.keys(carries).map((kind) => [kind, 0]));
const archived = { tasks: 1, issues: 2, risks: 1, projects: 1 };

const deactivate = ({ service, key, ada }: Dataset, body?: object, headers?: Record<string, string>) =>
  service.post(`/v1/personnel/${ada}/deactivate`, key, body, headers);

/** All stored rows, with ids replaced by names so that two datasets compare equal. */
async function readRows({ service }: Dataset): Promise<Record<string, string[]>> {
  const tables = [
    'people',
    'groups',
    'projects',
    'risks',
    'issues',
    'tasks',
    'memberships',
    'past_risks',
    'history',
  ];
  const rows: Record<string, Record<string, unknown>[]> = {};
  const names = new Map<string, string>();
  for (const table of tables) {
    rows[table] = await service.database.db
      .selectFrom(table as 'people')
      .selectAll()
      .execute();
    for (const row of rows[table]) {
      const id = String(row.user_id ?? row.id);
      if (!names.has(id)) names.set(id, String(row.key ?? row.name ?? ''));
    }
  }
  const replaceIds = ({ key_id, ...row }: Record<string, unknown>) =>
    JSON.stringify(row).replace(/[a-z]{3}_[0-9a-v]{26}/g, (id) => names.get(id) ?? id.slice(0, 3));
  return Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.map(replaceIds).sort()]));
}

onBothEngines('a hand-over', (start: Start) => {
  test('a dry run changes nothing and reports what the hand-over then moves', async (t) => {
    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, ada, bob } = dataset;
    const before = await readRows(dataset);
    const shown = await deactivate(dataset, { handover_to_user_id: bob, dry_run: true });
    assert.equal(shown.status, 200);
    assert.deepEqual(await readRows(dataset), before);
    const { person, by_project, ...summary } = shown.body;
    assert.deepEqual(summary, {
      dry_run: true,
      handover_id: null,
      handover_to_user_id: bob,
      handover_to_group_id: null,
      carries,
      archived,
      moves: carries,
    });
    assert.equal(person.status, 'active');
    assert.deepEqual(
      by_project.map(({ project_id: _, ...project }: { project_id: string }) => project),
      [
        { project_key: 'APOLLO', project_name: 'Apollo', tasks: 1, issues: 2, risks: 1, projects: 1 },
        { project_key: 'GEMINI', project_name: 'Gemini', tasks: 1, issues: 2, risks: 1, projects: 0 },
      ],
    );
    const done = await deactivate(dataset, { handover_to_user_id: bob });
    assert.deepEqual(done.body.moves, carries);
    assert.equal(done.body.person.status, 'inactive');
    const left = await service.get(`/v1/personnel/${ada}/assignments`, key);
    assert.equal(left.body.page.total, 0);
    const again = await deactivate(dataset, { handover_to_user_id: bob });
    assert.deepEqual([again.status, again.body.carries, again.body.moves], [200, none, none]);
    assert.equal(again.body.person.version, done.body.person.version);
  });

  test('has the same result as single PATCH requests', async (t) => {
    const moved = await createDataset(await start(t, { clock }));
    await deactivate(moved, { handover_to_user_id: moved.bob, reason: 'Left.' });

    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, ada, bob, boss, ops } = dataset;
    const patch = (path: string, body: object) => service.patch(path, key, { ...body, reason: 'Left.' });
    const inProject = (project: string, ref: string, body: object) =>
      patch(`/v1/projects/${project}/${ref}`, body);
    for (const project of ['APOLLO', 'GEMINI']) {
      await inProject(project, `tasks/${project}-T1`, { assignee_user_id: bob });
      await inProject(project, `issues/${project}-I1`, { owner_user_id: bob, assignee_user_id: bob });
      await inProject(project, `issues/${project}-I2`, { owner_user_id: bob });
      await inProject(project, `risks/${project}-R1`, { owner_user_id: bob });
    }
    await patch('/v1/projects/APOLLO', { lead_user_id: bob });
    await patch(`/v1/groups/${ops}`, { lead_user_id: bob });
    // The successor is one of the person's reports and takes over the person's manager.
    await patch(`/v1/personnel/${bob}`, { manager_user_id: boss });
    const data = await service.list(`/v1/personnel?manager_user_id=${ada}&status=active`, key);
    for (const { user_id, name } of data) {
      await patch(`/v1/personnel/${user_id}`, {
        manager_user_id: bob,
        ...(name === 'Bot' && { accountable_user_id: bob }),
      });
    }
    const groups = (await service.get(`/v1/personnel/${ada}`, key)).body.groups;
    for (const { id } of groups) {
      await service.call('PUT', `/v1/groups/${id}/members/${bob}`, key);
      await service.delete(`/v1/groups/${id}/members/${ada}`, key);
    }
    await patch(`/v1/personnel/${ada}`, { status: 'inactive' });

    const [one, other] = [await readRows(moved), await readRows(dataset)];
    // The history of the person also says who took over.
    const isHandover = (row: string) => row.includes('"field":"handover_to_user_id"');
    assert.equal(one.history?.filter(isHandover).length, 1);
    one.history = one.history?.filter((row) => !isHandover(row)) ?? [];
    const withoutReason = (rows: string[] = []) =>
      rows.map((row) => (/"field":"(member|group)"/.test(row) ? row.replace('"Left."', 'null') : row)).sort();
    for (const table of Object.keys(one)) {
      assert.deepEqual(withoutReason(one[table]), withoutReason(other[table]), table);
    }
  });

  test('moves owned risks and issues to a group and everything else to a person', async (t) => {
    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, bob } = dataset;
    const team = await service.make('/v1/groups', key, { name: 'Successors' });
    const rejected = await deactivate(dataset, { handover_to_group_id: team.id });
    assert.deepEqual([rejected.status, rejected.body.errors[0].pointer], [422, '#/handover_to_user_id']);
    for (const need of ['2 tasks', '2 issues as assignee', '1 projects as lead', '3 reports']) {
      assert.ok(rejected.body.detail.includes(need), rejected.body.detail);
    }
    const both = await deactivate(dataset, { handover_to_group_id: team.id, handover_to_user_id: bob });
    assert.deepEqual(both.body.moves, carries);
    const issue = (await service.get('/v1/projects/APOLLO/issues/APOLLO-I1', key)).body;
    assert.deepEqual(
      [issue.owner_user_id, issue.owner_group_id, issue.assignee_user_id, issue.version],
      [null, team.id, bob, 2],
    );
    const data = await service.list(`/v1/projects/APOLLO/issues/APOLLO-I1/history`, key);
    assert.deepEqual(pluck(data.slice(1), 'field', 'to'), [
      ['owner_user_id', null],
      ['owner_group_id', team.id],
      ['assignee_user_id', bob],
    ]);
    assert.equal((await service.get(`/v1/risks?owner_group_id=${team.id}`, key)).body.page.total, 2);
  });

  test('to a group alone keeps the memberships of the person', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    const ada = (await service.make('/v1/personnel', key, { name: 'Ada' })).user_id;
    const ops = await service.make('/v1/groups', key, { name: 'Ops' });
    await service.call('PUT', `/v1/groups/${ops.id}/members/${ada}`, key);
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', owner_user_id: ada });
    const body = { handover_to_group_id: ops.id };
    const path = `/v1/personnel/${ada}/deactivate`;
    const shown = await service.post(path, key, { ...body, dry_run: true });
    assert.deepEqual(shown.body.moves, { ...none, risks: 1 });
    assert.deepEqual((await service.post(path, key, body)).body.moves, shown.body.moves);
    assert.equal((await service.get(`/v1/personnel/${ada}`, key)).body.groups.length, 1);
  });

  test('without a successor moves nothing and marks the assignments; reactivation changes only the status', async (t) => {
    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, ada, bob } = dataset;
    const left = await deactivate(dataset);
    assert.deepEqual([left.status, left.body.carries, left.body.moves], [200, carries, none]);
    assert.equal((await service.get('/v1/risks?check=owner_inactive', key)).body.page.total, 2);
    const issue = (await service.get('/v1/projects/APOLLO/issues/APOLLO-I1', key)).body;
    assert.deepEqual([issue.owner_active, issue.assignee_active], [false, false]);
    const task = (await service.get('/v1/projects/APOLLO/tasks/APOLLO-T1', key)).body;
    assert.deepEqual([task.assignee_active, task.version], [false, 1]);
    const found = async (query: string) => (await service.get(query, key)).body.page.total;
    assert.equal(await found('/v1/issues?owner_active=false'), 4);
    assert.equal(await found('/v1/issues?owner_active=true'), 2);
    assert.equal(await found('/v1/issues?assignee_active=false'), 2);
    assert.equal(await found('/v1/tasks?assignee_active=false'), 2);
    assert.equal(await found('/v1/tasks?assignee_active=true'), 2);

    const moved = await deactivate(dataset, { handover_to_user_id: bob });
    assert.deepEqual(moved.body.moves, carries);
    const back = await service.post(`/v1/personnel/${ada}/reactivate`, key, { reason: 'Came back.' });
    assert.deepEqual([back.status, back.body.status, back.body.assignable], [200, 'active', true]);
    assert.equal(await found(`/v1/personnel/${ada}/assignments`), 0);
    const data = await service.list(`/v1/personnel/${ada}/history`, key);
    const statuses = data.filter(({ field }: { field: string }) => field === 'status');
    assert.deepEqual(pluck(statuses, 'from', 'to', 'reason'), [
      ['active', 'inactive', null],
      ['inactive', 'active', 'Came back.'],
    ]);
  });

  test('rejects an unsuitable successor and moves nothing', async (t) => {
    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, ada } = dataset;
    const create = async (body: object): Promise<string> =>
      (await service.make('/v1/personnel', key, body)).user_id;
    const gone = await create({ name: 'Gone', status: 'inactive' });
    const later = await create({ name: 'Later', start_on: '2027-01-01' });
    const contractor = await create({ name: 'Contractor', kind: 'external' });
    const before = await readRows(dataset);
    const rejected: [string, string][] = [
      [ada, 'same_person'],
      [gone, 'not_assignable'],
      [later, 'not_assignable'],
      [contractor, 'not_human'],
      [`usr_${'0'.repeat(26)}`, 'unknown_reference'],
    ];
    for (const [handover_to_user_id, code] of rejected) {
      for (const dry_run of [true, false]) {
        const response = await deactivate(dataset, { handover_to_user_id, dry_run });
        assert.equal(response.status, 422, code);
        assert.deepEqual(
          response.body.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code]),
          [['#/handover_to_user_id', code]],
        );
      }
    }
    const unknownGroup = await deactivate(dataset, { handover_to_group_id: `grp_${'0'.repeat(26)}` });
    assert.equal(unknownGroup.body.errors[0].code, 'unknown_reference');
    const stale = await deactivate(dataset, {}, { 'if-match': '"77"' });
    assert.equal(stale.status, 412);
    assert.deepEqual(await readRows(dataset), before);
  });

  test('creates no manager cycle when the successor is below the person', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage', 'projects.manage');
    const create = async (name: string, manager_user_id: string | null): Promise<string> =>
      (await service.make('/v1/personnel', key, { name, manager_user_id })).user_id;
    const boss = await create('Boss', null);
    const ada = await create('Ada', boss);
    const middle = await create('Middle', ada);
    const low = await create('Low', middle);
    const response = await service.post(`/v1/personnel/${ada}/deactivate`, key, { handover_to_user_id: low });
    assert.equal(response.body.moves.reports, 1);
    const managerOf = async (id: string) =>
      (await service.get(`/v1/personnel/${id}`, key)).body.manager_user_id;
    assert.deepEqual([await managerOf(middle), await managerOf(low)], [low, boss]);
  });

  test('of two people to each other at the same time succeeds once', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage', 'projects.manage');
    for (let round = 0; round < 10; round++) {
      const [one, other] = await Promise.all([
        service.make('/v1/personnel', key, { name: 'One' }),
        service.make('/v1/personnel', key, { name: 'Other' }),
      ]);
      const responses = await Promise.all([
        service.post(`/v1/personnel/${one.user_id}/deactivate`, key, { handover_to_user_id: other.user_id }),
        service.post(`/v1/personnel/${other.user_id}/deactivate`, key, { handover_to_user_id: one.user_id }),
      ]);
      assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 422]);
    }
  });
});

onBothEngines('assignments', (start: Start) => {
  test('are listed with every role, earliest due date first, and need projects.read', async (t) => {
    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, ada } = dataset;
    await service.make('/v1/projects/APOLLO/tasks', key, {
      title: 'Soon',
      assignee_user_id: ada,
      due_on: '2026-12-01',
    });
    const reader = await service.key('projects.read');
    const path = `/v1/personnel/${ada}/assignments`;
    const list = async (query = '') => {
      const { body } = await service.get(`${path}${query}`, reader);
      return body.data.map(({ role, key }: { role: string; key: string }) => `${role} of ${key}`);
    };
    assert.deepEqual(await list(), [
      'assignee of APOLLO-T4',
      ...(await list('?type=issue')),
      ...['lead of APOLLO', 'owner of APOLLO-R1', 'owner of GEMINI-R1'],
      ...['assignee of APOLLO-T1', 'assignee of GEMINI-T1'],
    ]);
    assert.deepEqual(await list('?type=issue&project=APOLLO'), [
      'assignee of APOLLO-I1',
      'owner of APOLLO-I1',
      'owner of APOLLO-I2',
    ]);
    assert.deepEqual(await list('?role=lead&archived=any'), ['lead of APOLLO', 'lead of OLD']);
    assert.equal((await list('?archived=true')).length, 6);
    const pages = [];
    for (let query = '?limit=4'; query; ) {
      const { body } = await service.get(`${path}${query}`, reader);
      pages.push(...body.data);
      query = body.page.next_cursor ? `?limit=4&cursor=${body.page.next_cursor}` : '';
    }
    assert.deepEqual(pages, await service.list(path, reader));
    assert.deepEqual(pages[0], {
      type: 'task',
      role: 'assignee',
      id: pages[0].id,
      key: 'APOLLO-T4',
      title: 'Soon',
      project_id: pages[0].project_id,
      project_key: 'APOLLO',
      project_name: 'Apollo',
      status: 'todo',
      due_on: '2026-12-01',
    });
    const { body: load } = await service.get(
      `/v1/personnel/load?user_ids=${ada},usr_${'0'.repeat(26)}`,
      reader,
    );
    // An issue that a person owns and is assigned to counts once.
    assert.deepEqual(
      load.data.map(({ open, overdue }: { open: number; overdue: number }) => [open, overdue]),
      [
        [10, 0],
        [0, 0],
      ],
    );
    assert.equal((await service.get(path, await service.key('personnel.manage'))).status, 403);
    assert.equal((await service.get(`/v1/personnel/usr_${'0'.repeat(26)}/assignments`, reader)).status, 404);
    assert.equal((await service.get(`${path}?project=NOPE`, reader)).status, 400);

    const { user_id } = await service.make('/v1/personnel', key, { name: 'Gone soon' });
    const empty = `/v1/personnel/${user_id}/assignments`;
    assert.equal((await service.get(empty, reader)).status, 200);
    await service.delete(`/v1/personnel/${user_id}`, key);
    assert.equal((await service.get(empty, reader)).status, 404);
  });
});
