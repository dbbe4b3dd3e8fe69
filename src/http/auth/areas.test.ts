import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, type TestService } from '../../../test/service.ts';

const tables = [
  'people',
  'memberships',
  'projects',
  'risks',
  'past_risks',
  'issues',
  'tasks',
  'history',
] as const;

async function readRows({ database: { db } }: TestService): Promise<unknown> {
  const rows = await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
  return rows.map((ofTable) => ofTable.map((row) => JSON.stringify(row)).sort());
}

/** Ada is responsible for something of every kind, in a project and in the organization; Eve for nothing. */
async function createDataset(service: TestService) {
  const key = await service.key();
  const person = async (name: string, more: object = {}): Promise<string> =>
    (await service.make('/v1/personnel', key, { name, ...more })).user_id;
  const ada = await person('Ada');
  const bob = await person('Bob', { manager_user_id: ada });
  const eve = await person('Eve');
  const ops = await service.make('/v1/groups', key, { name: 'Ops', external_id: 'cost-center-7' });
  const team = await service.make('/v1/groups', key, { name: 'Team', parent_id: ops.id });
  await service.call('PUT', `/v1/groups/${team.id}/members/${ada}`, key);
  await service.make('/v1/projects', key, { name: 'Apollo', lead_user_id: ada });
  const item = (kind: string, body: object) =>
    service.make(`/v1/projects/APOLLO/${kind}`, key, { title: 'x', ...body });
  await item('risks', { owner_user_id: ada });
  await item('risks', { owner_group_id: team.id });
  await item('issues', { owner_user_id: ada });
  await item('tasks', { assignee_user_id: ada });
  return { key, ada, bob, eve, ops: ops.id as string, team: team.id as string };
}

onBothEngines('a key for one area', (start) => {
  test('cannot hand over work in projects without projects.manage, whatever the person carries', async (t) => {
    const service = await start(t);
    const { ada, bob, eve, team } = await createDataset(service);
    const personnel = await service.key('personnel.manage');
    const both = await service.key('personnel.manage', 'projects.read');
    const before = await readRows(service);
    const details = new Set<string>();
    for (const key of [personnel, both]) {
      for (const user_id of [ada, eve]) {
        for (const successor of [{ handover_to_user_id: bob }, { handover_to_group_id: team }]) {
          for (const dry_run of [true, false]) {
            const body = { ...successor, dry_run };
            const response = await service.post(`/v1/personnel/${user_id}/deactivate`, key, body);
            assert.deepEqual(
              [response.status, response.body.code, response.body.scope],
              [403, 'insufficient_scope', 'personnel.manage projects.manage'],
            );
            const challenge = response.headers.get('www-authenticate') ?? '';
            assert.match(challenge, /error="insufficient_scope", scope="personnel.manage projects.manage"/);
            details.add(response.body.detail);
          }
        }
      }
    }
    assert.equal(details.size, 1);
    assert.match([...details].join(), /projects\.manage.*without a hand-over/);
    assert.deepEqual(await readRows(service), before);
    const whole = await service.key('personnel.manage', 'projects.manage');
    const moved = await service.post(`/v1/personnel/${ada}/deactivate`, whole, { handover_to_user_id: bob });
    assert.deepEqual([moved.status, moved.body.moves.risks, moved.body.moves.tasks], [200, 1, 1]);
  });

  test('deactivates without a hand-over, and reports only what it may read', async (t) => {
    const service = await start(t);
    const { ada } = await createDataset(service);
    const key = await service.key('personnel.manage');
    const versions = () =>
      service.database.db
        .selectFrom('data_versions')
        .selectAll()
        .where('table_name', 'in', ['projects', 'risks', 'issues', 'tasks'])
        .orderBy('table_name')
        .execute();
    const before = await versions();
    for (const dry_run of [true, false]) {
      const { status, body } = await service.post(`/v1/personnel/${ada}/deactivate`, key, { dry_run });
      const { person, ...report } = body;
      assert.deepEqual([status, person.status], [200, dry_run ? 'active' : 'inactive']);
      assert.deepEqual(report, {
        dry_run,
        handover_id: null,
        handover_to_user_id: null,
        handover_to_group_id: null,
        carries: { groups: 0, reports: 1, agents: 0, memberships: 1 },
        moves: { groups: 0, reports: 0, agents: 0, memberships: 0 },
      });
    }
    assert.deepEqual(await versions(), before);
    const reader = await service.key('personnel.manage', 'projects.read');
    const { body } = await service.post(`/v1/personnel/${ada}/deactivate`, reader, { dry_run: true });
    assert.deepEqual(
      [body.carries.risks, body.by_project[0].project_key, body.archived.tasks],
      [1, 'APOLLO', 0],
    );
  });

  test('learns that a person or group is in use, without the items of projects', async (t) => {
    const service = await start(t);
    const { ada, team } = await createDataset(service);
    const key = await service.key('personnel.manage');
    const before = await readRows(service);
    const person = await service.delete(`/v1/personnel/${ada}`, key);
    assert.deepEqual([person.status, person.body.code], [409, 'in_use']);
    assert.deepEqual(person.body.used_by, {
      groups: { count: 1, samples: ['Team'] },
      people: { count: 1, samples: ['Bob'] },
    });
    assert.match(
      person.body.detail,
      /1 groups \(such as Team\).*items of projects, which your key cannot read/,
    );
    const group = await service.delete(`/v1/groups/${team}`, key);
    assert.deepEqual([group.status, group.body.used_by], [409, {}]);
    assert.match(group.body.detail, /^The group Team is used by items of projects/);
    for (const { text } of [person, group]) assert.doesNotMatch(text, /APOLLO|risks|issues|tasks/);
    assert.deepEqual(await readRows(service), before);
  });

  test('cannot read memberships and subgroups through the owners of items', async (t) => {
    const service = await start(t);
    const { ops } = await createDataset(service);
    const projects = await service.key('projects.read');
    const both = await service.key('projects.read', 'personnel.read');
    for (const path of [
      'risks',
      'risks/summary',
      'risks/heatmap',
      'issues',
      'issues/all',
      'issues/summary',
    ]) {
      const query = `/v1/${path}?owner_group_id=${ops}`;
      const { status, body } = await service.get(`${query}&transitive=true`, projects);
      assert.deepEqual([status, body.scope], [403, 'projects.read personnel.read'], path);
      assert.match(body.detail, /`transitive` requires the scope personnel.read/);
      assert.equal((await service.get(`${query}&transitive=true`, both)).status, 200, path);
      assert.equal((await service.get(`${query}&transitive=false`, projects)).status, 200, path);
    }
    // A response in the cache of another key is no way around it.
    for (let i = 0; i < 3; i++) await service.get(`/v1/risks?owner_group_id=${ops}&transitive=true`, both);
    const cached = await service.get(`/v1/risks?owner_group_id=${ops}&transitive=true`, projects);
    assert.equal(cached.status, 403);
  });

  test('cannot find out through events which projects exist', async (t) => {
    const service = await start(t);
    await createDataset(service);
    const key = await service.key('events.read', 'personnel.read');
    for (const project of ['APOLLO', 'GEMINI']) {
      for (const path of ['/v1/events', '/v1/events/stream']) {
        const { status, body } = await service.get(`${path}?project=${project}`, key);
        assert.deepEqual([status, body.scope], [403, 'events.read projects.read']);
        assert.doesNotMatch(body.detail, /APOLLO|GEMINI/);
      }
    }
    const reader = await service.key('events.read', 'projects.read');
    assert.equal((await service.get('/v1/events?project=APOLLO', reader)).status, 200);
  });

  test('cannot find groups by their external id in an import', async (t) => {
    const service = await start(t);
    await createDataset(service);
    const file = 'title,owner\nNew,cost-center-7\n';
    const send = async (...scopes: Parameters<TestService['key']>) =>
      service.upload('/v1/projects/APOLLO/risks/import', await service.key(...scopes), file);
    const { body } = await send('projects.manage');
    assert.equal(body.summary.created, 0);
    assert.match(body.results[0].errors[0].detail, /or the group’s name or ID\. `unknown_people`/);
    assert.equal((await send('projects.manage', 'personnel.read')).body.summary.created, 1);
    const { risks } = await service.database.db
      .selectFrom('risks')
      .select((eb) => eb.fn.countAll<number>().as('risks'))
      .where('title', '=', 'New')
      .executeTakeFirstOrThrow();
    assert.equal(risks, 1);
  });

  test('is not told why a person cannot be assigned', async (t) => {
    const service = await start(t);
    const { key } = await createDataset(service);
    const future = { name: 'Dan', start_on: '2999-01-01' };
    const { user_id } = await service.make('/v1/personnel', key, future);
    const detailFor = async (...scopes: Parameters<TestService['key']>) => {
      const body = { title: 'x', assignee_user_id: user_id };
      const response = await service.post('/v1/projects/APOLLO/tasks', await service.key(...scopes), body);
      assert.equal(response.status, 422);
      return response.body.detail;
    };
    assert.equal(await detailFor('projects.manage'), 'Dan cannot be assigned today. Choose another person.');
    assert.match(
      await detailFor('projects.manage', 'personnel.read'),
      /^Dan is not available today \(see `start_on`/,
    );
  });
});
