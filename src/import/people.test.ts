import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, type TestService, withKey } from '../../test/service.ts';
import { isNobody, placeholderOf, separatePeople } from './references/people.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const path = '/v1/projects/APOLLO/risks';

async function withProject(started: Promise<TestService>) {
  const { service, key } = await withKey(started);
  await service.make('/v1/personnel', key, { name: 'Ada Lovelace', email: 'ada@example.com' });
  await service.make('/v1/personnel', key, { name: 'Grace Hopper' });
  await service.make('/v1/projects', key, { name: 'Apollo' });
  const owners = async () => {
    const risks: Any[] = await service.list(`${path}?status=all`, key);
    return Object.fromEntries(risks.map(({ title, owner_name }) => [title, owner_name]));
  };
  const send = (query: string, file: string) => service.upload(`${path}/import?${query}`, key, file);
  return { service, key, owners, send };
}

const file =
  'Title,Owner,Raised by\n' +
  'Known,"Lovelace, Ada",Grace Hopper\n' +
  'Unknown,Linus Torvalds,\n' +
  'Again,"Torvalds, Linus",linus torvalds\n' +
  'Nobody,TBD,n/a\n' +
  'Dash,-,Unassigned\n' +
  'Several,"Linus Torvalds, Grace Hopper",\n';

onBothEngines('people of a file who are not on the roster', (start) => {
  test('are errors of their rows by default, and listed once each', async (t) => {
    const { owners, send } = await withProject(start(t));
    const { body } = await send('', file);
    assert.deepEqual(await owners(), { Known: 'Ada Lovelace', Nobody: null, Dash: null });
    assert.deepEqual(pluck(body.results, 'status'), [
      'created',
      'failed',
      'failed',
      'created',
      'created',
      'failed',
    ]);
    assert.match(
      body.results[1].errors[0].detail,
      /No person or group matches “Linus Torvalds”.*`unknown_people`/,
    );
    assert.deepEqual(body.summary.unknown_people, [
      {
        text: 'Linus Torvalds',
        columns: ['Owner', 'Raised by'],
        cells: 4,
        line: 3,
        result: 'failed',
      },
    ]);
    assert.deepEqual(body.summary.values, {
      Owner: { TBD: 'null', '-': 'null' },
      'Raised by': { 'n/a': 'null', Unassigned: 'null' },
    });
    assert.match(body.summary.explanation, /Not found: “Linus Torvalds”\./);
  });

  test('are left out with a warning, and an existing owner stays', async (t) => {
    const { owners, send } = await withProject(start(t));
    const { body } = await send('unknown_people=leave_empty', file);
    assert.equal(body.summary.failed, 0);
    assert.deepEqual(await owners(), {
      Known: 'Ada Lovelace',
      Unknown: null,
      Again: null,
      Nobody: null,
      Dash: null,
      Several: 'Grace Hopper',
    });
    assert.deepEqual(pluck(body.results[1].warnings, 'column', 'code'), [['Owner', 'unknown_person']]);
    assert.deepEqual(pluck(body.summary.unknown_people, 'text', 'cells', 'result'), [
      ['Linus Torvalds', 3, 'left_empty'],
    ]);
    const rows = 'external id,title,owner\n1,One,Ada Lovelace\n';
    await send('', rows);
    const update = await send(
      'mode=upsert&unknown_people=leave_empty',
      rows.replace('Ada Lovelace', 'Linus').replace('One', 'Two'),
    );
    assert.deepEqual(update.body.results[0].changed, ['title']);
    assert.equal((await owners()).Two, 'Ada Lovelace');
  });

  test('are created as placeholders, one each, and only with personnel.manage', async (t) => {
    const { service, key, owners, send } = await withProject(start(t));
    const dryRun = await send('unknown_people=create&dry_run=true', file);
    assert.deepEqual(pluck(dryRun.body.summary.unknown_people, 'text', 'result', 'user_id'), [
      ['Linus Torvalds', 'created', undefined],
    ]);
    const { body } = await send('unknown_people=create', file);
    assert.equal(body.summary.failed, 0);
    assert.equal((await owners()).Again, 'Linus Torvalds');
    const people: Any[] = await service.list('/v1/personnel', key);
    assert.deepEqual(pluck(people, 'name', 'kind'), [
      ['Ada Lovelace', 'human'],
      ['Grace Hopper', 'human'],
      ['Linus Torvalds', 'placeholder'],
    ]);
    assert.deepEqual(body.summary.unknown_people, [
      {
        text: 'Linus Torvalds',
        columns: ['Owner', 'Raised by'],
        cells: 4,
        line: 3,
        result: 'created',
        user_id: people[2].user_id,
      },
    ]);
    const limited = await service.key('projects.manage');
    const refused = await service.upload(`${path}/import?unknown_people=create`, limited, file);
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_scope']);
    // The row fails for another reason, so nobody is created for it.
    await send('unknown_people=create', 'title,owner,probability\nBad,Bill Gates,99\n');
    const long = await send('unknown_people=create', `title,owner\nLong,${'x'.repeat(300)}\n`);
    assert.match(long.body.results[0].errors[0].detail, /none can be created: .*200/);
    assert.equal((await service.list('/v1/personnel', key)).length, 3);
  });

  test('can be assigned to people with map_values', async (t) => {
    const { owners, send } = await withProject(start(t));
    const logins = 'title,Owner\nA,jdoe\nB,"jdoe; ghopper"\nC,former\n';
    const map = 'map_values=Owner:jdoe=ada@example.com,Owner:ghopper=Grace Hopper,Owner:former=';
    const { body } = await send(map, logins);
    assert.equal(body.summary.failed, 0);
    assert.deepEqual(await owners(), { A: 'Ada Lovelace', B: 'Ada Lovelace', C: null });
    assert.equal(body.summary.values.Owner.jdoe, 'ada@example.com');
    assert.match(body.summary.explanation, /“jdoe” is `ada@example.com`.* “former” is left empty\./);
    const unused = await send('map_values=Owner:nobody-here=Ada', logins);
    assert.deepEqual([unused.status, unused.body.code], [400, 'invalid_parameter']);
  });

  test('can be decided one by one, as the summary names them', async (t) => {
    const { service, key, owners, send } = await withProject(start(t));
    const names = 'title,Owner\nA,"Torvalds, Linus"\nB,"Gates, Bill"\nC,"Jobs, Steve"\nD,"Wozniak, Steve"\n';
    const { summary } = (await send('dry_run=true', names)).body;
    assert.deepEqual(pluck(summary.unknown_people, 'text'), [
      'Torvalds, Linus',
      'Gates, Bill',
      'Jobs, Steve',
      'Wozniak, Steve',
    ]);
    const map =
      'map_values=Owner:Torvalds, Linus=ada@example.com,Owner:Gates, Bill=*,Owner:Steve Jobs=&unknown_people=error';
    const { body } = await send(map, names);
    assert.deepEqual(pluck(body.results, 'status'), ['created', 'created', 'created', 'failed']);
    assert.deepEqual(await owners(), { A: 'Ada Lovelace', B: 'Bill Gates', C: null });
    assert.deepEqual(pluck(body.summary.unknown_people, 'text', 'result'), [
      ['Gates, Bill', 'created'],
      ['Wozniak, Steve', 'failed'],
    ]);
    const people: Any[] = await service.list('/v1/personnel?kind=placeholder', key);
    assert.deepEqual(pluck(people, 'name'), ['Bill Gates']);
    const limited = await service.key('projects.manage');
    const refused = await service.upload(
      `${path}/import?map_values=Owner:x=*`,
      limited,
      'title,Owner\nE,x\n',
    );
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_scope']);
  });

  test('of a personnel file are created unless another row of the file is about them', async (t) => {
    const { service, key } = await withKey(start(t));
    const people =
      'Name,Email,Manager\nAda,ada@example.com,"Hopper, Grace"\nGrace Hopper,,NO_MANAGER\nBob,,Zoe <zoe@example.com>\n';
    const { body } = await service.upload('/v1/personnel/import?unknown_people=create', key, people);
    assert.equal(body.summary.failed, 0);
    const all: Any[] = await service.list('/v1/personnel', key);
    assert.deepEqual(pluck(all, 'name', 'email', 'kind'), [
      ['Ada', 'ada@example.com', 'human'],
      ['Bob', null, 'human'],
      ['Grace Hopper', null, 'human'],
      ['Zoe', 'zoe@example.com', 'placeholder'],
    ]);
    const grace = all.find(({ name }) => name === 'Grace Hopper');
    assert.equal(all[0].manager_user_id, grace.user_id);
    assert.equal(grace.manager_user_id, null);
  });

  test('are not created if their own row fails or waits for this one, and become people on a roster', async (t) => {
    const { service, key } = await withKey(start(t));
    const send = (query: string, content: string) =>
      service.upload(`/v1/personnel/import?unknown_people=create&${query}`, key, content);
    const failing =
      'Name,Email,Manager,Start date\nBob,,"Hopper, Grace",\nGrace Hopper,grace@@,,\nEve,,Tom,\nTom,,Eve,\n';
    const { body } = await send('', failing);
    assert.deepEqual(pluck(body.results, 'status'), ['failed', 'failed', 'failed', 'failed']);
    assert.equal(
      body.results[0].errors[0].detail,
      '“Hopper, Grace” is on line 3, which failed. Correct that line first, and import both.',
    );
    assert.match(
      JSON.stringify(body.results.slice(2)),
      /The row about “\w+” refers to this one, too\..*“\w+” is on line \d, which failed\./,
    );
    assert.deepEqual(body.summary.unknown_people, []);
    assert.deepEqual(await service.list('/v1/personnel', key), []);

    await send('', 'Name,Manager\nBob,Zoe <zoe@example.com>\n');
    const roster = await send('mode=upsert', 'Name,Email\nZoe,zoe@example.com\n');
    assert.deepEqual(pluck(roster.body.results, 'status', 'changed'), [['updated', ['kind']]]);
    const stated = await send('mode=upsert', 'Name,Email,Kind\nZoe,zoe@example.com,Placeholder\n');
    assert.deepEqual(pluck(stated.body.results, 'status', 'changed'), [['updated', ['kind']]]);
  });
});

test('words and signs for nobody are recognized', () => {
  for (const text of ['TBD', 'n/a', 'N.A.', '-', '—', '???', 'Unassigned', 'NO_MANAGER', 'nicht zugewiesen'])
    assert.ok(isNobody(text), text);
  for (const text of ['Nobody Jones', 'Ada', 'Li', '7']) assert.ok(!isNobody(text), text);
});

test('a comma separates two full names, or a last and a first name', () => {
  assert.deepEqual(separatePeople('Lovelace, Ada'), ['Lovelace, Ada']);
  assert.deepEqual(separatePeople('van der Berg, Ada'), ['van der Berg, Ada']);
  assert.deepEqual(separatePeople('Ada Lovelace, Grace Hopper'), ['Ada Lovelace', 'Grace Hopper']);
  assert.deepEqual(separatePeople('Ada; Grace'), ['Ada', 'Grace']);
  assert.deepEqual(separatePeople('Lovelace, Ada; Hopper, Grace'), ['Lovelace, Ada', 'Hopper, Grace']);
  assert.deepEqual(separatePeople('Lovelace, Ada\nGrace Hopper'), ['Lovelace, Ada', 'Grace Hopper']);
  assert.deepEqual(separatePeople('Ada Lovelace, Grace Hopper; Bob'), [
    'Ada Lovelace',
    'Grace Hopper',
    'Bob',
  ]);
  assert.deepEqual(separatePeople('a@x.test, b@x.test; c@x.test'), ['a@x.test', 'b@x.test', 'c@x.test']);
  assert.deepEqual(placeholderOf('Lovelace, Ada'), { name: 'Ada Lovelace' });
  assert.deepEqual(placeholderOf('ada@example.com'), { name: 'ada@example.com', email: 'ada@example.com' });
  assert.deepEqual(placeholderOf('Ada L. <ada@example.com>'), { name: 'Ada L.', email: 'ada@example.com' });
});
