import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { onBothEngines, pluck, withKey } from '../../test/service.ts';
import { checkCommand } from '../commands/check.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const risks = '/v1/projects/APOLLO/risks';
const issues = '/v1/projects/APOLLO/issues';

onBothEngines('an import with mode=upsert', (start, engine) => {
  test('updates rows together, with the history and the events of single changes', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const upsert = (path: string, header: string, row: (i: number) => string) => {
      const rows = Array.from({ length: 300 }, (_, i) => row(i));
      return service.upload(`${path}/import?mode=upsert`, key, `${header}\n${rows.join('\n')}\n`);
    };
    const people = (v: string) =>
      upsert('/v1/personnel', 'external_id,name,title,skills,start_on,end_on', (i) =>
        [`e${i}`, `Person ${i}`, `Title ${v}`, v, '2026-01-01', '2026-02-01'].join(),
      );
    const ofRisks = (v: number) =>
      upsert(risks, 'external_id,title,probability,impact,due_on,raised_on', (i) =>
        [`r${i}`, `Risk ${i}`, v, 4, v > 3 && i === 7 ? '2025-01-01' : '', '2026-01-01'].join(),
      );
    for (const [path, change] of [
      ['/v1/personnel', () => people('b')],
      [risks, () => ofRisks(4)],
    ] as const) {
      await (path === risks ? ofRisks(3) : people('a'));
      const before = await service.list(path, key);
      const { next_after } = (await service.get('/v1/events?limit=1000', key)).body.meta;
      const query = t.mock.method(pg.Client.prototype, 'query');
      const { summary, results } = (await change()).body;
      const queries = query.mock.callCount();
      query.mock.restore();
      const failed = path === risks ? 1 : 0;
      assert.deepEqual([summary.updated, summary.failed], [300 - failed, failed], JSON.stringify(results[7]));
      if (failed > 0) assert.deepEqual(pluck(results[7].errors, 'code'), ['date_order']);
      if (engine === 'postgres') assert.ok(queries < 300 * 2, `${queries} queries`);
      const events = (await service.get(`/v1/events?after=${next_after}&limit=1000`, key)).body.data;
      assert.equal(events.length, 300 - failed);
      const after = await service.list(path, key);
      for (const [i, { version, ...row }] of after.entries()) {
        const id = row.user_id ?? row.id;
        const event = events.find((one: Any) => one.subject.id === id);
        const history = (await service.get(`${path}/${id}/history`, key)).body.data.length;
        if (!event)
          assert.deepEqual(
            { ...row, version },
            before.find((one: Any) => one.id === id),
          );
        else assert.deepEqual([version, event.data.title, history > 1], [2, row.title, true], `${i}`);
        if (i > 10) break;
      }
      assert.deepEqual((await checkCommand(service.database, () => {})).violations, []);
    }
  });

  test('rejects a second row about the same item, however it names the project', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const file = 'project,external_id,title\nAPOLLO,x1,First\n,x1,Second\nApollo,x1,Third\n';
    const { body } = await service.upload(`${risks}/import?mode=upsert`, key, file);
    assert.deepEqual(
      body.results.map(({ status, errors }: Any) => [status, errors?.[0]?.code]),
      [
        ['created', undefined],
        ['failed', 'repeated_key'],
        ['failed', 'repeated_key'],
      ],
    );
    assert.deepEqual(pluck(await service.list(risks, key), 'title'), ['First']);
  });

  test('gives one person the former address of another, and says how two swap theirs', async (t) => {
    const { service, key } = await withKey(start(t));
    const upsert = async (...rows: string[]) => {
      const file = `external_id,name,email\n${rows.join('\n')}\n`;
      return (await service.upload('/v1/personnel/import?mode=upsert', key, file)).body;
    };
    const addresses = async () => pluck(await service.list('/v1/personnel', key), 'name', 'email').sort();
    await upsert('e1,Ada,a@example.com', 'e2,Grace,g@example.com');
    const { summary } = await upsert('e1,Ada,new@example.com', 'e2,Grace,a@example.com');
    assert.deepEqual([summary.updated, summary.failed], [2, 0]);
    // Also where the one who gives it up comes later.
    const back = await upsert('e2,Grace,new@example.com', 'e1,Ada,back@example.com');
    assert.deepEqual([back.summary.updated, back.summary.failed], [2, 0]);
    const forth = await upsert('e1,Ada,new@example.com', 'e2,Grace,a@example.com');
    assert.equal(forth.summary.failed, 0);
    const swapped = ['e1,Ada,a@example.com', 'e2,Grace,new@example.com'];
    const { results } = await upsert(...swapped);
    for (const { errors } of results)
      assert.match(
        errors[0].detail,
        /already has the email .* import one of them with an empty `email` first\.$/,
      );
    assert.equal((await upsert('e1,Ada,', 'e2,Grace,new@example.com')).summary.updated, 2);
    assert.equal((await upsert(...swapped)).summary.failed, 0);
    assert.deepEqual(await addresses(), [
      ['Ada', 'a@example.com'],
      ['Grace', 'new@example.com'],
    ]);
    // Whoever is named by an address that an earlier row has replaced would be overwritten.
    const replaced = await upsert('e1,Ada,other@example.com', ',Ada,a@example.com');
    assert.equal(replaced.results[1].errors[0].code, 'repeated_key');
  });

  test('changes nothing that the file does not say', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make(issues, key, { title: 'Rejected', external_id: 'i1' });
    const resolved = { status: 'resolved', resolution: 'wont_fix' };
    await service.patch(`${issues}/APOLLO-I1`, key, resolved);
    const closed = await service.upload(
      `${issues}/import?mode=upsert`,
      key,
      'external_id,status\ni1,Closed\n',
    );
    assert.equal(closed.body.summary.updated, 1, closed.text);
    const issue = (await service.get(`${issues}/APOLLO-I1`, key)).body;
    assert.deepEqual([issue.status, issue.resolution], ['closed', 'wont_fix']);

    await service.make(risks, key, { title: 'Flood', external_id: 'r1' });
    const notes = 'Risk ID,Notes\nr1,The river rises\nr2,"A new one\nwith details"\n';
    for (const [updated, unchanged] of [
      [1, 1],
      [0, 2],
    ]) {
      if (updated === 1)
        await service.upload(`${risks}/import`, key, 'Risk ID,Notes\nr2,"A new one\nwith details"\n');
      const { body } = await service.upload(`${risks}/import?mode=upsert`, key, notes);
      assert.deepEqual([body.summary.updated, body.summary.unchanged], [updated, unchanged]);
    }
    const stored: Any[] = (await service.list(risks, key)).sort((a: Any, b: Any) =>
      a.key.localeCompare(b.key),
    );
    assert.deepEqual(pluck(stored, 'title', 'description'), [
      ['Flood', 'The river rises'],
      ['A new one', 'A new one\nwith details'],
    ]);
    // A key in lower case is the same key.
    const { body } = await service.upload(
      `${risks}/import?mode=upsert`,
      key,
      'Key,Title\napollo-r1,Flood of the river\n',
    );
    assert.equal(body.summary.updated, 1);
    assert.equal((await service.get(`${risks}/APOLLO-R1`, key)).body.title, 'Flood of the river');

    await service.make('/v1/personnel', key, { name: 'Ada Lovelace', external_id: 'p1' });
    const people = 'Employee ID,First name,Title\np1,Ada,Engineer\np2,Grace,Admiral\n';
    await service.upload('/v1/personnel/import?mode=upsert', key, people);
    const roster: Any[] = await service.list('/v1/personnel', key);
    assert.deepEqual(pluck(roster, 'name', 'title'), [
      ['Ada Lovelace', 'Engineer'],
      ['Grace', 'Admiral'],
    ]);
  });

  test('fails the second of two rows about one resource, and a sync with such a file is refused', async (t) => {
    const { service, key } = await withKey(start(t));
    const file = 'external_id,name\n7,Ada Lovelace\n7,Grace Hopper\n8,Alan Turing\n';
    const refused = await service.upload('/v1/personnel/import?mode=sync&source=hr', key, file);
    assert.deepEqual([refused.status, refused.body.code], [422, 'import_refused'], refused.text);
    assert.match(refused.body.detail, /^Line 3 has the same external_id as another line: 7\./);
    assert.deepEqual(await service.list('/v1/personnel', key), []);
    for (let i = 0; i < 2; i++) {
      const { body } = await service.upload('/v1/personnel/import?mode=upsert', key, file);
      assert.equal(body.summary.failed, 1);
      assert.equal(body.results[1].errors[0].code, 'repeated_key');
      assert.deepEqual(pluck(await service.list('/v1/personnel', key), 'name'), [
        'Ada Lovelace',
        'Alan Turing',
      ]);
    }
  });

  for (const others of [0, 400])
    test(`fails a second row about one person by another key, ${others} rows later`, async (t) => {
      const { service, key } = await withKey(start(t));
      const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada', email: 'ada@example.com' });
      const between = Array.from({ length: others }, (_, i) => `,p${i}@example.com,Person ${i},\n`).join('');
      const file = `user_id,email,name,title\n${user_id},new@example.com,Ada,One\n${between},ada@example.com,Ada,Two\n`;
      const { body } = await service.upload('/v1/personnel/import?mode=upsert', key, file);
      const last = body.results.at(-1);
      assert.deepEqual([body.results[0].status, last.status], ['updated', 'failed']);
      assert.deepEqual(last.errors, [
        {
          pointer: '#/email',
          code: 'repeated_key',
          detail:
            'Line 2 is about the same person, with the email ada@example.com. Remove one of the two lines, or correct it.',
        },
      ]);
      const stored: Any[] = (await service.list('/v1/personnel', key)).filter(
        ({ name }: Any) => name === 'Ada',
      );
      assert.deepEqual(pluck(stored, 'user_id', 'email', 'title'), [[user_id, 'new@example.com', 'One']]);
    });

  test('takes the rows of two projects for different items, however a row names its project', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of ['Apollo', 'Hermes']) await service.make('/v1/projects', key, { name });
    const file = 'project,external_id,title\nAPOLLO,x,One\nHermes,x,Two\nApollo,x,Three\n';
    const { body } = await service.upload('/v1/imports/risks?mode=upsert', key, file);
    assert.deepEqual(pluck(body.results, 'status'), ['created', 'created', 'failed']);
    assert.match(
      body.results[2].errors[0].detail,
      /^Line 2 is about the same risk, with the external_id x\./,
    );
  });

  test('changes nothing the second time, also if what a status needs is empty in the file', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const send = async (path: string, file: string) => {
      const { body } = await service.upload(`${path}/import?mode=upsert`, key, file);
      return pluck(body.results, 'status', 'changed');
    };
    const file =
      'external_id,title,status,closure_reason,accepted_until\n1,One,closed,,\n2,Two,accepted,,\n3,Three,open,,\n';
    const log = 'external_id,title,status,resolution\n1,One,resolved,\n2,Two,closed,\n';
    assert.deepEqual(await send(risks, file), Array(3).fill(['created', undefined]));
    assert.deepEqual(await send(issues, log), Array(2).fill(['created', undefined]));
    await service.patch(`${risks}/APOLLO-R1`, key, { closure_reason: 'It rains no more.' });
    await service.patch(`${issues}/APOLLO-I1`, key, { resolution: 'wont_fix' });
    const state = async () => [
      ...pluck(await service.list(`${risks}?status=all`, key), 'version', 'status', 'closure_reason'),
      ...pluck(await service.list(`${issues}?status=all`, key), 'version', 'status', 'resolution'),
    ];
    const before = await state();
    assert.deepEqual(await send(risks, file), Array(3).fill(['unchanged', undefined]));
    assert.deepEqual(await send(issues, log), Array(2).fill(['unchanged', undefined]));
    assert.deepEqual(await state(), before);
  });

  test('and mode=sync refuses a file without rows, whatever the limit', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [path, rows] of [
      ['/v1/personnel', 'external_id,name\n1,Ada Lovelace\n2,Alan Turing\n'],
      ['/v1/groups', 'external_id,name\n1,Platform\n'],
    ] as const) {
      const send = (file: string) =>
        service.upload(`${path}/import?mode=sync&source=hr&max_leaving=100`, key, file);
      assert.equal((await send(rows)).status, 200);
      const before = await service.list(path, key);
      const { status, body } = await send('external_id,name\n');
      assert.deepEqual([status, body.code], [422, 'import_refused']);
      assert.deepEqual(await service.list(path, key), before);
    }
  });
});
