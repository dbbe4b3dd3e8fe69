import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import { onBothEngines, type TestService, withKey } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem, type Change } from '../../store/writes/change.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { createGroup, getGroup, updateGroup } from '../groups/queries.ts';
import { getIssue, issueWrites } from '../issues/queries.ts';
import { createPerson, getPerson, updatePerson } from '../personnel/queries.ts';
import { createItem } from '../project-items/create.ts';
import { updateItem } from '../project-items/update.ts';
import { createProject, getProject, updateProject } from '../projects/queries.ts';
import { getRisk, riskWrites } from '../risks/queries.ts';
import { getTask, taskWrites } from '../tasks/queries.ts';

/** Ada hands over to Bob. The first project has an unassigned task, issue and risk; the second is empty. */
async function prepare(service: TestService, key: string, round: number) {
  const create = (path: string, body: object) => service.make(path, key, body);
  const { user_id: ada } = await create('/v1/personnel', { name: 'Ada' });
  const { user_id: bob } = await create('/v1/personnel', { name: 'Bob' });
  const { id: group } = await create('/v1/groups', { name: `Group ${round}` });
  const [first, other] = [`A${round}`, `B${round}`];
  for (const name of [first, other]) await create('/v1/projects', { name, key: name });
  for (const kind of ['tasks', 'issues', 'risks'])
    await create(`/v1/projects/${first}/${kind}`, { title: 'x' });
  // Ada already has a task, so the hand-over locks its project before it locks Ada.
  await create(`/v1/projects/${first}/tasks`, { title: 'x', assignee_user_id: ada });
  return { ada, bob, group, first, other };
}

/** Counts a person's open work, led projects and groups, and reports. */
async function countResponsibilities({ database }: TestService, user_id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select
    (select count(*) from tasks where assignee_user_id = ${user_id} and open = 1) +
    (select count(*) from issues where (owner_user_id = ${user_id} or assignee_user_id = ${user_id}) and open = 1) +
    (select count(*) from risks where owner_user_id = ${user_id} and active = 1) +
    (select count(*) from projects where lead_user_id = ${user_id}) +
    (select count(*) from ${sql.table('groups')} where lead_user_id = ${user_id}) +
    (select count(*) from people where manager_user_id = ${user_id}) as count`.execute(database.db);
  return rows[0]?.count ?? 0;
}

type Prepared = Awaited<ReturnType<typeof prepare>>;
type Assign = (db: Transaction<Tables>, prepared: Prepared, change: Change) => Promise<unknown>;

/** Every way to assign something to Ada. */
const assignments: Record<string, Assign> = {
  'a new task': (db, { ada, first }, change) =>
    createItem(db, taskWrites, first, { title: 'x', assignee_user_id: ada }, change),
  'a new task in another project': (db, { ada, other }, change) =>
    createItem(db, taskWrites, other, { title: 'x', assignee_user_id: ada }, change),
  'an existing task': async (db, { ada, first }, change) =>
    updateItem(
      db,
      taskWrites,
      { current: await getTask(db, first, `${first}-T1`, change), patch: { assignee_user_id: ada } },
      change,
    ),
  'a new issue to own': (db, { ada, other }, change) =>
    createItem(db, issueWrites, other, { title: 'x', owner_user_id: ada }, change),
  'an existing issue': async (db, { ada, first }, change) =>
    updateItem(
      db,
      issueWrites,
      { current: await getIssue(db, first, `${first}-I1`, change), patch: { assignee_user_id: ada } },
      change,
    ),
  'a new risk': (db, { ada, other }, change) =>
    createItem(db, riskWrites, other, { title: 'x', owner_user_id: ada }, change),
  'an existing risk': async (db, { ada, first }, change) =>
    updateItem(
      db,
      riskWrites,
      { current: await getRisk(db, first, `${first}-R1`, change), patch: { owner_user_id: ada } },
      change,
    ),
  'a new project to lead': (db, { ada }, change) =>
    createProject(db, { name: 'Mercury', lead_user_id: ada }, change),
  'an existing project to lead': async (db, { ada, other }, change) =>
    updateProject(db, await getProject(db, other, change), { lead_user_id: ada }, change),
  'a new group to lead': (db, { ada }, change) =>
    createGroup(db, { name: 'Crew', lead_user_id: ada }, change),
  'an existing group to lead': async (db, { ada, group }, change) =>
    updateGroup(db, await getGroup(db, group), { lead_user_id: ada }, change),
  'a new report': (db, { ada }, change) => createPerson(db, { name: 'Dan', manager_user_id: ada }, change),
};

onBothEngines('a hand-over', (start, engine) => {
  test('waits for a concurrent transaction that assigns something to the person, and moves it', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [i, [name, assign]] of Object.entries(assignments).entries()) {
      const prepared = await prepare(service, key, i);
      const { ada, bob } = prepared;
      const handOver = () =>
        service.post(`/v1/personnel/${ada}/deactivate`, key, { handover_to_user_id: bob });
      let handedOver: ReturnType<typeof handOver> | undefined;
      await service.database.write(async (db) => {
        await assign(db, prepared, bySystem(systemClock(), 'a test'));
        handedOver ??= handOver();
        // On SQLite, the hand-over starts only after this transaction ends.
        const isOver = await Promise.race([
          handedOver.then(() => true),
          engine === 'sqlite' ? setTimeout(20).then(() => false) : waitsForLock(service),
        ]);
        assert.equal(isOver, false, `${name}: it ended before the transaction did`);
      });
      const response = await handedOver;
      assert.equal(response?.status, 200, name);
      assert.equal(await countResponsibilities(service, ada), 0, name);
      assert.equal(await countResponsibilities(service, bob), 2, name);
    }
  });

  test('checks If-Match against the person as they are once the locks are held', async (t) => {
    const { service, key } = await withKey(start(t));
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    let handedOver: ReturnType<typeof service.post> | undefined;
    await service.database.write(async (db) => {
      const change = bySystem(systemClock(), 'a test');
      await lockTables(db, 'people');
      handedOver ??= service.post(`/v1/personnel/${user_id}/deactivate`, key, {}, { 'if-match': '"1"' });
      await (engine === 'sqlite' ? setTimeout(20) : waitsForLock(service));
      await updatePerson(db, await getPerson(db, user_id, change), { title: 'Countess' }, change);
    });
    assert.equal((await handedOver)?.status, 412);
  });

  test('moves everything that is assigned to the person at the same time', async (t) => {
    const { service, key } = await withKey(start(t));
    for (let round = 0; round < 3; round++) await race(service, key, round);
  });

  async function race(service: TestService, key: string, round: number) {
    const { user_id: ada } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const { user_id: bob } = await service.make('/v1/personnel', key, { name: 'Bob' });
    // Ada has no work in most projects when the hand-over starts.
    const projects = Array.from({ length: 16 }, (_, i) => `R${round}P${i}`);
    await Promise.all(projects.map((name) => service.make('/v1/projects', key, { name, key: name })));
    /** Ids of items whose response already reports an inactive owner. */
    const reportedInactive = new Set<string>();
    let acknowledged = 0;
    const assign = async (project: string, kind: 'tasks' | 'issues' | 'risks', isPatch: boolean) => {
      const path = `/v1/projects/${project}/${kind}`;
      const person = { [kind === 'tasks' ? 'assignee_user_id' : 'owner_user_id']: ada };
      const created = await service.post(path, key, { title: 'x', ...(!isPatch && person) });
      const { status, body, text } = isPatch
        ? await service.patch(`${path}/${created.body.id}`, key, person)
        : created;
      if (status === 422) return assert.equal(body.errors[0].code, 'not_assignable');
      assert.ok(status === 200 || status === 201, text);
      acknowledged++;
      if (body.owner_active === false) reportedInactive.add(body.id);
    };
    const clients = projects.map(async (project, i) => {
      for (let n = 0; n < 3; n++) {
        await assign(project, i % 4 === 0 ? 'issues' : i % 4 === 1 ? 'risks' : 'tasks', i % 4 === 3);
      }
    });
    while (acknowledged === 0) await setTimeout(1);
    const handedOver = await service.post(`/v1/personnel/${ada}/deactivate`, key, {
      handover_to_user_id: bob,
    });
    await Promise.all(clients);
    assert.equal(handedOver.status, 200, handedOver.text);
    const { rows } = await sql<{ id: string }>`
      select id from tasks where assignee_user_id = ${ada} and open = 1
      union all select id from issues where owner_user_id = ${ada} and open = 1
      union all select id from risks where owner_user_id = ${ada} and active = 1`.execute(
      service.database.db,
    );
    const left = rows.map(({ id }) => id).filter((id) => !reportedInactive.has(id));
    assert.deepEqual(left, [], `${left.length} of ${acknowledged} stayed with Ada`);
  }
});

/** Resolves to false once the hand-over waits for another transaction. */
async function waitsForLock({ database }: TestService): Promise<boolean> {
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
    if (rows.length > 0) return false;
    await setTimeout(10);
  }
}
