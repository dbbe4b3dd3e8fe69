import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService } from '../../../test/service.ts';

type Headers = Record<string, string>;

const sections = ['tasks', 'issues', 'risks', 'reviews', 'acceptances', 'mentions'] as const;

/** The titles in each section that has some. */
async function readWork(service: TestService, headers: Headers, query = '') {
  const { status, body, text } = await service.get(`/v1/me/work${query}`, undefined, headers);
  assert.equal(status, 200, text);
  const filled = sections.filter((name) => body[name].total > 0 || body[name].data.length > 0);
  return Object.fromEntries(
    filled.map((name) => [name, pluck(body[name].data, name === 'mentions' ? 'body' : 'title')]),
  );
}

const clockAt = (day: string) => settableClock(`${day}T12:00:00.000Z`);

onBothEngines('my work', (start) => {
  test('has the open items of the person, and nothing of others, of closed items or of archived projects', async (t) => {
    const service = await start(t, { clock: clockAt('2026-11-10') });
    const key = await service.key();
    const ada = await service.member(['projects.read'], null, { name: 'Ada' });
    const bob = await service.member(['projects.read'], null, { name: 'Bob' });
    const mine = ada.user_id;
    for (const project of ['APOLLO', 'OLD'])
      await service.make('/v1/projects', key, { name: project, key: project });
    const create = (list: string, body: object, project = 'APOLLO') =>
      service.make(`/v1/projects/${project}/${list}`, key, body);
    const change = async (list: string, item: { id: string }, body: object) => {
      const path = `/v1/projects/APOLLO/${list}/${item.id}`;
      assert.equal((await service.patch(path, key, body)).status, 200);
    };
    const comment = (list: string, item: { id: string }, body: string, project = 'APOLLO') =>
      service.make(`/v1/projects/${project}/${list}/${item.id}/comments`, key, { body });

    await create('tasks', { title: 'Later', assignee_user_id: mine, due_on: '2026-12-01' });
    await create('tasks', { title: 'No day', assignee_user_id: mine });
    await create('tasks', { title: 'Overdue', assignee_user_id: mine, due_on: '2026-11-01' });
    await create('tasks', { title: 'Done', assignee_user_id: mine, status: 'done' });
    await create('tasks', { title: 'Canceled', assignee_user_id: mine, status: 'cancelled' });
    await create('tasks', { title: 'Of Bob', assignee_user_id: bob.user_id });
    await create('tasks', { title: 'Of nobody' });
    await create('tasks', { title: 'Archived', assignee_user_id: mine }, 'OLD');

    await create('issues', { title: 'Owned', owner_user_id: mine, severity: 'low' });
    await create('issues', { title: 'Assigned', assignee_user_id: mine, severity: 'critical' });
    await create('issues', { title: 'Both', assignee_user_id: mine, owner_user_id: mine, severity: 'high' });
    await create('issues', { title: 'Of Bob', assignee_user_id: bob.user_id });
    const resolved = await create('issues', { title: 'Resolved', assignee_user_id: mine });
    await change('issues', resolved, { status: 'resolved', resolution: 'fixed' });
    await create('issues', { title: 'Archived', assignee_user_id: mine }, 'OLD');

    const score = { probability: 2, impact: 2 };
    await create('risks', { title: 'Low', owner_user_id: mine, ...score });
    await create('risks', { title: 'High', owner_user_id: mine, probability: 5, impact: 5 });
    await create('risks', { title: 'Of Bob', owner_user_id: bob.user_id, review_on: '2026-11-01' });
    const closed = await create('risks', { title: 'Closed', owner_user_id: mine, review_on: '2026-11-01' });
    await change('risks', closed, { status: 'closed', closure_reason: 'Over.' });
    await create('risks', { title: 'Archived', owner_user_id: mine, review_on: '2026-11-01' }, 'OLD');
    await create('risks', { title: 'Last day', owner_user_id: mine, review_on: '2026-11-24' });
    await create('risks', { title: 'Not due', owner_user_id: mine, review_on: '2026-11-25' });
    await create('risks', { title: 'Past review', owner_user_id: mine, review_on: '2026-11-01' });

    const accepted = async (title: string, until: string, people: object) => {
      const { accepted_by_user_id, ...owner } = people as { accepted_by_user_id?: string };
      const risk = await create('risks', { title, ...owner });
      await change('risks', risk, {
        status: 'accepted',
        acceptance_reason: 'Insured.',
        accepted_until: until,
        ...(accepted_by_user_id && { accepted_by_user_id }),
      });
    };
    await accepted('Accepted, last day', '2026-12-10', { owner_user_id: mine });
    await accepted('Accepted for long', '2026-12-11', { owner_user_id: mine });
    await accepted('Accepted by Ada', '2026-11-20', {
      owner_user_id: bob.user_id,
      accepted_by_user_id: mine,
    });
    await accepted('Accepted by Bob', '2026-11-20', { owner_user_id: bob.user_id });

    const risk = await create('risks', { title: 'Of nobody' });
    const old = await create('risks', { title: 'Of nobody' }, 'OLD');
    await comment('risks', risk, `Please look, @${mine}`);
    await comment('risks', risk, `Please look, @${bob.user_id}`);
    await comment('risks', risk, 'No mention');
    await comment('risks', old, `Archived, @${mine}`, 'OLD');
    assert.equal((await service.post('/v1/projects/OLD/archive', key, undefined)).status, 200);

    const expected = {
      tasks: ['Overdue', 'Later', 'No day'],
      issues: ['Assigned', 'Both', 'Owned'],
      reviews: ['Past review', 'Last day'],
      acceptances: ['Accepted by Ada', 'Accepted, last day'],
      mentions: [`Please look, @${mine}`],
    };
    const { risks, ...others } = await readWork(service, ada.headers);
    assert.deepEqual(others, expected);
    assert.deepEqual(risks?.slice(0, 2), ['High', 'Low']);
    assert.deepEqual(risks?.slice(2).toSorted(), [
      'Accepted for long',
      'Accepted, last day',
      'Last day',
      'Not due',
      'Past review',
    ]);
    assert.deepEqual(await readWork(service, bob.headers), {
      tasks: ['Of Bob'],
      issues: ['Of Bob'],
      risks: ['Of Bob', 'Accepted by Ada', 'Accepted by Bob'],
      reviews: ['Of Bob'],
      acceptances: ['Accepted by Ada', 'Accepted by Bob'],
      mentions: [`Please look, @${bob.user_id}`],
    });

    const whole = (await service.get('/v1/me/work', undefined, ada.headers)).body;
    assert.deepEqual([whole.user_id, whole.today], [mine, '2026-11-10']);
    const [mention] = whole.mentions.data;
    assert.deepEqual(
      [mention.subject_type, mention.subject_key, mention.subject_title, mention.author.type],
      ['risk', risk.key, 'Of nobody', 'key'],
    );
    assert.ok(mention.web_url.endsWith(`/risks/${risk.key}`));
    const first = (await service.get('/v1/me/work?limit=1', undefined, ada.headers)).body;
    for (const name of sections) {
      assert.equal(first[name].total, whole[name].data.length, name);
      assert.equal(whole[name].total, whole[name].data.length, name);
      assert.deepEqual(first[name].data, whole[name].data.slice(0, 1), name);
    }
    for (const limit of ['0', '101', 'x'])
      assert.equal((await service.get(`/v1/me/work?limit=${limit}`, undefined, ada.headers)).status, 400);
  });

  test('has mentions of the last 30 days in every kind of item, the newest first', async (t) => {
    const clock = clockAt('2026-10-01');
    const service = await start(t, { clock });
    const key = await service.key();
    const ada = await service.member(['projects.read']);
    const apollo = '/v1/projects/APOLLO';
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const mention = (path: string, text: string) =>
      service.make(`${path}/comments`, key, { body: `${text} @${ada.user_id}` });
    await mention(apollo, 'Too old');
    clock.set('2026-10-20T12:00:00.000Z');
    for (const list of ['risks', 'issues', 'tasks']) {
      const { key: item } = await service.make(`${apollo}/${list}`, key, { title: `One of ${list}` });
      await mention(`${apollo}/${list}/${item}`, list);
    }
    clock.set('2026-11-10T12:00:00.000Z');
    await mention(apollo, 'Newest');
    // The first session has ended.
    const { headers } = await service.signIn(ada.user_id);
    const { body } = await service.get('/v1/me/work', undefined, headers);
    assert.deepEqual(pluck(body.mentions.data, 'subject_type', 'subject_key', 'subject_title'), [
      ['project', 'APOLLO', 'Apollo'],
      ['task', 'APOLLO-T1', 'One of tasks'],
      ['issue', 'APOLLO-I1', 'One of issues'],
      ['risk', 'APOLLO-R1', 'One of risks'],
    ]);
    const paths = pluck(body.mentions.data, 'web_url').map((url) => new URL(url).pathname);
    assert.deepEqual(paths, [
      '/projects/APOLLO',
      '/tasks/APOLLO-T1',
      '/issues/APOLLO-I1',
      '/risks/APOLLO-R1',
    ]);
  });

  test('has only what the person may read', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const projects: { id: string; key: string }[] = [];
    for (const project of ['APOLLO', 'SECRET'])
      projects.push(await service.make('/v1/projects', key, { name: project, key: project }));
    const ids = projects.map(({ id }) => id).slice(0, 1);
    const limited = await service.member(['projects.manage'], ids);
    const without = await service.member(['personnel.read']);
    for (const person of [limited, without]) {
      for (const { key: project } of projects) {
        const of = { title: project, owner_user_id: person.user_id, review_on: '2020-01-01' };
        const risk = await service.make(`/v1/projects/${project}/risks`, key, of);
        await service.make(`/v1/projects/${project}/risks/${risk.key}/comments`, key, {
          body: `@${person.user_id} ${project}`,
        });
        const task = { title: project, assignee_user_id: person.user_id };
        await service.make(`/v1/projects/${project}/tasks`, key, task);
        await service.make(`/v1/projects/${project}/issues`, key, task);
      }
    }
    const only = ['APOLLO'];
    assert.deepEqual(await readWork(service, limited.headers), {
      tasks: only,
      issues: only,
      risks: only,
      reviews: only,
      mentions: [`@${limited.user_id} APOLLO`],
    });
    assert.deepEqual(await readWork(service, without.headers), {});
    const program = await service.get('/v1/me/work', key);
    assert.equal(program.status, 200);
    assert.equal(program.body.user_id, null);
    for (const name of sections) assert.deepEqual(program.body[name], { total: 0, data: [] }, name);
    assert.equal((await service.get('/v1/me/work')).status, 401);
    // A personal key has the work of its person.
    const created = await service.post(
      '/v1/me/keys',
      undefined,
      { name: 'mine', scopes: ['projects.read'] },
      limited.headers,
    );
    assert.equal(created.status, 201, created.text);
    const { body } = await service.get('/v1/me/work', created.body.secret);
    assert.deepEqual([body.user_id, pluck(body.risks.data, 'title')], [limited.user_id, only]);
  });

  test('changes with the day and the data, and is never that of another person', async (t) => {
    const clock = clockAt('2026-11-10');
    const service = await start(t, { clock });
    const key = await service.key();
    const ada = await service.member(['projects.read']);
    const bob = await service.member(['projects.read']);
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const risk = { title: 'Review', owner_user_id: ada.user_id, review_on: '2026-11-25' };
    await service.make('/v1/projects/APOLLO/risks', key, risk);
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(await readWork(service, ada.headers), { risks: ['Review'] });
      assert.deepEqual(await readWork(service, bob.headers), {});
    }
    const tag = (await service.get('/v1/me/work', undefined, ada.headers)).headers.get('etag') ?? '';
    const known = (headers: Headers) =>
      service.get('/v1/me/work', undefined, { ...headers, 'if-none-match': tag });
    assert.equal((await known(ada.headers)).status, 304);
    assert.equal((await known(bob.headers)).status, 200);
    clock.set('2026-11-11T12:00:00.000Z');
    assert.equal((await known(ada.headers)).status, 200);
    assert.deepEqual(await readWork(service, ada.headers), { risks: ['Review'], reviews: ['Review'] });
    const change = { owner_user_id: bob.user_id };
    assert.equal((await service.patch('/v1/projects/APOLLO/risks/APOLLO-R1', key, change)).status, 200);
    assert.deepEqual(await readWork(service, ada.headers), {});
    assert.deepEqual(await readWork(service, bob.headers), { risks: ['Review'], reviews: ['Review'] });
  });
});

/** Every list and summary with a filter for a person. */
const personFilters: [path: string, filter: string][] = [
  ['/v1/risks', 'owner_user_id'],
  ['/v1/risks/summary', 'owner_user_id'],
  ['/v1/risks/heatmap', 'owner_user_id'],
  ['/v1/risks/trend', 'owner_user_id'],
  ['/v1/projects/APOLLO/risks', 'owner_user_id'],
  ['/v1/issues', 'assignee_user_id'],
  ['/v1/issues', 'owner_user_id'],
  ['/v1/issues/all', 'assignee_user_id'],
  ['/v1/issues/all', 'owner_user_id'],
  ['/v1/issues/summary', 'assignee_user_id'],
  ['/v1/issues/summary', 'owner_user_id'],
  ['/v1/projects/APOLLO/issues', 'assignee_user_id'],
  ['/v1/projects/APOLLO/issues', 'owner_user_id'],
  ['/v1/tasks', 'assignee_user_id'],
  ['/v1/projects/APOLLO/tasks', 'assignee_user_id'],
  ['/v1/projects', 'lead_user_id'],
  ['/v1/groups', 'lead_user_id'],
  ['/v1/personnel', 'manager_user_id'],
];

onBothEngines('the filter `me`', (start) => {
  async function withTwoPeople(service: TestService) {
    const key = await service.key();
    const all = ['projects.manage', 'personnel.manage'] as const;
    const ada = await service.member([...all], null, { name: 'Ada' });
    const bob = await service.member([...all], null, { name: 'Bob' });
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO', lead_user_id: ada.user_id });
    await service.make('/v1/projects', key, { name: 'Boreas', key: 'BOREAS', lead_user_id: bob.user_id });
    // Ada has one of each, Bob two or none.
    for (const { user_id, name } of [ada, bob, bob]) {
      const project = '/v1/projects/APOLLO';
      const title = `Of ${name}`;
      const owner = { title, owner_user_id: user_id };
      await service.make(`${project}/risks`, key, { ...owner, probability: 3, impact: 3 });
      await service.make(`${project}/issues`, key, { ...owner, assignee_user_id: user_id });
      await service.make(`${project}/tasks`, key, { title, assignee_user_id: user_id });
      await service.make('/v1/groups', key, { name: `${title} ${Math.random()}`, lead_user_id: user_id });
      await service.make('/v1/personnel', key, { name: `Reports to ${name}`, manager_user_id: user_id });
    }
    return { key, ada, bob };
  }

  test('finds what the user id of the person finds, in every list and summary', async (t) => {
    const service = await start(t);
    const { key, ada, bob } = await withTwoPeople(service);
    for (const [path, filter] of personFilters) {
      for (const person of [ada, bob]) {
        const read = async (value: string, more = '') => {
          const url = `${path}?${filter}=${value}${more}`;
          const { status, body, text } = await service.get(url, undefined, person.headers);
          assert.equal(status, 200, `${url} ${text}`);
          return body.data;
        };
        const expected = await read(person.user_id);
        assert.deepEqual(await read('me'), expected, `${path} ${filter}`);
        if (!Array.isArray(expected) || /summary|heatmap|trend/.test(path)) continue;
        assert.equal(expected.length, person === ada ? 1 : path === '/v1/projects' ? 1 : 2, path);
        assert.deepEqual(await read('me', '&limit=10'), expected, `${path} ${filter}`);
      }
      const rejected = await service.get(`${path}?${filter}=me`, key);
      assert.deepEqual(
        [rejected.status, rejected.body.code, rejected.body.errors[0].parameter],
        [400, 'invalid_parameter', filter],
        path,
      );
      assert.match(
        rejected.body.detail,
        /^Nobody has signed in, so `me` stands for nobody\. Use a user id\.$/,
      );
      const unknown = await service.get(`${path}?${filter}=you`, undefined, ada.headers);
      assert.equal(unknown.status, 400, path);
    }
    // With others, and twice the same person.
    for (const other of [bob.user_id, `${bob.user_id},${ada.user_id}`]) {
      const both = await service.get(`/v1/risks?owner_user_id=me,${other}`, undefined, ada.headers);
      assert.equal(both.body.data.length, 3);
    }
    const contradiction = await service.get(
      '/v1/risks?owner_user_id=me&unowned=true',
      undefined,
      ada.headers,
    );
    assert.equal(contradiction.status, 400);
  });

  test('has a response of its own for each person, however often, with any ETag', async (t) => {
    const service = await start(t);
    const { key, ada, bob } = await withTwoPeople(service);
    for (const [path, filter] of personFilters) {
      for (const query of path === '/v1/risks' ? ['', '&limit=10', '&format=csv'] : ['']) {
        const url = `${path}?${filter}=me${query}`;
        const asId = (user_id: string) => url.replace('=me', `=${user_id}`);
        const of = async (person: typeof ada, headers: Headers = {}, at = url) =>
          service.get(at, undefined, { ...person.headers, ...headers });
        const rows = ({ body, text }: Awaited<ReturnType<typeof of>>) => body?.data ?? text;
        const expected = {
          ada: rows(await of(ada, {}, asId(ada.user_id))),
          bob: rows(await of(bob, {}, asId(bob.user_id))),
        };
        assert.notDeepEqual(expected.ada, expected.bob, url);
        // A response is cached when it is requested again.
        for (let i = 0; i < 3; i++) {
          assert.deepEqual(rows(await of(ada)), expected.ada, url);
          assert.deepEqual(rows(await of(bob)), expected.bob, url);
        }
        const tags = [ada, bob].map(async (person) => (await of(person)).headers.get('etag') ?? '');
        const [ofAda = '', ofBob = ''] = await Promise.all(tags);
        assert.notEqual(ofAda, ofBob, url);
        for (let i = 0; i < 2; i++) {
          assert.equal((await of(ada, { 'if-none-match': ofAda })).status, 304, url);
          const changed = await of(bob, { 'if-none-match': ofAda });
          assert.equal(changed.status, 200, url);
          assert.deepEqual(rows(changed), expected.bob, url);
          assert.equal((await of(bob, { 'if-none-match': ofBob })).status, 304, url);
          assert.equal((await service.get(url, key, { 'if-none-match': ofAda })).status, 400, url);
        }
      }
    }
  });

  test('has cursors that only the same person can use', async (t) => {
    const service = await start(t);
    const { ada, bob } = await withTwoPeople(service);
    for (const [path, filter] of [
      ['/v1/risks', 'owner_user_id'],
      ['/v1/issues', 'assignee_user_id'],
      ['/v1/tasks', 'assignee_user_id'],
      ['/v1/groups', 'lead_user_id'],
    ] as const) {
      const url = `${path}?${filter}=me&limit=1`;
      const { next_cursor } = (await service.get(url, undefined, bob.headers)).body.page;
      assert.ok(next_cursor, path);
      const next = `${url}&cursor=${next_cursor}`;
      for (let i = 0; i < 2; i++) {
        assert.equal((await service.get(next, undefined, bob.headers)).body.data.length, 1);
        const { status, body } = await service.get(next, undefined, ada.headers);
        assert.deepEqual([status, body.errors?.[0]?.parameter], [400, 'cursor'], path);
      }
    }
  });
});
