import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, pluck, withKey } from '../../test/service.ts';

onSqlite('cells in the exports of tools', (start) => {
  async function startApollo(t: Parameters<typeof start>[0]) {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const upload = (list: string, file: string, query = '') =>
      service.upload(`/v1/projects/APOLLO/${list}/import?${query}`, key, file);
    const list = (list: string) => service.list(`/v1/projects/APOLLO/${list}?status=all`, key);
    return { upload, list };
  }

  test('with a text instead of a strategy are stored in the response plan, beside it', async (t) => {
    const { upload, list } = await startApollo(t);
    await upload('risks', 'Title,Response,Mitigation\nText first,Ask twice,Wait\nWord,Avoid,Go\n');
    await upload('risks', 'Title,Mitigation,Response\nText last,Wait,Ask twice\nNeither,-,-\n');
    const rows = pluck(await list('risks'), 'title', 'strategy', 'response_plan').sort();
    assert.deepEqual(rows, [
      ['Neither', null, '-'],
      ['Text first', null, 'Wait\nAsk twice'],
      ['Text last', null, 'Wait\nAsk twice'],
      ['Word', 'avoid', 'Go'],
    ]);
  });

  test('a dash alone is no value, and told', async (t) => {
    const { upload, list } = await startApollo(t);
    const { body } = await upload('issues', 'Title,Priority,Severity\nOne,-,–\nTwo,-1,High\n');
    assert.deepEqual(pluck(await list('issues'), 'title', 'priority', 'severity'), [
      ['One', 'normal', 'medium'],
    ]);
    assert.match(body.summary.explanation, /In “Priority”, “-” is `null`/);
    assert.equal(body.results[1].errors[0].pointer, '#/priority');
  });

  test('`Created at` is when an item was raised, and `created_at` when the service stored it', async (t) => {
    const { upload, list } = await startApollo(t);
    await upload('issues', 'Title,Created at,Raised on\nBoth,2026-01-02,2026-01-01\n');
    await upload('issues', 'Title,Created At\nTool,2026-01-02T10:00:00Z\n');
    await upload('issues', 'Title,created_at\nService,2026-01-02T10:00:00Z\n');
    const days = new Map(pluck(await list('issues'), 'title', 'raised_on') as [string, string][]);
    assert.deepEqual([days.get('Both'), days.get('Tool')], ['2026-01-01', '2026-01-02']);
    assert.notEqual(days.get('Service'), '2026-01-02');
  });

  test('that a record of LogicGate is complete says nothing about its risk', async (t) => {
    const { upload } = await startApollo(t);
    const file = 'Risk Title,Status,Current Step,Current Assignee,Record ID\nx,Complete,Registered,,R1\n';
    const { body } = await upload('risks', file);
    assert.deepEqual(body.summary.unknown_values, { Status: ['Complete'] });
    assert.equal(body.results[0].errors[0].pointer, '#/status');
    const answered = await upload('risks', file, 'map_values=Status:Complete=monitoring');
    assert.equal(answered.body.summary.created, 1);
  });

  test('a task that is not active in Microsoft Project, or archived in Trello, is told', async (t) => {
    const { upload, list } = await startApollo(t);
    const plan = await upload(
      'tasks',
      'ID,Active,Task Mode,Task Name,Duration,Start,Finish,% Complete\n1,Yes,Auto,On,1,,,0%\n2,No,Auto,Off,1,,,0%\n3,Perhaps,Auto,x,1,,,0%\n',
    );
    assert.deepEqual(
      plan.body.summary.readings.filter(({ column }: { column: string }) => column === 'Active'),
      [{ column: 'Active', text: 'No', value: 'cancelled', cells: 1 }],
    );
    assert.equal(plan.body.results[2].errors[0].pointer, '#/status');
    assert.deepEqual(pluck(await list('tasks'), 'title', 'status').sort(), [
      ['Off', 'cancelled'],
      ['On', 'todo'],
    ]);
  });

  test('a Jira export of several projects is asked about, instead of going into one', async (t) => {
    const { upload, list } = await startApollo(t);
    const file =
      'Summary,Issue key,Issue Type\nTiles,ROOF-11,Task\nBeams,ROOF-12,Task\nStones,YARD-11,Task\n';
    const { status, body } = await upload('issues', file);
    assert.deepEqual(
      [status, body.errors[0].code, body.errors[0].column],
      [422, 'several_projects', 'Issue key'],
    );
    assert.match(body.detail, /“ROOF-11” on line 2 and “YARD-11” on line 4/);
    assert.equal((await list('issues')).length, 0);
    const answered = await upload('issues', file, 'map=Issue key=external_id');
    assert.equal(answered.body.summary.created, 3);
    const one = await upload('tasks', file.replace('YARD-11', 'ROOF-13'));
    assert.equal(one.body.summary.created, 3, 'one project is no question');
    const plain = await upload('issues', 'Title,Issue key\nx,ROOF-21\ny,YARD-21\n');
    assert.equal(plain.body.errors[0].code, 'several_projects', 'without the other columns of Jira');
  });

  test('issues that state neither severity nor resolution are counted, and existing ones keep theirs', async (t) => {
    const { upload, list } = await startApollo(t);
    const file = 'Title,ID,Status,Severity\nOpen,a,Open,\nDone,b,Done,High\nClosed,c,Closed,-\n';
    const unstatedOf = ({ summary: { readings } }: { summary: { readings: { text: string }[] } }) =>
      readings.filter(({ text }) => text === '');
    const created = await upload('issues', file);
    assert.deepEqual(unstatedOf(created.body), [
      { column: 'Severity', text: '', value: 'medium', cells: 2 },
      { column: 'resolution', text: '', value: 'fixed', cells: 2 },
    ]);
    const { explanation } = created.body.summary;
    assert.match(
      explanation,
      /2 rows state no “Severity”, so it is `medium`\. 2 rows state no “resolution”, so it is `fixed`\./,
    );
    const again = await upload('issues', file, 'mode=upsert');
    assert.deepEqual([again.body.summary.unchanged, unstatedOf(again.body)], [3, []]);
    const updated = await upload('issues', 'ID,Status\na,Done\nb,Closed\n', 'mode=upsert');
    assert.deepEqual(unstatedOf(updated.body), [
      { column: 'resolution', text: '', value: 'fixed', cells: 1 },
    ]);
    const rows = pluck(await list('issues'), 'title', 'status', 'severity', 'resolution');
    assert.deepEqual(rows.sort(), [
      ['Closed', 'closed', 'medium', 'fixed'],
      ['Done', 'closed', 'high', 'fixed'],
      ['Open', 'resolved', 'medium', 'fixed'],
    ]);
  });

  test('projects that do not exist are assigned, created or left out one by one', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const file =
      'Project,Issue,Owner\nRoof,One,\nYard,Two,\nAttic,Three,Nobody Known\nCellar,Four,\nroof,Five,\n';
    const answers = new URLSearchParams({
      map_values: 'project:Roof=APOLLO,project:Yard=*,project:Attic=',
      unknown_people: 'create',
    });
    const { body } = await service.upload(`/v1/imports/issues?${answers}`, key, file);
    const statuses = ['created', 'created', 'skipped', 'failed', 'created'];
    assert.deepEqual(pluck(body.results, 'status'), statuses, JSON.stringify(body.results));
    assert.deepEqual([body.summary.created, body.summary.skipped, body.summary.failed], [3, 1, 1]);
    assert.match(body.results[3].errors[0].detail, /^No project matches “Cellar”/);
    assert.deepEqual(pluck(await service.list('/v1/issues', key), 'title', 'project_name').sort(), [
      ['Five', 'Apollo'],
      ['One', 'Apollo'],
      ['Two', 'Yard'],
    ]);
    assert.equal(
      (await service.list('/v1/personnel', key)).length,
      0,
      'nobody is created for rows that are left out',
    );
    const atomic = await service.upload(`/v1/imports/issues?atomic=true&${answers}`, key, file);
    assert.deepEqual([atomic.status, atomic.body.summary.skipped], [422, 4]);
  });

  test('a key that is limited to projects creates none, and needs no scope of people for it', async (t) => {
    const { service, key } = await withKey(start(t));
    const { id } = await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const importWith = async (held: object) => {
      const { secret } = await service.make('/v1/keys', key, {
        name: 'x',
        scopes: ['projects.manage'],
        ...held,
      });
      const path = '/v1/imports/issues?map_values=project:Yard=*';
      return service.upload(path, secret, 'Project,Issue\nYard,Two\n');
    };
    assert.equal((await importWith({ project_ids: [id] })).status, 403);
    assert.equal((await importWith({})).body.summary?.created, 1);
  });
});
