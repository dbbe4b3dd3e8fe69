import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, onSqlite, pluck, type TestService, withKey } from '../../test/service.ts';
import { workbook, workbookOf } from '../../test/workbook.ts';
import { xlsxType } from '../formats/xlsx-write.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const ndjson = 'application/x-ndjson';

/** Sends files with a key that has all scopes. */
async function importer(started: Promise<TestService>) {
  const { service, key } = await withKey(started);
  const send = (
    path: string,
    file: string | Uint8Array,
    type = 'text/csv',
    headers: Record<string, string> = {},
  ) => service.call('POST', path, key, file, { 'content-type': type, ...headers });
  return {
    service,
    key,
    send,
    /** Imports a file in which no row may fail. */
    async importAll(path: string, file: string | Uint8Array, type?: string) {
      const { status, body, text } = await send(path, file, type);
      assert.equal(status, 200, text);
      assert.equal(body.summary.failed, 0, text);
      return body;
    },
    all: (path: string): Promise<Any[]> => service.list(path, key),
  };
}

const statuses = (body: Any) => pluck(body.results, 'status');
const errorsOf = (body: Any) =>
  body.results.flatMap(({ line, errors = [] }: Any) =>
    errors.map(({ pointer, code }: Any) => [line, pointer, code]),
  );

onBothEngines('imports', (start) => {
  test('creates the same resource and the same history as POST', async (t) => {
    const { service, key, send, importAll, all } = await importer(start(t));
    const body = {
      name: 'Ada',
      email: 'ada@example.com',
      skills: ['x'],
      attributes: { a: 'b' },
      start_on: '2020-01-01',
    };
    const posted = await service.make('/v1/personnel', key, body);
    await importAll(
      '/v1/personnel/import',
      JSON.stringify({ ...body, name: 'Bob', email: 'bob@example.com' }),
      ndjson,
    );
    const imported = (await all('/v1/personnel'))[1];
    const ignoring = { user_id: '', name: '', email: '', web_url: '', created_at: '', updated_at: '' };
    assert.deepEqual({ ...imported, ...ignoring }, { ...posted, ...ignoring });
    const history = async ({ user_id }: Any) =>
      (await all(`/v1/personnel/${user_id}/history`)).map(({ field, from, actor, reason }) => [
        field,
        from,
        actor,
        reason,
      ]);
    assert.deepEqual(await history(imported), await history(posted));

    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, {
      title: 'by hand',
      probability: 2,
      impact: 3,
      external_id: 'a',
    });
    const file = 'title,status,closure reason,probability,impact,external id\nby file,closed,done,2,3,b\n';
    const created = await send('/v1/projects/APOLLO/risks/import', file);
    assert.deepEqual([created.body.results[0].status, created.body.results[0].key], ['created', 'APOLLO-R2']);
    await service.patch('/v1/projects/APOLLO/risks/APOLLO-R1', key, {
      status: 'closed',
      closure_reason: 'done',
    });
    const risk = async (ref: string) => {
      const { body: one } = await service.get(`/v1/projects/APOLLO/risks/${ref}`, key);
      const entries = await all(`/v1/projects/APOLLO/risks/${ref}/history`);
      const past = await service.database.db
        .selectFrom('past_risks')
        .select('version')
        .where('id', '=', one.id)
        .execute();
      return [
        one.version,
        one.status,
        one.closure_reason,
        one.initial_score,
        entries.map(({ field, to }) => [field, field === 'created' || to]),
        past,
      ];
    };
    assert.deepEqual(await risk('APOLLO-R2'), await risk('APOLLO-R1'));
    const { body: project } = await service.get('/v1/projects/APOLLO', key);
    assert.equal(project.counts.active_risks, 0);
  });

  test('reports failed rows and imports the rest, or nothing if atomic', async (t) => {
    const { send, all } = await importer(start(t));
    const rows = Array.from({ length: 1000 }, (_, i) =>
      i % 100 === 50 ? `Person ${i},person ${i},2026-02-30` : `Person ${i},p${i}@example.com,2026-02-28`,
    );
    const file = ['Name,Mail,Start date', ...rows].join('\n');
    const rejected = await send('/v1/personnel/import?atomic=true', file);
    assert.equal(rejected.status, 422);
    assert.equal(rejected.headers.get('content-type'), 'application/problem+json');
    assert.equal(rejected.body.code, 'import_refused');
    assert.match(rejected.body.detail, /10 of 1000 rows have errors, so nothing was changed/);
    assert.deepEqual(
      [rejected.body.summary.failed, rejected.body.summary.skipped, rejected.body.summary.created],
      [10, 990, 0],
    );
    assert.equal((await all('/v1/personnel')).length, 0);

    const partial = await send('/v1/personnel/import', file);
    assert.equal(partial.status, 200);
    assert.deepEqual([partial.body.summary.failed, partial.body.summary.created], [10, 990]);
    assert.equal((await all('/v1/personnel')).length, 990);
    for (const { results } of [rejected.body, partial.body]) {
      assert.deepEqual(
        pluck(results, 'line'),
        rows.map((_, i) => i + 2),
      );
      const failed = results.filter(({ status }: Any) => status === 'failed');
      assert.deepEqual(pluck(failed, 'line'), [52, 152, 252, 352, 452, 552, 652, 752, 852, 952]);
      for (const { errors } of failed) {
        assert.deepEqual(errors, [
          {
            pointer: '#/email',
            code: 'format',
            detail: 'This must be an email address such as ada@example.com.',
            column: 'Mail',
          },
          {
            pointer: '#/start_on',
            code: 'format',
            detail: 'This must be a day such as 2026-11-15.',
            column: 'Start date',
          },
        ]);
      }
    }
  });

  test('imports rows into the projects that they name', async (t) => {
    const { service, key, send, importAll, all } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo', external_id: 'p-1' });
    await service.make('/v1/projects', key, { name: 'Zeus' });
    await service.make('/v1/projects', key, { name: 'Old' });
    await service.post('/v1/projects/OLD/archive', key, {});
    const file =
      'Project,Ref,Risk,Likelihood\napollo,1,a,2\np-1,2,b,3\nZEUS,1,c,4\nHermes,1,d,5\n,2,e,1\nOld,2,f,1\n';
    const first = await send('/v1/imports/risks', file);
    assert.deepEqual(errorsOf(first.body), [
      [5, '#/project', 'unknown_reference'],
      [6, '#/project', 'unknown_reference'],
      [7, undefined, 'project_archived'],
    ]);
    assert.match(first.body.results[3].errors[0].detail, /No project matches “Hermes”.*create_projects=true/);
    assert.match(first.body.results[5].errors[0].detail, /OLD is archived/);
    assert.deepEqual((await all('/v1/risks')).map(({ key: riskKey }) => riskKey).sort(), [
      'APOLLO-R1',
      'APOLLO-R2',
      'ZEUS-R1',
    ]);
    const dry = await send('/v1/imports/risks?mode=upsert&create_projects=true&dry_run=true', file);
    assert.equal(dry.body.summary.created, 1);
    const again = await send('/v1/imports/risks?mode=upsert&create_projects=true', file);
    assert.deepEqual(statuses(again.body), [
      'unchanged',
      'unchanged',
      'unchanged',
      'created',
      'failed',
      'failed',
    ]);
    assert.equal(again.body.results[3].key, 'HERMES-R1');
    // A task refers to the risk of its own project.
    await importAll('/v1/imports/tasks', 'Project,Task,Risk\nZeus,x,1\nHermes,y,1\n');
    const [task] = await all('/v1/projects/ZEUS/tasks');
    assert.equal(task.risk_id, (await service.get('/v1/projects/ZEUS/risks/ZEUS-R1', key)).body.id);
    assert.match((await send('/v1/imports/risks', 'Risk\na\n')).body.detail, /No column names the project/);
    const { id } = (await service.get('/v1/projects/APOLLO', key)).body;
    const limited = await service.limitedKey([id], 'projects.manage');
    const headers = { 'content-type': 'text/csv' };
    const { body } = await service.call(
      'POST',
      '/v1/imports/risks',
      limited,
      'Project,Risk\nZeus,z\nApollo,z\n',
      headers,
    );
    assert.deepEqual(statuses(body), ['failed', 'created']);
    const creating = '/v1/imports/risks?create_projects=true';
    const refused = await service.call('POST', creating, limited, 'Project,Risk\nNew,z\n', headers);
    assert.deepEqual([refused.status, refused.body.code], [403, 'key_limited']);
    const reader = await service.key('projects.read');
    assert.equal((await service.call('POST', '/v1/imports/risks', reader, 'x', headers)).status, 403);
  });

  test('resolves references by id, external id, email or name, and reports the ones it cannot', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    const ada = await service.make('/v1/personnel', key, {
      name: 'Ada',
      email: 'ada@example.com',
      external_id: 'hr-1',
    });
    for (const n of [1, 2])
      await service.make('/v1/personnel', key, { name: 'John Smith', email: `john${n}@example.com` });
    await service.make('/v1/personnel', key, { name: 'John Smith', department: 'Finance' });
    const ops = await service.make('/v1/groups', key, { name: 'Ops' });
    await service.make('/v1/groups', key, { name: 'Ada' });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const owners = [
      ada.user_id,
      'hr-1',
      'ADA@example.com',
      'ops',
      ops.id,
      'john1@example.com',
      '',
      'John Smith',
      'Unknown',
      'Ada',
      'usr_00000000000000000000000000',
    ];
    const { body } = await send(
      '/v1/projects/APOLLO/risks/import',
      `title,risk owner\n${owners.map((owner) => `x,${owner}\n`).join('')}`,
    );
    assert.deepEqual(errorsOf(body), [
      [9, '#/owner_name', 'ambiguous_reference'],
      [10, '#/owner_name', 'unknown_reference'],
      [11, '#/owner_name', 'ambiguous_reference'],
      [12, '#/owner_name', 'unknown_reference'],
    ]);
    assert.match(
      body.results[7].errors[0].detail,
      /^“John Smith” matches several: John Smith, john1@example.com \(usr_\w+\), John Smith, john2@example.com \(usr_\w+\) and John Smith, Finance \(usr_\w+\)\. Use the email address, external ID or ID of the right one\.$/,
    );
    assert.match(
      body.results[8].errors[0].detail,
      /No person or group matches “Unknown”. Use the person’s name, email address, external ID or user ID; or the group’s name, external ID or ID\. `unknown_people`/,
    );
    const risks = (await all('/v1/projects/APOLLO/risks')).sort((a, b) => a.key.localeCompare(b.key));
    assert.deepEqual(
      risks.map(({ owner_user_id, owner_group_id }) => owner_user_id ?? owner_group_id),
      [
        ada.user_id,
        ada.user_id,
        ada.user_id,
        ops.id,
        ops.id,
        (await all('/v1/personnel?q=john1'))[0].user_id,
        null,
      ],
    );

    const tasks = await send(
      '/v1/projects/APOLLO/tasks/import',
      'title,assignee_user_id,assignee_name,risk\na,,Ada,APOLLO-R1\nb,hr-1,ada,\nc,hr-1,Bob,\nd,,,APOLLO-R99\n',
    );
    assert.deepEqual(errorsOf(tasks.body), [
      [4, '#/assignee_name', 'contradiction'],
      [5, '#/risk_id', 'unknown_reference'],
    ]);
    assert.deepEqual(pluck(await all('/v1/projects/APOLLO/tasks'), 'assignee_user_id'), [
      ada.user_id,
      ada.user_id,
    ]);
  });

  test('rows can refer to one another in any order, and an ambiguous name fails', async (t) => {
    const { send, importAll, all } = await importer(start(t));
    // Rows 0 to 29 report to the next row, rows after 30 to row 0.
    const people = Array.from(
      { length: 400 },
      (_, i) => `Person ${i},${i < 30 ? `Person ${i + 1}` : i > 30 ? 'Person 0' : ''}`,
    );
    const { results } = await importAll('/v1/personnel/import', ['Name,Manager', ...people].join('\n'));
    assert.deepEqual(
      pluck(results, 'line'),
      people.map((_, i) => i + 2),
    );
    const roster = new Map((await all('/v1/personnel')).map((person) => [person.name, person]));
    for (let i = 0; i < 400; i++) {
      const manager = i < 30 ? `Person ${i + 1}` : i > 30 ? 'Person 0' : undefined;
      assert.equal(roster.get(`Person ${i}`).manager_user_id, roster.get(manager)?.user_id ?? null);
    }
    const { body } = await send(
      '/v1/personnel/import',
      'name,manager\nJohn Smith,\nAda,John Smith\nBob,Carol\nCarol,Bob\nJohn Smith,Person 1\n',
    );
    assert.deepEqual(errorsOf(body), [
      [3, '#/manager_user_id', 'ambiguous_reference'],
      [4, '#/manager_user_id', 'unknown_reference'],
      [5, '#/manager_user_id', 'unknown_reference'],
    ]);
    await importAll('/v1/groups/import', 'name,parent\nLeaf,Branch\nBranch,Root\nRoot,\n');
    const groups = new Map((await all('/v1/groups')).map((group) => [group.name, group]));
    assert.equal(groups.get('Leaf').parent_id, groups.get('Branch').id);
  });

  test('updates existing resources, and only the fields that differ', async (t) => {
    const { service, key, send, importAll, all } = await importer(start(t));
    const file = (title: string) =>
      `external id,e-mail,name,title,skills,attributes.a\n1,ada@example.com,Ada,${title},x; y,1\n,bob@example.com,Bob,,,\n`;
    assert.deepEqual(statuses(await importAll('/v1/personnel/import?mode=upsert', file('Engineer'))), [
      'created',
      'created',
    ]);
    assert.deepEqual(statuses(await importAll('/v1/personnel/import?mode=upsert', file('Engineer'))), [
      'unchanged',
      'unchanged',
    ]);
    const { results } = await importAll('/v1/personnel/import?mode=upsert', file('Head'));
    assert.deepEqual([results[0].status, results[0].changed], ['updated', ['title']]);
    const [ada, bob] = await all('/v1/personnel');
    assert.deepEqual([ada.version, ada.title, bob.version], [2, 'Head', 1]);

    // Found by email, Bob gets an external id. An empty cell sets null; a missing column changes nothing.
    await importAll(
      '/v1/personnel/import?mode=upsert',
      'external id,e-mail,title\n2,BOB@example.com,\n1,ada@example.com,\n',
    );
    const [later, bobLater] = await all('/v1/personnel');
    assert.deepEqual(
      [later.title, later.email, later.skills, bobLater.external_id],
      [null, 'ada@example.com', ['x', 'y'], '2'],
    );
    const { body } = await send(
      '/v1/personnel/import?mode=upsert',
      'external id,e-mail,name\n9,ada@example.com,Eve\n,,Unknown\n7,,\n1,bob@example.com,Ada\n1,ada@example.com,Ada L\n',
    );
    assert.deepEqual(errorsOf(body), [
      [2, '#/external_id', 'duplicate'],
      [3, undefined, 'no_key'],
      [4, '#/name', 'required'],
      [5, '#/email', 'duplicate'],
      [6, '#/external_id', 'repeated_key'],
    ]);
    for (const name of ['Ada L', 'Ada M'])
      await importAll('/v1/personnel/import?mode=upsert', `external id,name\n1,${name}\n`);
    assert.equal((await all('/v1/personnel'))[0].name, 'Ada M');
    assert.match(body.results[1].errors[0].detail, /the row needs external_id or email/);

    const again = await send('/v1/personnel/import', 'external id,name\n1,Ada\n3,Carol\n');
    assert.deepEqual(errorsOf(again.body), [[2, '#/external_id', 'duplicate']]);
    const byId = await send('/v1/personnel/import', `user_id,name\n${ada.user_id},Ada\n`);
    assert.match(byId.body.results[0].errors[0].detail, /already exists. Import with `mode=upsert`/);
    const history = await service.get(`/v1/personnel/${ada.user_id}/history`, key);
    assert.deepEqual(pluck(history.body.data, 'field'), ['created', 'title', 'title', 'name', 'name']);
  });

  test('fails only the row whose key is no text', async (t) => {
    const { send } = await importer(start(t));
    const file = '{"name":"Ada","email":5}\n{"name":"Grace","email":"grace@example.com"}';
    const { status, body, text } = await send('/v1/personnel/import?mode=upsert', file, ndjson);
    assert.equal(status, 200, text);
    assert.deepEqual(statuses(body), ['failed', 'created']);
    assert.deepEqual(errorsOf(body), [[1, '#/email', 'type']]);
  });

  test('adds members to groups, several or one per row, and removes none', async (t) => {
    const { service, key, importAll, send, all } = await importer(start(t));
    for (const name of ['Ada', 'Bob', 'Carol']) await service.make('/v1/personnel', key, { name });
    const wide = await importAll('/v1/groups/import', 'Team,Members,Lead\nOps,Ada; Bob,Ada\n');
    assert.deepEqual(statuses(wide), ['created']);
    const long = await importAll(
      '/v1/groups/import?mode=upsert',
      'Team,Member\nOps,Carol\nOps,Ada\nPlatform,Ada\nplatform,Bob\n',
    );
    assert.deepEqual(statuses(long), ['updated', 'unchanged', 'created', 'updated']);
    const [ops, platform] = await all('/v1/groups?include=members');
    assert.deepEqual([ops.member_count, ops.member_user_ids.length, platform.member_count], [3, 3, 2]);
    assert.deepEqual((await all('/v1/groups'))[0].member_user_ids, undefined);
    const unknown = await send('/v1/groups/import?mode=upsert', 'Team,Members\nOps,Ada; Unknown\n');
    assert.deepEqual(errorsOf(unknown.body), [[2, '#/member_user_ids', 'unknown_reference']]);
  });

  test('imports statuses that cannot be initial, with their required fields', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const risks = await send(
      '/v1/projects/APOLLO/risks/import?mode=upsert',
      `external_id,title,status,closure_reason,accepted_until,acceptance_reason\na,x,closed,gone,,\nb,x,Accepted,,${soon},insured\nc,x,closed,,,\nd,x,accepted,,2999-01-01,forever\ne,x,open,,,\n`,
    );
    assert.deepEqual(statuses(risks.body), ['created', 'created', 'created', 'failed', 'created']);
    assert.deepEqual(errorsOf(risks.body), [[5, '#/accepted_until', 'too_far']]);
    assert.match(risks.body.results[2].warnings[0].detail, /`closure_reason` is “Closed before the import/);
    // A row whose transition fails creates nothing and uses no number.
    assert.deepEqual((await all('/v1/projects/APOLLO/risks')).map(({ key }) => key).sort(), [
      'APOLLO-R1',
      'APOLLO-R2',
      'APOLLO-R3',
      'APOLLO-R4',
    ]);
    const issues = '/v1/projects/APOLLO/issues/import?mode=upsert';
    const created = await send(
      issues,
      'external_id,title,status,resolution\na,x,closed,fixed\nb,x,In progress,\n',
    );
    assert.deepEqual(statuses(created.body), ['created', 'created']);
    const moved = await send(
      issues,
      'external_id,status,resolution,reason\na,open,,It came back.\nb,closed,workaround,\n',
    );
    assert.deepEqual(statuses(moved.body), ['updated', 'updated'], JSON.stringify(moved.body));
    assert.deepEqual(
      (await all('/v1/projects/APOLLO/issues'))
        .map(({ external_id, status }) => [external_id, status])
        .sort(),
      [
        ['a', 'open'],
        ['b', 'closed'],
      ],
    );
  });

  test('does not match private fields of people for a key without personnel.read', async (t) => {
    const { service, key } = await importer(start(t));
    await service.make('/v1/personnel', key, { name: 'Ada', email: 'ada@example.com', external_id: 'hr-1' });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const other = await service.key('projects.manage');
    for (const department of ['Finance', 'Legal'])
      await service.make('/v1/personnel', key, { name: 'John Smith', department });
    const file = 'title,assignee\na,Ada\nb,ada@example.com\nc,hr-1\nd,John Smith\n';
    const { body } = await service.upload('/v1/projects/APOLLO/tasks/import', other, file);
    assert.deepEqual(statuses(body), ['created', 'failed', 'failed', 'failed']);
    assert.equal(
      body.results[1].errors[0].detail,
      'No person matches “ada@example.com”. Use the person’s name or user ID. `unknown_people` can leave out or create people who are not found.',
    );
    assert.match(
      body.results[3].errors[0].detail,
      /^“John Smith” matches several: John Smith \(usr_\w+\) and John Smith \(usr_\w+\)\. Use the ID of the right one\.$/,
    );
  });

  test('writes to one project only, and not if it is archived', async (t) => {
    const { service, key, send } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects', key, { name: 'Zeus' });
    const other = await send('/v1/projects/APOLLO/tasks/import', 'title,project_key\na,APOLLO\nb,ZEUS\nc,\n');
    assert.deepEqual(errorsOf(other.body), [[3, '#/project_key', 'other_project']]);
    assert.equal((await send('/v1/projects/NOPE/tasks/import', 'title\na\n')).status, 404);
    await service.post('/v1/projects/ZEUS/archive', key, {});
    assert.equal((await send('/v1/projects/ZEUS/tasks/import', 'title\na\n')).body.code, 'project_archived');
  });

  test('keeps keys that nothing has or had, and trusts no key beside the id of another service', async (t) => {
    const { service, key, send } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const tasks = '/v1/projects/APOLLO/tasks';
    for (const title of ['mine', 'gone']) await service.make(tasks, key, { title });
    await service.call('DELETE', `${tasks}/APOLLO-T2`, key);
    const rows = [
      'APOLLO-T1,a',
      'APOLLO-T2,b',
      'APOLLO-T9,c',
      'APOLLO-T4,d',
      'APOLLO-T4,e',
      'APOLLO-T99999999,f',
    ];
    const id = (i: number) => `tsk_01k7mvh1fneep8opkbaknvb1l${i}`;
    const file = ['id,key,title', ...rows.map((row, i) => `${id(i)},${row}`)].join('\n');
    const { body } = await send(`${tasks}/import?mode=upsert`, file);
    const keys = body.results.map((result: Any) => result.key);
    assert.equal(String(keys), 'APOLLO-T10,APOLLO-T11,APOLLO-T9,APOLLO-T4,APOLLO-T12,APOLLO-T13');
    assert.equal((await service.make(tasks, key, { title: 'next' })).key, 'APOLLO-T14');
    const again = await send(`${tasks}/import?mode=upsert`, file);
    assert.deepEqual([again.body.summary.unchanged, again.body.summary.created], [6, 0]);
    assert.equal((await service.get(`${tasks}/APOLLO-T1`, key)).body.title, 'mine');
  });

  test('finds rows by the id of another service, which a key limited to another project cannot take over', async (t) => {
    const { service, key } = await importer(start(t));
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    const gemini = await service.make('/v1/projects', key, { name: 'Gemini' });
    const limits = { name: 'limited', scopes: ['projects.manage'], project_ids: [gemini.id] };
    const limited = (await service.make('/v1/keys', key, limits)).secret;
    const file = 'id,title\ntsk_01k7mvh1fneep8opkbaknvb1l0,a\n';
    const send = (project: string, secret: string) =>
      service.upload(`/v1/projects/${project}/tasks/import?mode=upsert`, secret, file);
    assert.deepEqual(statuses((await send(id, key)).body), ['created']);
    assert.deepEqual(statuses((await send('GEMINI', limited)).body), ['created']);
    assert.deepEqual(statuses((await send(id, key)).body), ['unchanged']);
  });

  test('keeps an assignee who has left, with a warning unless the item is finished', async (t) => {
    const { service, key, send } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/personnel', key, { name: 'Ada', status: 'inactive' });
    const { body } = await send(
      '/v1/projects/APOLLO/tasks/import',
      'title,assignee,status\na,Ada,todo\nb,Ada,done\n',
    );
    assert.deepEqual(statuses(body), ['created', 'created']);
    const codes = body.results.map(({ warnings = [] }: Any) => warnings.map(({ code }: Any) => code));
    assert.deepEqual(codes, [['not_assignable'], []]);
  });

  test('a dry run reports what would happen and changes nothing', async (t) => {
    const { importAll, send, all } = await importer(start(t));
    await importAll('/v1/personnel/import', 'external id,name\n1,Ada\n');
    const file = 'external id,name,manager\n1,Ada L,\n2,Bob,Carol\n3,Carol,\n4,,\n';
    const dry = await send('/v1/personnel/import?mode=upsert&dry_run=true', file);
    assert.equal(dry.status, 200);
    assert.deepEqual(statuses(dry.body), ['updated', 'created', 'created', 'failed']);
    assert.equal(dry.body.results[1].id, undefined);
    assert.deepEqual(pluck(await all('/v1/personnel'), 'name', 'version'), [['Ada', 1]]);
    const real = await send('/v1/personnel/import?mode=upsert', file);
    assert.deepEqual(statuses(real.body), statuses(dry.body));
    const both = await send('/v1/personnel/import?atomic=true&dry_run=true', 'name\nx,y\nx\n');
    assert.equal(both.status, 200);
    assert.deepEqual(statuses(both.body), ['failed', 'skipped']);
  });

  test('other writes continue during a dry run', async (t) => {
    const { service, key } = await withKey(start(t));
    const rows = Array.from({ length: 3000 }, (_, i) => `Person ${i},p${i}@example.com`);
    let isOver = false;
    const dryRun = service
      .call('POST', '/v1/personnel/import?dry_run=true', key, `name,email\n${rows.join('\n')}`, {
        'content-type': 'text/csv',
      })
      .finally(() => {
        isOver = true;
      });
    let written = 0;
    while (!isOver) {
      await service.make('/v1/personnel', key, { name: `Other ${written}` });
      if (!isOver) written++;
    }
    const { body } = await dryRun;
    assert.deepEqual([body.summary.created, body.summary.failed], [3000, 0]);
    assert.ok(written >= 5, `only ${written} writes during the dry run`);
  });

  test('an atomic import with an Idempotency-Key runs once', async (t) => {
    const { send, all } = await importer(start(t));
    const once = (file: string, query = '?atomic=true') =>
      send(`/v1/personnel/import${query}`, file, 'text/csv', { 'idempotency-key': 'k1' });
    const first = await once('name\nAda\nBob\n');
    const second = await once('name\nAda\nBob\n');
    assert.deepEqual(second.body, first.body);
    assert.deepEqual(
      [first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')],
      [null, 'true'],
    );
    assert.equal((await once('name\nCarol\n')).body.code, 'idempotency_mismatch');
    assert.match((await once('name\nCarol\n', '')).body.detail, /requires `atomic=true`/);
    assert.equal((await all('/v1/personnel')).length, 2);
  });

  test('an atomic import becomes visible at once, and other requests continue during it', async (t) => {
    const { service, key, send } = await importer(start(t));
    const rows = Array.from({ length: 3000 }, (_, i) => `Person ${i},p${i}@example.com`);
    let isOver = false;
    const importing = send('/v1/personnel/import?atomic=true', ['name,email', ...rows].join('\n')).finally(
      () => {
        isOver = true;
      },
    );
    const seen = new Set<number>();
    for (let i = 0; !isOver; i++) {
      const { body } = await service.get('/v1/personnel?limit=1&count=true', key);
      seen.add(body.page.total);
      if (i === 0) assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    }
    assert.equal((await importing).status, 200);
    const { body } = await service.get('/v1/personnel?limit=1&count=true', key);
    assert.deepEqual([...seen.add(body.page.total)].sort(), seen.has(0) ? [0, 3000] : [3000]);
  });
});

// Reading a file does not depend on the engine.
onSqlite('files of an import', (start) => {
  test('reads spreadsheet exports, or explains why it cannot', async (t) => {
    const { send, importAll, all } = await importer(start(t));
    await importAll(
      '/v1/personnel/import',
      Buffer.from('name;title\nZoë;Ingénieure\n', 'latin1'),
      'text/csv; charset=iso-8859-1',
    );
    await importAll('/v1/personnel/import', '\ufeffname;title\r\nZwei;"a; ""b"""\r\n');
    await importAll('/v1/personnel/import', Buffer.from('\ufeffname\ttitle\nDrei\tx\n', 'utf16le'));
    await importAll('/v1/projects/import', 'name,description\nApollo,"one\r\ntwo"\r\n');
    await importAll(
      '/v1/personnel/import',
      await workbook([
        ['Name', 'Start date'],
        ['Vier', 46_000],
      ]),
      xlsxType,
    );
    const [drei, vier, zoe, zwei] = await all('/v1/personnel').then((people) =>
      people.sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
    assert.deepEqual(
      [drei.title, vier.start_on, zoe.title, zwei.title],
      ['x', '2025-12-09', 'Ingénieure', 'a; "b"'],
    );
    assert.equal((await all('/v1/projects'))[0].description, 'one\ntwo');

    const rejects = async (file: string | Uint8Array, status: number, why: RegExp, type?: string) => {
      const { body, ...response } = await send('/v1/personnel/import', file, type);
      assert.equal(response.status, status, response.text);
      assert.match(body.detail, why);
    };
    await rejects('', 422, /The file is empty/);
    await rejects('\n\n', 422, /The file is empty/);
    await rejects(
      'Ada,ada@example.com\nBob,bob@example.com\n',
      422,
      /The first line must name the columns, such as name.* It contains “Ada” and “ada@example.com”/,
    );
    await rejects('name\n"Ada\n', 400, /line 2 cannot be read: a quote is never closed/);
    await rejects(
      'name',
      415,
      /Send the file as a form \(`multipart\/form-data`\), or itself as the body, with `Content-Type: text\/csv`/,
      'application/json',
    );
    await rejects(
      await workbook([['name'], ['Ada']]),
      400,
      /a workbook or another ZIP file, but it was sent as CSV/,
    );
    await rejects('name\nAda\n', 400, /not a workbook/, xlsxType);
    await rejects(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 400, /old \(\.xls\)/, xlsxType);
    assert.equal((await all('/v1/personnel')).length, 4);
  });

  test('rejects files that are too large, and files sent to other routes', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    const many = await send('/v1/personnel/import', `name\n${'x\n'.repeat(100_001)}`);
    assert.deepEqual([many.status, many.body.code], [413, 'too_large']);
    assert.match(many.body.detail, /more than 100000 rows. Nothing was imported. Split the file/);
    const large = await send('/v1/personnel/import', 'x'.repeat(33 * 1024 * 1024));
    assert.deepEqual([large.status, large.body.code], [413, 'too_large']);
    assert.match(large.body.detail, /32 MiB/);
    const body = await service.post('/v1/personnel', key, { name: 'x'.repeat(2 * 1024 * 1024) });
    assert.match(body.body.detail, /1 MiB/);
    assert.equal((await send('/v1/personnel', 'name\nAda\n')).status, 415);
    assert.equal((await all('/v1/personnel')).length, 0);
  });

  test('recognizes columns by name and rejects unknown ones', async (t) => {
    const { send, importAll, all } = await importer(start(t));
    const rejects = async (query: string, header: string, ...errors: [string, RegExp][]) => {
      const { status, body } = await send(
        `/v1/personnel/import${query}`,
        `${header}\n${header.replace(/[^,]+/g, 'x')}\n`,
      );
      assert.ok([400, 422].includes(status), JSON.stringify(body));
      assert.deepEqual(
        pluck(body.errors, 'code'),
        errors.map(([code]) => code),
      );
      for (const [i, [, detail]] of errors.entries()) assert.match(body.errors[i].detail, detail);
    };
    const strict = '?unknown_columns=reject';
    await rejects(strict, 'name,Titel', [
      'unknown_column',
      /Unknown column “Titel”.* Did you mean `title`\?.*`Titel=attributes.Titel`.*`Titel=`/,
    ]);
    await rejects(strict, 'name,shoe size,hat', ['unknown_column', /shoe size/], ['unknown_column', /hat/]);
    await rejects('?map=a%3Dtitle,b%3Dtitle', 'name,a,b', [
      'repeated_column',
      /“a” and “b” both map to `title`/,
    ]);
    await rejects('', 'e-mail,title', ['missing_column', /No column maps to the required field `name`/]);
    await rejects('?map=Who', 'Who', ['invalid_parameter', /no field for “Who”. Write `column=field`/]);
    const { body } = await send(`/v1/personnel/import${strict}`, 'Full name,Titel,version\nAda,Countess,1\n');
    assert.deepEqual(body.columns, { 'Full name': 'name', Titel: null, version: '' });
    await rejects('?map=Nmae%3Dname', 'name', [
      'invalid_parameter',
      /names the column “Nmae”, which is not in the file/,
    ]);
    await rejects('?map=Who%3Dnmae', 'Who', [
      'unknown_field',
      /assigns “Who” to `nmae`, which is not a field. Did you mean `name`\?/,
    ]);

    const map = encodeURIComponent('Wer=name,Badge=attributes.badge,Notes, old=');
    const { summary } = await importAll(
      `/v1/personnel/import?map=${map}`,
      'Wer,Badge,attributes.floor,user_id,version,updated_at,"Notes, old"\nAda,B-17,2,,1,2026-01-01T00:00:00Z,n\nBob,,3,,,,\n',
    );
    assert.deepEqual(summary.columns, {
      Wer: 'name',
      Badge: 'attributes.badge',
      'attributes.floor': 'attributes.floor',
      user_id: 'user_id',
    });
    assert.deepEqual(summary.ignored_columns, ['version', 'updated_at', 'Notes, old']);
    const [ada, bob] = await all('/v1/personnel');
    assert.deepEqual([ada.attributes, bob.attributes], [{ badge: 'B-17', floor: '2' }, { floor: '3' }]);
  });

  test('skips unknown columns, keeps them as attributes, and keeps the better of two columns', async (t) => {
    const { importAll, all } = await importer(start(t));
    const file = 'name,mail,e-mail,Titel,Shoe size\nAda,x@example.com,ada@example.com,Countess,38\n';
    const { summary } = await importAll('/v1/personnel/import', file);
    assert.deepEqual(summary.columns, { name: 'name', 'e-mail': 'email' });
    assert.deepEqual(summary.unknown_columns, {
      mail: '“e-mail” is `email`.',
      Titel: 'Did you mean `title`?',
      'Shoe size': '',
    });
    assert.match(summary.explanation, /Skipped “mail”, “Titel” and “Shoe size”\./);
    await importAll('/v1/personnel/import?mode=upsert&unknown_columns=attributes', file);
    const [ada] = await all('/v1/personnel');
    assert.equal(ada.email, 'ada@example.com');
    assert.deepEqual(ada.attributes, { 'Shoe size': '38', Titel: 'Countess', mail: 'x@example.com' });
  });

  test('reads values in the words of other tools, or in the words of the request', async (t) => {
    const { service, key, send, importAll, all } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const file =
      'Ref,Title,Likelihood,Impact,Status\n1,x,Very likely,H,Parked\n2,y,2 - Unlikely,80%,In progress\n';
    const rejected = await send('/v1/projects/APOLLO/risks/import', file);
    assert.deepEqual(errorsOf(rejected.body), [[2, '#/status', 'enum']]);
    assert.match(rejected.body.results[0].errors[0].detail, /assign the text with `map_values`/);
    assert.deepEqual(rejected.body.summary.unknown_values, { Status: ['Parked'] });
    const { choices, explanation } = rejected.body.summary;
    assert.deepEqual(Object.keys(choices), ['Likelihood', 'Impact', 'Status']);
    assert.deepEqual(choices.Impact, ['1', '2', '3', '4', '5']);
    assert.ok(choices.Status.includes('monitoring'));
    assert.match(explanation, /Unknown in “Status”: “Parked”\./);
    const map = encodeURIComponent('Status:Parked=monitoring,Impact:H=5');
    const { summary } = await importAll(
      `/v1/projects/APOLLO/risks/import?mode=upsert&map_values=${map}`,
      file,
    );
    assert.deepEqual(summary.values, {
      Likelihood: { 'Very likely': '5', '2 - Unlikely': '2' },
      Impact: { H: '5', '80%': '4' },
      Status: { Parked: 'monitoring', 'In progress': 'mitigating' },
    });
    const risks = await all('/v1/projects/APOLLO/risks?sort=rank');
    assert.deepEqual(pluck(risks, 'probability', 'impact', 'status'), [
      [5, 5, 'monitoring'],
      [2, 4, 'mitigating'],
    ]);
    const bad = await send('/v1/projects/APOLLO/risks/import?map_values=Parked%3Dopen', file);
    assert.match(bad.body.detail, /“Parked” names no column. Write `column:text=value`/);
  });

  test('a date that can be read in two ways is a question, and the answer is taken', async (t) => {
    const { send, all } = await importer(start(t));
    const file = 'name,start date,end date\nAda,03/04/2020,04/05/2021\n';
    const asked = await send('/v1/personnel/import', file);
    assert.deepEqual([asked.status, asked.body.errors[0].code], [422, 'ambiguous_dates']);
    assert.match(asked.body.detail, /“03\/04\/2020” on line 2 .* `date_order=dmy` or `date_order=mdy`/);
    await send('/v1/personnel/import?date_order=mdy', file);
    // A single date decides for the file, as here in another column.
    await send('/v1/personnel/import', 'name,start date,end date\nBob,03/04/2020,\nCid,,31/12/2021\n');
    const [ada, bob] = await all('/v1/personnel');
    assert.deepEqual([ada.start_on, ada.end_on, bob.start_on], ['2020-03-04', '2021-04-05', '2020-04-03']);
    const mixed = await send('/v1/personnel/import', 'name,start date\nA,31/12/2020\nB,12/31/2020\n');
    assert.match(mixed.body.detail, /“31\/12\/2020” on line 2 and “12\/31\/2020” on line 3/);
  });

  test('an update from a sheet with formulas without results erases nothing', async (t) => {
    const { send, importAll, all } = await importer(start(t));
    await importAll('/v1/personnel/import', 'external id,name,title\n1,Ada,Countess\n');
    const cell = (at: string, text: string) => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
    const header = `<row r="1">${cell('A1', 'external id')}${cell('B1', 'title')}</row>`;
    const rows = `${header}<row r="2">${cell('A2', '1')}<c r="B2"><f>VLOOKUP(A2,X:Y,2)</f></c></row>`;
    const file = await workbookOf([
      { name: 'Old', state: 'hidden', rows: header },
      { name: 'People', rows },
      { name: 'Other', rows: `${header}<row r="2">${cell('A2', '1')}${cell('B2', 'Lady')}</row>` },
    ]);
    const { body } = await send('/v1/personnel/import?mode=upsert', file, xlsxType);
    assert.deepEqual(errorsOf(body), [[2, undefined, 'unreadable']]);
    assert.match(body.results[0].errors[0].detail, /^The cell B2 of the sheet “People” has a formula/);
    assert.deepEqual([body.summary.sheet, (await all('/v1/personnel'))[0].title], ['People', 'Countess']);
    await importAll('/v1/personnel/import?mode=upsert&sheet=other', file, xlsxType);
    assert.equal((await all('/v1/personnel'))[0].title, 'Lady');
    const unknown = await send('/v1/personnel/import?sheet=x', file, xlsxType);
    assert.match(unknown.body.detail, /no sheet “x”. Its sheets are “Old”, “People” and “Other”/);
  });

  test('returns the cells of failed or of all rows on request', async (t) => {
    const { send } = await importer(start(t));
    const rows = [
      ['Name', 'E-mail', 'Start date', 'Badge'],
      ['Ada', 'no address', 46_000, 7],
      ['Bob', 'bob@example.com', 46_000, 8],
    ];
    const { body } = await send('/v1/personnel/import?include=failed_data', await workbook(rows), xlsxType);
    const data = { Name: 'Ada', 'E-mail': 'no address', 'Start date': '2025-12-09', Badge: '7' };
    assert.deepEqual(
      body.results.map((result: Any) => result.data),
      [data, undefined],
    );
    const all = await send(
      '/v1/personnel/import?include=data&dry_run=true&atomic=true',
      'Name,Email,Email\nAda,no address,second\nBob,bob@example.com,',
    );
    assert.deepEqual(
      all.body.results.map((result: Any) => result.data),
      [
        { Name: 'Ada', Email: 'no address' },
        { Name: 'Bob', Email: 'bob@example.com' },
      ],
      'of a repeated column the first cell counts',
    );
  });

  test('reports a few of many errors in a row, and how many more there are', async (t) => {
    const { send } = await importer(start(t));
    const members = Array.from({ length: 500 }, (_, i) => `Nobody ${i % 400}`).join('; ');
    for (const query of ['', '&unknown_people=leave_empty']) {
      const file = `Team,Members\nOps ${query.length},${members}\n`;
      const { body } = await send(`/v1/groups/import?mode=upsert${query}`, file);
      const [{ errors, warnings }] = body.results;
      const reported = errors ?? warnings;
      assert.equal(reported.length, 21);
      assert.equal(reported.at(-1).detail, '380 more of this kind in the row.');
      assert.equal(body.summary.unknown_people.length > 20, true);
    }
  });

  test('returns the cells of few rows if the columns have long names', async (t) => {
    const { send } = await importer(start(t));
    const name = 'x'.repeat(1_000_000);
    const file = `name,${name}\n${Array.from({ length: 60 }, (_, i) => `Person ${i},1\n`).join('')}`;
    const { body } = await send('/v1/personnel/import?include=data&dry_run=true', file);
    const withData = body.results.filter(({ data }: Any) => data !== undefined);
    assert.equal(body.summary.created, 60);
    assert.ok(withData.length > 0 && withData.length < 40, String(withData.length));
  });

  test('validates NDJSON as strictly as a request body', async (t) => {
    const { send, all } = await importer(start(t));
    const lines = [
      { name: 'Ada', skills: ['x'], attributes: { a: 'b' } },
      { name: 'Bob', nmae: 1 },
      { name: 5 },
      { name: 'Carol', skills: 'x', status: null, manager_user_id: 7, kind: 'Human' },
      { name: 'Dan\u0007', email: '' },
      { 'Full name': 'Eve', user_id: 'x', version: 3 },
    ].map((row) => JSON.stringify(row));
    const { body } = await send(
      '/v1/personnel/import',
      [...lines, '{"name":', `{"name":"x","attributes":${'['.repeat(50)}${']'.repeat(50)}}`].join('\n'),
      ndjson,
    );
    assert.deepEqual(errorsOf(body), [
      [2, '#/nmae', 'unknown_field'],
      [3, '#/name', 'type'],
      [4, '#/manager_user_id', 'type'],
      [4, '#/kind', 'enum'],
      [4, '#/skills', 'type'],
      [4, '#/status', 'type'],
      [4, '#/status', 'enum'],
      [5, '#/name', 'forbidden_characters'],
      [5, '#/email', 'format'],
      [7, undefined, 'unreadable'],
      [8, '#/attributes', 'malformed_request'],
    ]);
    assert.deepEqual(pluck(await all('/v1/personnel'), 'name'), ['Ada', 'Eve']);
  });

  test('returns results as NDJSON on request', async (t) => {
    const { send } = await importer(start(t));
    const { text, headers } = await send('/v1/personnel/import', 'name\nAda\n\nBob\n', 'text/csv', {
      accept: ndjson,
    });
    assert.match(headers.get('content-type') ?? '', /^application\/x-ndjson/);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ line, status, summary }) => (line ? [line, status] : summary.rows)),
      [[2, 'created'], [4, 'created'], 2],
    );
    for (const accept of ['application/json, application/x-ndjson;q=0', 'image/png']) {
      const json = await send('/v1/personnel/import?dry_run=true', 'name\nAda\n', 'text/csv', { accept });
      assert.equal(json.body.summary.rows, 1, accept);
    }
  });
});
