import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type Start, type TestService, withKey } from '../../../test/service.ts';
import { deleteOldHistory } from '../../jobs/history-retention.ts';

/** Ada leads Apollo and a group, manages Dan, and has work in two projects. Bob and Eve can take over. */
async function createDataset(service: TestService) {
  const key = await service.key();
  const make = (path: string, body: object) => service.make(path, key, body);
  const person = async (name: string, more: object = {}): Promise<string> =>
    (await make('/v1/personnel', { name, ...more })).user_id;
  const ada = await person('Ada');
  const bob = await person('Bob');
  const eve = await person('Eve');
  const dan = await person('Dan', { manager_user_id: ada });
  const ops = (await make('/v1/groups', { name: 'Ops', lead_user_id: ada })).id as string;
  await service.post(`/v1/groups/${ops}/members`, key, { user_ids: [ada] });
  const apollo = (await make('/v1/projects', { name: 'Apollo', lead_user_id: ada })).id as string;
  const gemini = (await make('/v1/projects', { name: 'Gemini' })).id as string;
  for (const project of ['APOLLO', 'GEMINI']) {
    const at = `/v1/projects/${project}`;
    await make(`${at}/tasks`, { title: `${project} task`, assignee_user_id: ada });
    await make(`${at}/issues`, { title: `${project} issue`, owner_user_id: ada, assignee_user_id: ada });
    await make(`${at}/risks`, { title: `${project} risk`, owner_user_id: ada, probability: 2, impact: 2 });
  }
  const get = async (path: string) => (await service.get(path, key)).body;
  const handOver = async (body: object) =>
    (await service.post(`/v1/personnel/${ada}/deactivate`, key, body)).body;
  const undo = (id: string, secret = key, body: object = {}) =>
    service.post(`/v1/personnel/${ada}/handovers/${id}/undo`, secret, body);
  return { service, key, ada, bob, eve, dan, ops, apollo, gemini, get, handOver, undo };
}

onBothEngines('changes of everything that somebody has', (start) => {
  test('do not run in the thread that serves requests on SQLite', async (t) => {
    const { service, key, bob, ops, handOver, undo } = await createDataset(await start(t));
    const { write } = service.database;
    const workloads: unknown[] = [];
    t.mock.method(service.database, 'write', (...args: Parameters<typeof write>) => {
      workloads.push(args[1]);
      return write(...args);
    });
    const { handover_id } = await handOver({ handover_to_user_id: bob });
    assert.equal((await undo(handover_id)).status, 200);
    await service.delete(`/v1/groups/${ops}`, key);
    assert.deepEqual(workloads, ['long', 'long', 'long']);
  });
});

/** Who is responsible for what. */
async function readResponsible({ get, dan, ops }: Awaited<ReturnType<typeof createDataset>>) {
  const found: Record<string, unknown> = {};
  for (const project of ['APOLLO', 'GEMINI']) {
    const at = `/v1/projects/${project}`;
    const issue = await get(`${at}/issues/${project}-I1`);
    found[project] = [
      (await get(`${at}/tasks/${project}-T1`)).assignee_user_id,
      issue.owner_user_id,
      issue.owner_group_id,
      issue.assignee_user_id,
      (await get(`${at}/risks/${project}-R1`)).owner_user_id,
      (await get(at)).lead_user_id,
    ];
  }
  found.lead = (await get(`/v1/groups/${ops}`)).lead_user_id;
  found.members = pluck((await get(`/v1/groups/${ops}/members`)).data, 'user_id');
  found.manager = (await get(`/v1/personnel/${dan}`)).manager_user_id;
  return found;
}

onBothEngines('undoing a hand-over', (start: Start) => {
  test('gives everything back, activates the person, and lists what has moved', async (t) => {
    const dataset = await createDataset(await start(t));
    const { service, key, ada, bob, get, handOver, undo } = dataset;
    const before = await readResponsible(dataset);
    const { handover_id, moves } = await handOver({ handover_to_user_id: bob, reason: 'Leaves.' });
    assert.deepEqual(
      { ...moves },
      { tasks: 2, issues: 2, risks: 2, projects: 1, groups: 1, reports: 1, agents: 0, memberships: 1 },
    );
    assert.notDeepEqual(await readResponsible(dataset), before);

    const [listed] = await service.list(`/v1/personnel/${ada}/handovers`, key);
    assert.deepEqual(
      [listed.id, listed.items, listed.reason, listed.to_user_ids, listed.undone_at],
      [handover_id, 10, 'Leaves.', [bob], null],
    );
    const path = `/v1/personnel/${ada}/handovers/${handover_id}/items`;
    const items = await service.list(path, key);
    assert.deepEqual(pluck(items, 'type', 'key', 'title').slice(0, 2), [
      ['task', 'APOLLO-T1', 'APOLLO task'],
      ['task', 'GEMINI-T1', 'GEMINI task'],
    ]);
    assert.deepEqual(items[0].changes, [{ field: 'assignee_user_id', from: ada, to: bob }]);
    const types = pluck(await service.list(`${path}?type=group,person,membership`, key), 'type', 'title');
    assert.deepEqual(types, [
      ['group', 'Ops'],
      ['person', 'Dan'],
      ['membership', 'Ops'],
    ]);

    const undone = await undo(handover_id);
    assert.equal(undone.status, 200);
    const { handover, left_items, person } = undone.body;
    assert.deepEqual([handover.restored, handover.left, left_items, person.status], [10, 0, [], 'active']);
    assert.notEqual(handover.undone_at, null);
    assert.deepEqual(await readResponsible(dataset), before);
    assert.equal((await service.list(`${path}?outcome=restored`, key)).length, 10);
    const history = await service.list(`/v1/personnel/${ada}/history`, key);
    const taken = history.filter(({ field }: { field: string }) => field === 'handover_to_user_id');
    assert.deepEqual(pluck(taken, 'from', 'to'), [
      [null, bob],
      [bob, null],
    ]);
    const ofRisk = await service.list('/v1/projects/APOLLO/risks/APOLLO-R1/history', key);
    assert.equal(ofRisk.at(-1).reason, 'Undid the hand-over of Ada.');
    assert.equal((await get('/v1/projects/APOLLO/risks/APOLLO-R1')).version, 3);

    const again = await undo(handover_id);
    assert.deepEqual([again.status, again.body.handover], [200, handover]);
    assert.equal((await get('/v1/projects/APOLLO/risks/APOLLO-R1')).version, 3);
  });

  test('leaves what has changed since, is archived or deleted, and says so', async (t) => {
    const dataset = await createDataset(await start(t));
    const { service, key, ada, bob, eve, dan, ops, handOver, undo } = dataset;
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'Second', assignee_user_id: ada });
    const { handover_id } = await handOver({ handover_to_user_id: bob });
    await service.patch('/v1/projects/APOLLO/risks/APOLLO-R1', key, { title: 'Worked on' });
    await service.delete('/v1/projects/APOLLO/tasks/APOLLO-T1', key);
    await service.post('/v1/projects/GEMINI/archive', key, undefined);
    await service.patch(`/v1/personnel/${dan}`, key, { manager_user_id: eve });
    await service.delete(`/v1/groups/${ops}/members/${bob}`, key);
    const { handover, left_items } = (await undo(handover_id)).body;
    assert.deepEqual(
      left_items.map((item: { type: string; key: string; left_because: string }) =>
        [item.type, item.key, item.left_because].join(' '),
      ),
      [
        'task  deleted',
        'task GEMINI-T1 archived',
        'issue GEMINI-I1 archived',
        'risk APOLLO-R1 changed',
        'risk GEMINI-R1 archived',
        'person  changed',
        'membership  changed',
      ].map((line) => line),
    );
    assert.deepEqual([handover.items, handover.restored, handover.left], [11, 4, 7]);
  });

  test('leaves a person inactive who was activated and deactivated again since', async (t) => {
    const clock = settableClock('2026-01-01T12:00:00Z');
    const dataset = await createDataset(await start(t, { clock }));
    const { service, key, ada, bob, handOver, undo, get } = dataset;
    const path = `/v1/personnel/${ada}`;
    const first = await handOver({ handover_to_user_id: bob });
    clock.set('2026-01-02T12:00:00Z');
    await service.patch(path, key, { status: 'active' });
    clock.set('2026-01-03T12:00:00Z');
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'Later', assignee_user_id: ada });
    const second = await handOver({ handover_to_user_id: bob });
    const { handover, person } = (await undo(first.handover_id)).body;
    assert.deepEqual([handover.left, person.status], [0, 'inactive']);
    const history = await service.list(`${path}/history`, key);
    assert.equal(pluck(history, 'field', 'to').findLast(([field]) => field === 'status')?.[1], 'inactive');
    assert.equal((await undo(second.handover_id)).body.person.status, 'active');

    clock.set('2026-01-04T12:00:00Z');
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'Last', assignee_user_id: ada });
    // Whether it was somebody else is no longer known.
    const third = await handOver({ handover_to_user_id: bob });
    clock.set('2026-06-01T12:00:00Z');
    for (let i = 0; i < 2; i++) await deleteOldHistory(service.database, clock(), 30);
    const undone = await undo(third.handover_id);
    assert.deepEqual([undone.status, undone.body.person.status], [200, 'inactive']);
    assert.equal((await get(path)).status, 'inactive');
  });

  test('of two at once happens once', async (t) => {
    const dataset = await createDataset(await start(t));
    const { service, key, ada, bob, handOver, undo, get } = dataset;
    const { handover_id } = await handOver({ handover_to_user_id: bob });
    const responses = await Promise.all([undo(handover_id), undo(handover_id), undo(handover_id)]);
    assert.deepEqual(
      responses.map(({ status, body }) => [status, body.handover.restored]),
      [
        [200, 10],
        [200, 10],
        [200, 10],
      ],
    );
    assert.equal((await get('/v1/projects/APOLLO/risks/APOLLO-R1')).version, 3);
    const history = await service.list(`/v1/personnel/${ada}/history`, key);
    assert.equal(history.filter(({ to }: { to: unknown }) => to === 'active').length, 1);
  });

  test('restores the managers where the successor took the place of the person', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage', 'projects.manage');
    const create = async (name: string, manager_user_id: string | null): Promise<string> =>
      (await service.make('/v1/personnel', key, { name, manager_user_id })).user_id;
    const boss = await create('Boss', null);
    const ada = await create('Ada', boss);
    const middle = await create('Middle', ada);
    const low = await create('Low', middle);
    const path = `/v1/personnel/${ada}`;
    const { body } = await service.post(`${path}/deactivate`, key, { handover_to_user_id: low });
    const managers = async () =>
      Promise.all(
        [middle, low].map(async (id) => (await service.get(`/v1/personnel/${id}`, key)).body.manager_user_id),
      );
    assert.deepEqual(await managers(), [low, boss]);
    // Ada reports to Middle now, so Middle cannot report to Ada again.
    const other = await service.post(`${path}/handovers/${body.handover_id}/undo`, key, {});
    assert.deepEqual([other.body.handover.restored, await managers()], [2, [ada, middle]]);

    const { body: second } = await service.post(`${path}/deactivate`, key, { handover_to_user_id: boss });
    await service.patch(path, key, { manager_user_id: middle });
    const { left_items } = (await service.post(`${path}/handovers/${second.handover_id}/undo`, key, {})).body;
    assert.deepEqual(pluck(left_items, 'title', 'left_because'), [['Middle', 'conflict']]);
  });

  test('needs both scopes and all projects; other keys do not see items of projects they cannot read', async (t) => {
    const dataset = await createDataset(await start(t));
    const { service, ada, bob, apollo, handOver, undo } = dataset;
    const before = await handOver({ handover_to_user_id: bob });
    const id: string = before.handover_id;
    const path = `/v1/personnel/${ada}/handovers`;
    for (const scopes of [['personnel.manage'], ['projects.manage']] as const)
      assert.equal((await undo(id, await service.key(...scopes))).body.code, 'insufficient_scope');
    const limited = await service.limitedKey([apollo], 'personnel.manage', 'projects.manage');
    assert.equal((await undo(id, limited)).body.code, 'key_limited');

    const countOf = async (secret: string) => [
      (await service.list(path, secret))[0].items,
      (await service.list(`${path}/${id}/items`, secret)).length,
    ];
    assert.deepEqual(await countOf(await service.key('personnel.read')), [3, 3]);
    assert.deepEqual(await countOf(limited), [7, 7]);
    assert.deepEqual(await countOf(await service.key('personnel.read', 'projects.read')), [10, 10]);
    assert.equal((await service.get(path, await service.key('projects.read'))).status, 403);
    assert.equal((await undo(`hnd_${'0'.repeat(26)}`)).status, 404);
  });
});

onBothEngines('a hand-over in parts', (start: Start) => {
  test('gives projects and kinds to different successors, as the dry run predicts', async (t) => {
    const dataset = await createDataset(await start(t));
    const { service, key, ada, bob, eve, dan, ops, gemini, handOver, undo } = dataset;
    const before = await readResponsible(dataset);
    const team = (await service.make('/v1/groups', key, { name: 'Team' })).id as string;
    const body = {
      handover_to_user_id: bob,
      parts: [
        { kinds: ['tasks'], handover_to_user_id: dan },
        { project_ids: [gemini], kinds: ['risks'] },
        { project_ids: [gemini], handover_to_user_id: eve, handover_to_group_id: team },
        { kinds: ['memberships', 'groups'], handover_to_user_id: eve },
      ],
    };
    const shown = await handOver({ ...body, dry_run: true });
    const { handover_id, moves } = await handOver(body);
    assert.deepEqual(moves, shown.moves);
    assert.deepEqual([moves.risks, shown.handover_id], [1, null]);
    assert.deepEqual(await readResponsible(dataset), {
      APOLLO: [dan, bob, null, bob, bob, bob],
      GEMINI: [dan, null, team, eve, ada, null],
      lead: eve,
      members: [eve],
      manager: bob,
    });
    assert.equal((await undo(handover_id)).body.handover.left, 0);
    assert.deepEqual(await readResponsible(dataset), before);
    assert.ok(ops);
  });

  test('is rejected with the place of each error', async (t) => {
    const { ada, apollo, service, key } = await createDataset(await start(t));
    const team = (await service.make('/v1/groups', key, { name: 'Team' })).id as string;
    const { body } = await service.post(`/v1/personnel/${ada}/deactivate`, key, {
      parts: [
        { handover_to_user_id: ada, kinds: ['risks'] },
        { handover_to_group_id: team, project_ids: [apollo] },
        { project_ids: [`prj_${'0'.repeat(26)}`] },
        { handover_to_group_id: team },
      ],
    });
    assert.deepEqual(
      body.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`),
      [
        '#/parts/2/project_ids/0 unknown_reference',
        '#/parts/3 required',
        '#/parts/0/handover_to_user_id same_person',
        '#/parts/1/handover_to_user_id required',
        '#/parts/3/handover_to_user_id required',
      ],
    );
    assert.match(body.detail, /1 tasks, 1 issues as assignee and 1 projects as lead/);
  });
});
