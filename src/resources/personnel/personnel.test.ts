import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runConcurrently } from '../../../test/concurrency.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { fold } from '../../core/text.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('personnel', (start) => {
  test('creates a person with defaults, and lists the person', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'personnel.manage');
    const created = await service.make('/v1/personnel', key, {
      name: '  Ada Lovelace ',
      email: 'Ada@example.com',
      skills: ['Mathematics'],
      attributes: { cost_centre: '4711' },
    });
    assert.match(created.user_id, /^usr_[0-9a-v]{26}$/);
    const { name, email, kind, status, assignable, groups, title, created_at, web_url } = created;
    assert.deepEqual([name, email], ['Ada Lovelace', 'Ada@example.com']);
    assert.deepEqual([kind, status, assignable, groups, title], ['human', 'active', true, [], null]);
    assert.deepEqual([created.skills, created.attributes], [['Mathematics'], { cost_centre: '4711' }]);
    assert.deepEqual([created_at, web_url], [clock().now, `${service.origin}/personnel/${created.user_id}`]);
    const roster = await service.get('/v1/personnel', key);
    assert.deepEqual(roster.body, {
      data: [created],
      page: { limit: null, next_cursor: null, has_more: false, total: 1 },
      meta: { filters: {} },
    });
  });

  test('lists everyone by name, ignoring case, in full and in pages', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const names = Array.from(
      { length: 60 },
      (_, i) => `${['ada', 'Ada', 'Émile', 'zoë', 'Bo'][i % 5]} ${(i * 17) % 60}`,
    );
    await runConcurrently(names, (name) => service.make('/v1/personnel', key, { name }));

    const { body } = await service.get('/v1/personnel', key);
    assert.deepEqual([body.data.length, body.page.total, body.page.has_more], [60, 60, false]);
    const order = body.data.map(
      (person: { name: string; user_id: string }) => `${fold(person.name)}\t${person.user_id}`,
    );
    assert.deepEqual(order, [...order].sort());

    const paged = [];
    let path = '/v1/personnel?limit=5';
    for (let page = 1; page <= 12; page++) {
      const response = await service.get(path, key);
      paged.push(...response.body.data);
      assert.equal(response.body.page.has_more, page < 12);
      assert.equal(response.headers.has('link'), page < 12);
      path = `/v1/personnel?limit=5&cursor=${response.body.page.next_cursor}`;
    }
    assert.deepEqual(paged, body.data);
  });

  test('rejects a duplicate email with letters beyond ASCII, which the engines do not lower', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const person = { name: 'Ada', email: '"Ä"@example.com' };
    await service.make('/v1/personnel', key, person);
    assert.equal((await service.post('/v1/personnel', key, person)).status, 409);
    const { body } = await service.get(`/v1/personnel?email=${encodeURIComponent('"Ä"@EXAMPLE.com')}`, key);
    assert.equal(body.data.length, 1);
  });

  test('rejects a duplicate email or external id and names the existing person', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const ada = await service.make('/v1/personnel', key, {
      name: 'Ada',
      email: 'ada@example.com',
      external_id: 'hr-1',
    });
    for (const [field, value] of Object.entries({ email: 'ADA@Example.com', external_id: 'hr-1' })) {
      const response = await service.post('/v1/personnel', key, { name: 'Other', [field]: value });
      assert.deepEqual([response.status, response.body.code], [409, 'duplicate']);
      assert.deepEqual([response.body.field, response.body.existing_id], [field, ada.user_id]);
      assert.match(response.body.detail, /Ada/);
    }
  });

  test('creates one person when many concurrent requests use the same email', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        service.post('/v1/personnel', key, { name: `P${i}`, email: 'one@example.com' }),
      ),
    );
    assert.deepEqual(responses.map(({ status }) => status).sort(), [201, ...Array(11).fill(409)]);
  });

  test('rejects an invalid person and reports all errors at once', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const unknownId = 'usr_00000000000000000000000000';
    const response = await service.post('/v1/personnel', key, {
      name: 'Bot',
      kind: 'agent',
      manager_user_id: unknownId,
      start_on: '2026-02-02',
      end_on: '2026-02-01',
    });
    assert.equal(response.status, 422);
    assert.deepEqual(pluck(response.body.errors, 'pointer', 'code'), [
      ['#/manager_user_id', 'unknown_reference'],
      ['#/end_on', 'date_order'],
      ['#/accountable_user_id', 'required'],
    ]);
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    const bot = await service.make('/v1/personnel', key, {
      name: 'Bot',
      kind: 'agent',
      accountable_user_id: ada.user_id,
    });
    const botOfBot = await service.post('/v1/personnel', key, {
      name: 'B2',
      kind: 'agent',
      accountable_user_id: bot.user_id,
    });
    assert.equal(botOfBot.body.errors[0].code, 'not_human');
  });

  test('each filter returns only matching people', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'personnel.manage');
    const { boss, inner, outer, member } = await createFilterDataset(service, key);
    const found = async (query: string) => {
      const { body } = await service.get(`/v1/personnel?${query}`, key);
      return pluck(body.data, 'name');
    };

    assert.deepEqual(await found('q=mull'), ['Jürgen Müller']);
    assert.deepEqual(await found('q=RGEN%20MÜ'), ['Jürgen Müller']);
    assert.deepEqual(await found('q=pilot'), ['Amy']);
    assert.deepEqual(await found('q=amy@ex'), ['Amy']);
    assert.deepEqual(await found('q=%25'), []);
    assert.deepEqual(await found('q=_'), []);
    for (const [name, title] of [
      ['Alvar', 'Learning designer'],
      ['Cleanne Ott', null],
      ['Bo Leary', null],
      ['Léa', null],
    ]) {
      await service.make('/v1/personnel', key, { name, title });
    }
    assert.deepEqual(await found('q=lea'), ['Alvar', 'Bo Leary', 'Cleanne Ott', 'Léa']);
    assert.deepEqual(await found('q=lea&sort=relevance'), ['Léa', 'Bo Leary', 'Alvar', 'Cleanne Ott']);
    const ranked = await service.get('/v1/personnel?q=lea&sort=relevance&limit=1', key);
    assert.deepEqual(await found(`q=lea&sort=relevance&limit=2&cursor=${ranked.body.page.next_cursor}`), [
      'Bo Leary',
      'Alvar',
    ]);
    assert.equal((await service.get('/v1/personnel?sort=relevance', key)).status, 400);
    assert.deepEqual(await found('status=inactive'), ['Zed']);
    assert.deepEqual(await found('kind=agent,placeholder'), ['Bot', 'TBD']);
    assert.deepEqual(await found(`group_id=${inner}`), ['Amy']);
    assert.deepEqual(await found(`group_id=${outer}`), []);
    assert.deepEqual(await found(`group_id=${outer}&transitive=true`), ['Amy']);
    assert.deepEqual(await found(`manager_user_id=${boss}`), ['Amy']);
    assert.deepEqual(await found('department=FLIGHT%20ops'), ['Amy']);
    assert.deepEqual(await found('skill=c%2B%2B'), ['Jürgen Müller']);
    assert.deepEqual(await found('skill=c'), []);
    assert.deepEqual(await found('location=LONDON'), ['Amy']);
    assert.deepEqual(await found('q=c%2B%2B'), []);
    assert.deepEqual(await found('q=c%2B%2B&search=all'), ['Jürgen Müller']);
    assert.deepEqual(await found('q=light%20o&search=all'), ['Amy']);
    assert.deepEqual(await found('q=ondo&search=all&sort=relevance'), ['Amy']);
    assert.equal((await service.get('/v1/personnel?search=all', key)).status, 400);
    assert.deepEqual(await found('assignable=false'), ['Early', 'Late', 'Zed']);
    assert.deepEqual(await found(`user_ids=${boss},${member}`), ['Amy', 'Jürgen Müller']);
    assert.deepEqual(await found('email=AMY@example.com'), ['Amy']);
    assert.deepEqual(await found('external_id=hr-7'), ['Amy']);
    assert.deepEqual(await found('updated_since=2026-11-15T12:00:00Z&status=inactive'), ['Zed']);
    assert.deepEqual(await found('updated_since=2026-11-15T14:00:01%2B02:00'), []);
    assert.deepEqual(await found('kind=human&status=active&assignable=false'), ['Early', 'Late']);

    const amy = (await service.get(`/v1/personnel/${member}`, key)).body;
    assert.deepEqual(amy.groups, [{ id: inner, name: 'Inner' }]);
  });
});

onBothEngines('changes of people', (start) => {
  test('update single fields, the search columns and the history', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'personnel.manage');
    const boss = await service.make('/v1/personnel', key, { name: 'Boss' });
    const ada = await service.make('/v1/personnel', key, {
      name: 'Ada',
      email: 'ada@example.com',
      skills: ['Go'],
      attributes: { a: '1', b: '2' },
    });
    const path = `/v1/personnel/${ada.user_id}`;
    const change = {
      name: 'Ada Müller',
      email: 'ADA@example.com',
      title: 'Pilot',
      department: 'Flight',
      manager_user_id: boss.user_id,
      skills: ['Rust'],
    };
    const attributes = { a: null, c: '3' };
    const patched = await service.patch(path, key, { ...change, attributes, reason: 'Married.' });
    const { updated_at } = patched.body;
    assert.deepEqual(patched.body, {
      ...ada,
      ...change,
      attributes: { b: '2', c: '3' },
      version: 2,
      updated_at,
    });
    for (const query of ['q=mull', 'q=pilot', 'department=flight', 'skill=rust']) {
      assert.equal((await service.get(`/v1/personnel?${query}`, key)).body.page.total, 1, query);
    }
    assert.equal((await service.get('/v1/personnel?skill=go', key)).body.page.total, 0);
    const data = await service.list(`${path}/history`, key);
    assert.deepEqual(pluck(data, 'field', 'from', 'to', 'reason'), [
      ['created', null, 'Ada', null],
      ['name', 'Ada', 'Ada Müller', 'Married.'],
      ['email', 'ada@example.com', 'ADA@example.com', 'Married.'],
      ['title', null, 'Pilot', 'Married.'],
      ['department', null, 'Flight', 'Married.'],
      ['manager_user_id', null, boss.user_id, 'Married.'],
      ['skills', ['Go'], ['Rust'], 'Married.'],
      ['attributes', { a: '1', b: '2' }, { b: '2', c: '3' }, 'Married.'],
    ]);
  });

  test('are rejected when they create a duplicate or break a rule', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const create = (body: object) => service.make('/v1/personnel', key, body);
    const ada = await create({ name: 'Ada', email: 'ada@example.com', external_id: 'hr-1' });
    const bob = await create({ name: 'Bob', start_on: '2026-01-01' });
    const bot = await create({ name: 'Bot', kind: 'agent', accountable_user_id: ada.user_id });
    const patch = (person: { user_id: string }, body: object) =>
      service.patch(`/v1/personnel/${person.user_id}`, key, body);
    for (const body of [{ email: 'ADA@example.com' }, { external_id: 'hr-1' }]) {
      const response = await patch(bob, body);
      assert.deepEqual([response.status, response.body.existing_id], [409, ada.user_id]);
    }
    const rejected: [{ user_id: string }, object, string, string][] = [
      [bob, { end_on: '2025-12-31' }, '#/end_on', 'date_order'],
      [bob, { kind: 'agent' }, '#/accountable_user_id', 'required'],
      [bob, { manager_user_id: 'usr_00000000000000000000000000' }, '#/manager_user_id', 'unknown_reference'],
      [bot, { accountable_user_id: null }, '#/accountable_user_id', 'required'],
      [bob, { accountable_user_id: bot.user_id }, '#/accountable_user_id', 'not_human'],
      [ada, { kind: 'external' }, '#/kind', 'answers_for_others'],
      [ada, { assignable: true }, '#/assignable', 'unknown_field'],
      [ada, { name: null }, '#/name', 'type'],
    ];
    for (const [person, body, pointer, code] of rejected) {
      const response = await patch(person, body);
      assert.equal(response.status, 422, JSON.stringify(body));
      assert.deepEqual(pluck(response.body.errors, 'pointer', 'code'), [[pointer, code]]);
    }
    assert.equal((await service.get(`/v1/personnel/${ada.user_id}`, key)).body.version, 1);
  });

  test('are rejected when they create a cycle of managers or accountable people, and the error names the cycle', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    for (const field of ['manager_user_id', 'accountable_user_id']) {
      const top = await service.make('/v1/personnel', key, { name: 'Top' });
      const middle = await service.make('/v1/personnel', key, { name: 'Middle', [field]: top.user_id });
      const low = await service.make('/v1/personnel', key, { name: 'Low', [field]: middle.user_id });
      const patch = (person: { user_id: string }, above: { user_id: string }) =>
        service.patch(`/v1/personnel/${person.user_id}`, key, { [field]: above.user_id });
      const closed = await patch(top, low);
      assert.deepEqual([closed.status, closed.body.errors[0].code], [422, 'cycle']);
      assert.equal(closed.body.errors[0].pointer, `#/${field}`);
      const cycle = [top, low, middle, top].map(({ name, user_id }) => `${name} (${user_id})`).join(' → ');
      assert.ok(closed.body.detail.includes(cycle), closed.body.detail);
      assert.equal((await patch(top, top)).body.errors[0].code, 'cycle');
      assert.equal((await patch(low, top)).status, 200);
    }
  });

  test('create no cycle when they run concurrently', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const people = await Promise.all(
      Array.from({ length: 5 }, (_, i) => service.make('/v1/personnel', key, { name: `P${i}` })),
    );
    for (let round = 0; round < 10; round++) {
      const responses = await Promise.all(
        people.map(({ user_id }, i) =>
          service.patch(`/v1/personnel/${user_id}`, key, {
            manager_user_id: people[(i + 1) % people.length].user_id,
          }),
        ),
      );
      assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 200, 200, 200, 422]);
      for (const { user_id } of people) {
        await service.patch(`/v1/personnel/${user_id}`, key, { manager_user_id: null });
      }
    }
  });

  test('cannot delete a person that other rows refer to', async (t) => {
    const { service, key } = await withKey(start(t));
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    const { user_id } = ada;
    await service.make('/v1/projects', key, { name: 'Apollo', lead_user_id: user_id });
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'x', assignee_user_id: user_id });
    await service.make('/v1/projects/APOLLO/issues', key, { title: 'x', raised_by_user_id: user_id });
    for (let i = 0; i < 4; i++) {
      await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', owner_user_id: user_id });
    }
    const bot = await service.make('/v1/personnel', key, {
      name: 'Bot',
      kind: 'agent',
      accountable_user_id: user_id,
    });
    const group = await service.make('/v1/groups', key, { name: 'Ops' });
    await service.call('PUT', `/v1/groups/${group.id}/members/${user_id}`, key);
    const rejected = await service.delete(`/v1/personnel/${user_id}`, key);
    assert.deepEqual([rejected.status, rejected.body.code], [409, 'in_use']);
    assert.deepEqual(rejected.body.used_by, {
      tasks: { count: 1, samples: ['APOLLO-T1'] },
      issues: { count: 1, samples: ['APOLLO-I1'] },
      risks: { count: 4, samples: ['APOLLO-R1', 'APOLLO-R2', 'APOLLO-R3'] },
      projects: { count: 1, samples: ['APOLLO'] },
      groups: { count: 1, samples: ['Ops'] },
      people: { count: 1, samples: ['Bot'] },
    });
    assert.equal((await service.delete(`/v1/personnel/${bot.user_id}`, key)).status, 204);
  });

  test('cannot both delete a person and make them accountable for an agent', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    for (let round = 0; round < 10; round++) {
      const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
      const [bot, gone] = await Promise.all([
        service.post('/v1/personnel', key, { name: 'Bot', kind: 'agent', accountable_user_id: user_id }),
        service.delete(`/v1/personnel/${user_id}`, key),
      ]);
      assert.ok(bot.status === 201 ? gone.status === 409 : bot.status === 422 && gone.status === 204);
    }
  });
});

async function createFilterDataset(service: TestService, key: string) {
  const boss = (await service.make('/v1/personnel', key, { name: 'Jürgen Müller', skills: ['C++'] })).user_id;
  const amy = {
    name: 'Amy',
    email: 'amy@example.com',
    title: 'Pilot',
    department: 'Flight Ops',
    location: 'London',
    manager_user_id: boss,
    external_id: 'hr-7',
    start_on: '2026-11-15',
    end_on: '2026-11-15',
  };
  const member = (await service.make('/v1/personnel', key, amy)).user_id;
  await service.make('/v1/personnel', key, { name: 'Zed', status: 'inactive' });
  await service.make('/v1/personnel', key, { name: 'Bot', kind: 'agent', accountable_user_id: boss });
  await service.make('/v1/personnel', key, { name: 'TBD', kind: 'placeholder' });
  await service.make('/v1/personnel', key, { name: 'Early', start_on: '2026-11-16' });
  await service.make('/v1/personnel', key, { name: 'Late', end_on: '2026-11-14' });
  const outer = (await service.make('/v1/groups', key, { name: 'Outer' })).id;
  const inner = (await service.make('/v1/groups', key, { name: 'Inner', parent_id: outer })).id;
  const put = await service.call('PUT', `/v1/groups/${inner}/members/${member}`, key);
  assert.equal(put.status, 204);
  return { boss, member, outer, inner };
}
