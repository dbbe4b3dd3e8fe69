import assert from 'node:assert/strict';
import { test } from 'node:test';
import { momentOf } from '../clock.ts';
import { inParallel } from '../testing/every.ts';
import { onBothEngines, type TestService } from '../testing/service.ts';
import { fold } from '../text.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('personnel', (start) => {
  test('adds a person, says where, and has them on the roster', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('personnel.manage');
    const made = await service.post('/v1/personnel', key, {
      name: '  Ada Lovelace ',
      email: 'Ada@example.com',
      skills: ['Mathematics'],
      attributes: { cost_centre: '4711' },
    });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('location'), `${service.origin}/v1/personnel/${made.body.user_id}`);
    assert.equal(made.headers.get('etag'), '"1"');
    assert.match(made.body.user_id, /^usr_[0-9a-v]{26}$/);
    assert.deepEqual(made.body, {
      user_id: made.body.user_id,
      name: 'Ada Lovelace',
      email: 'Ada@example.com',
      title: null,
      department: null,
      location: null,
      phone: null,
      time_zone: null,
      kind: 'human',
      accountable_user_id: null,
      manager_user_id: null,
      skills: ['Mathematics'],
      start_on: null,
      end_on: null,
      status: 'active',
      external_id: null,
      attributes: { cost_centre: '4711' },
      assignable: true,
      groups: [],
      version: 1,
      created_at: '2026-11-15T12:00:00.000Z',
      updated_at: '2026-11-15T12:00:00.000Z',
    });

    const one = await service.get(`/v1/personnel/${made.body.user_id}`, key);
    assert.deepEqual(one.body, made.body);
    const roster = await service.get('/v1/personnel', key);
    assert.deepEqual(roster.body, {
      data: [made.body],
      page: { limit: null, next_cursor: null, has_more: false, total: 1 },
      meta: { filters: {} },
    });
  });

  test('has everyone on the roster, by name without case, whole and in pages', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    const names = Array.from(
      { length: 1200 },
      (_, i) => `${['ada', 'Ada', 'Émile', 'zoë', 'Bo'][i % 5]} ${(i * 7919) % 1200}`,
    );
    await inParallel(names, (name) => service.make('/v1/personnel', key, { name }));

    const { body } = await service.get('/v1/personnel', key);
    assert.equal(body.data.length, 1200);
    assert.equal(body.page.total, 1200);
    assert.equal(body.page.has_more, false);
    const order = body.data.map(
      (person: { name: string; user_id: string }) => `${fold(person.name)}\t${person.user_id}`,
    );
    assert.deepEqual(order, [...order].sort());

    const paged = [];
    let path = '/v1/personnel?limit=100';
    for (let page = 1; page <= 12; page++) {
      const answer = await service.get(path, key);
      paged.push(...answer.body.data);
      assert.equal(answer.body.page.has_more, page < 12);
      assert.equal(answer.headers.has('link'), page < 12);
      path = `/v1/personnel?limit=100&cursor=${answer.body.page.next_cursor}`;
    }
    assert.deepEqual(paged, body.data);
  });

  test('refuses a second person with the same e-mail or external id, and names the first', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    const ada = await service.make('/v1/personnel', key, {
      name: 'Ada',
      email: 'ada@example.com',
      external_id: 'hr-1',
    });
    for (const [field, value] of Object.entries({ email: 'ADA@Example.com', external_id: 'hr-1' })) {
      const answer = await service.post('/v1/personnel', key, { name: 'Other', [field]: value });
      assert.equal(answer.status, 409);
      assert.equal(answer.body.code, 'duplicate');
      assert.equal(answer.body.field, field);
      assert.equal(answer.body.existing_id, ada.user_id);
      assert.match(answer.body.detail, /Ada/);
    }
  });

  test('lets one of many who race for an e-mail have it', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        service.post('/v1/personnel', key, { name: `P${i}`, email: 'one@example.com' }),
      ),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(11).fill(409)]);
  });

  test('refuses what breaks a rule, all faults at once', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    const nobody = 'usr_00000000000000000000000000';
    const answer = await service.post('/v1/personnel', key, {
      name: 'Bot',
      kind: 'agent',
      manager_user_id: nobody,
      start_on: '2026-02-02',
      end_on: '2026-02-01',
    });
    assert.equal(answer.status, 422);
    assert.deepEqual(
      answer.body.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code]),
      [
        ['#/manager_user_id', 'unknown_reference'],
        ['#/end_on', 'date_order'],
        ['#/accountable_user_id', 'required'],
      ],
    );
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

  test('finds nothing for an id that is not there or cannot be', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.read');
    for (const id of [
      'usr_00000000000000000000000000',
      'grp_00000000000000000000000000',
      'x',
      '%00',
      "'",
      '%F0%9F%92%A9',
    ]) {
      const answer = await service.get(`/v1/personnel/${id}`, key);
      assert.equal(answer.status, 404, id);
      assert.equal(answer.body.code, 'not_found');
    }
  });

  test('each filter keeps what matches and leaves out the rest', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('personnel.manage');
    const { boss, inner, outer, member } = await makeFilterable(service, key);
    const found = async (query: string) => {
      const { body } = await service.get(`/v1/personnel?${query}`, key);
      return body.data.map(({ name }: { name: string }) => name);
    };

    assert.deepEqual(await found('q=mull'), ['Jürgen Müller']);
    assert.deepEqual(await found('q=RGEN%20MÜ'), ['Jürgen Müller']);
    assert.deepEqual(await found('q=pilot'), ['Amy']);
    assert.deepEqual(await found('q=amy@ex'), ['Amy']);
    assert.deepEqual(await found('q=%25'), []);
    assert.deepEqual(await found('q=_'), []);
    assert.deepEqual(await found('status=inactive'), ['Zed']);
    assert.deepEqual(await found('kind=agent,placeholder'), ['Bot', 'TBD']);
    assert.deepEqual(await found(`group_id=${inner}`), ['Amy']);
    assert.deepEqual(await found(`group_id=${outer}`), []);
    assert.deepEqual(await found(`group_id=${outer}&transitive=true`), ['Amy']);
    assert.deepEqual(await found(`manager_user_id=${boss}`), ['Amy']);
    assert.deepEqual(await found('department=FLIGHT%20ops'), ['Amy']);
    assert.deepEqual(await found('skill=c%2B%2B'), ['Jürgen Müller']);
    assert.deepEqual(await found('skill=c'), []);
    assert.deepEqual(await found('assignable=false'), ['Early', 'Late', 'Zed']);
    assert.deepEqual(await found(`user_ids=${boss},${member}`), ['Amy', 'Jürgen Müller']);
    assert.deepEqual(await found('external_id=hr-7'), ['Amy']);
    assert.deepEqual(await found('updated_since=2026-11-15T12:00:00Z&status=inactive'), ['Zed']);
    assert.deepEqual(await found('updated_since=2026-11-15T14:00:00.001%2B02:00'), []);
    assert.deepEqual(await found('kind=human&status=active&assignable=false'), ['Early', 'Late']);

    const amy = (await service.get(`/v1/personnel/${member}`, key)).body;
    assert.deepEqual(amy.groups, [{ id: inner, name: 'Inner' }]);
  });

  test('refuses transitive without a group', async (t) => {
    const service = await start(t);
    const answer = await service.get('/v1/personnel?transitive=true', await service.key('personnel.read'));
    assert.equal(answer.status, 400);
    assert.equal(answer.body.errors[0].parameter, 'transitive');
  });
});

async function makeFilterable(service: TestService, key: string) {
  const boss = (await service.make('/v1/personnel', key, { name: 'Jürgen Müller', skills: ['C++'] })).user_id;
  const amy = {
    name: 'Amy',
    email: 'amy@example.com',
    title: 'Pilot',
    department: 'Flight Ops',
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
