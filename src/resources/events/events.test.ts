import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { deleteOldEvents } from '../../jobs/retention.ts';
import { createJobs } from '../../jobs/schedule.ts';
import type { Event } from './schema.ts';

const listEvents = async ({ get }: TestService, key: string, query = ''): Promise<Event[]> => {
  const { status, body, text } = await get(`/v1/events${query}`, key);
  assert.equal(status, 200, text);
  return body.data;
};

onBothEngines('events', (start) => {
  test('rejects a cursor that was altered', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of ['Ops', 'Works', 'Field']) await service.make('/v1/groups', key, { name });
    const { page } = (await service.get('/v1/events?limit=2', key)).body;
    const parts = JSON.parse(Buffer.from(page.next_cursor, 'base64url').toString());
    for (const after of ['', 'abc', '1e3', '-1', '99999999999999999999']) {
      const cursor = Buffer.from(JSON.stringify(parts.with(1, after))).toString('base64url');
      const { status, body } = await service.get(`/v1/events?limit=2&cursor=${cursor}`, key);
      assert.deepEqual([status, body.code], [400, 'invalid_parameter'], after);
    }
  });

  test('each change appends one event with the resource as its GET returns it', async (t) => {
    const service = await start(t);
    const { make, call, get } = service;
    const key = await service.key();
    const person = await make('/v1/personnel', key, { name: 'Ada', title: 'Engineer' });
    const path = `/v1/personnel/${person.user_id}`;
    const { body: renamed } = await call('PATCH', path, key, { name: 'Ada L.', title: null });
    await call('PATCH', path, key, { name: 'Ada L.' });
    assert.deepEqual((await get(path, key)).body, renamed);
    assert.equal((await call('DELETE', path, key)).status, 204);

    const events = await listEvents(service, key, `?subject=${person.user_id}`);
    assert.deepEqual(
      events.map(({ type, previous }) => ({ type, previous })),
      [
        { type: 'person.created', previous: {} },
        { type: 'person.updated', previous: { name: 'Ada', title: 'Engineer' } },
        { type: 'person.deleted', previous: {} },
      ],
    );
    assert.deepEqual(pluck(events, 'data'), [person, renamed, renamed]);
    const { body: me } = await get('/v1/me', key);
    const [first] = events;
    assert.deepEqual(first?.actor, {
      type: 'key',
      user_id: null,
      key_id: me.key_id,
      name: me.name,
    });
    assert.deepEqual(first?.subject, {
      type: 'person',
      id: person.user_id,
      key: null,
      web_url: `${service.origin}/personnel/${person.user_id}`,
    });
    assert.equal(first?.at, person.created_at);
    const sequences = events.map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
    );
  });

  test('a change to which several types apply is one event, found by each of them', async (t) => {
    const service = await start(t, { clock: settableClock('2026-03-01T12:00:00Z') });
    const { make, call } = service;
    const key = await service.key();
    const project = await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const low = { probability: 1, impact: 2 };
    const high = { probability: 5, impact: 5 };
    const risk = await make('/v1/projects/APOLLO/risks', key, { title: 'Leak', ...low });
    const closed = { status: 'closed', closure_reason: 'fixed' };
    const reopened = { status: 'open', reason: 'again' };
    for (const body of [
      closed,
      { ...reopened, ...high },
      { status: 'accepted', acceptance_reason: 'cheap', accepted_until: '2026-04-01', ...low },
      { status: 'open', probability: 5 },
      { ...closed, impact: 1, title: 'A leak' },
    ]) {
      const { status, text } = await call('PATCH', `/v1/projects/APOLLO/risks/${risk.key}`, key, body);
      assert.equal(status, 200, text);
    }
    const others = [];
    for (const title of ['Fire', 'Flood']) {
      const other = await make('/v1/projects/APOLLO/risks', key, { title, ...low });
      await call('PATCH', `/v1/projects/APOLLO/risks/${other.key}`, key, closed);
      others.push({ id: other.id });
    }
    const bulk = await call('POST', '/v1/bulk/risks', key, {
      items: others,
      changes: { ...reopened, ...high },
    });
    assert.equal(bulk.status, 200, bulk.text);

    const limited = await service.limitedKey([project.id], 'events.read', 'projects.read');
    const found = async (query: string) => {
      const events = await listEvents(service, key, query);
      assert.deepEqual(await listEvents(service, limited, query), events);
      return events.map(({ type, also, subject }) => [subject.key, type, ...also].join(' '));
    };
    assert.deepEqual(await found(`?subject=${risk.id}`), [
      'APOLLO-R1 risk.created',
      'APOLLO-R1 risk.closed',
      'APOLLO-R1 risk.reopened risk.level_raised',
      'APOLLO-R1 risk.accepted risk.level_lowered',
      'APOLLO-R1 risk.level_raised',
      'APOLLO-R1 risk.closed risk.level_lowered',
    ]);
    assert.deepEqual(await found('?types=risk.level_raised,person.created'), [
      'APOLLO-R1 risk.reopened risk.level_raised',
      'APOLLO-R1 risk.level_raised',
      'APOLLO-R2 risk.reopened risk.level_raised',
      'APOLLO-R3 risk.reopened risk.level_raised',
    ]);
    assert.deepEqual(await found('?types=risk.accepted'), ['APOLLO-R1 risk.accepted risk.level_lowered']);
    assert.deepEqual(await found('?types=risk.score_changed,risk.updated'), []);
  });

  test('`person` finds what a person did and what happened to their access, sessions and keys', async (t) => {
    const { service, key } = await withKey(start(t));
    const [ada, bo] = [await service.member(['personnel.manage']), await service.member(['personnel.read'])];
    const added = await service.post('/v1/personnel', undefined, { name: 'Cy' }, ada.headers);
    const own = await service.post('/v1/me/keys', undefined, { name: 'scripts' }, ada.headers);
    assert.deepEqual([added.status, own.status], [201, 201], added.text + own.text);
    const typesOf = async (user_id: string) =>
      pluck(await listEvents(service, key, `?person=${user_id}`), 'type');
    assert.deepEqual(await typesOf(ada.user_id), [
      'person.created',
      'access.created',
      'session.started',
      'person.created',
      'key.created',
    ]);
    assert.deepEqual(await typesOf(bo.user_id), ['person.created', 'access.created', 'session.started']);
    assert.deepEqual(await typesOf(added.body.user_id), ['person.created']);
  });

  test('risks, issues and tasks have the most specific type of event', async (t) => {
    const service = await start(t, { clock: settableClock('2026-03-01T12:00:00Z') });
    const { make, call } = service;
    const key = await service.key();
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const risk = await make('/v1/projects/APOLLO/risks', key, { title: 'Leak' });
    const patch = async (path: string, ...bodies: object[]) => {
      for (const body of bodies) {
        const { status, text } = await call('PATCH', `/v1/projects/APOLLO/${path}`, key, body);
        assert.equal(status, 200, text);
      }
    };
    await patch(
      `risks/${risk.key}`,
      { category: 'pipes' },
      { probability: 2, impact: 2 },
      { probability: 1 },
      { impact: 5, probability: 5 },
      { impact: 2 },
      { status: 'accepted', acceptance_reason: 'cheap', accepted_until: '2026-04-01' },
      { status: 'closed', closure_reason: 'fixed', probability: 5 },
      { status: 'open', reason: 'again' },
    );
    const { body } = await call('POST', `/v1/projects/APOLLO/risks/${risk.key}/materialize`, key, {});
    await patch(
      `issues/${body.issue.key}`,
      { priority: 'urgent' },
      { status: 'resolved', resolution: 'fixed' },
      { status: 'closed' },
      { status: 'open', reason: 'again' },
    );
    const task = await make('/v1/projects/APOLLO/tasks', key, { title: 'Fix' });
    await patch(`tasks/${task.key}`, { status: 'done' }, { status: 'todo' }, { status: 'cancelled' });
    await call('POST', '/v1/projects/APOLLO/archive', key, {});
    await call('POST', '/v1/projects/APOLLO/unarchive', key, {});

    const events = await listEvents(service, key, '?project=APOLLO');
    assert.deepEqual(
      events.map(({ type, subject }) => `${type} ${subject.key}`),
      [
        'project.created APOLLO',
        'risk.created APOLLO-R1',
        'risk.updated APOLLO-R1',
        'risk.score_changed APOLLO-R1',
        'risk.score_changed APOLLO-R1',
        'risk.level_raised APOLLO-R1',
        'risk.level_lowered APOLLO-R1',
        'risk.accepted APOLLO-R1',
        'risk.closed APOLLO-R1',
        'risk.reopened APOLLO-R1',
        'issue.created APOLLO-I1',
        'risk.materialized APOLLO-R1',
        'issue.updated APOLLO-I1',
        'issue.resolved APOLLO-I1',
        'issue.closed APOLLO-I1',
        'issue.reopened APOLLO-I1',
        'task.created APOLLO-T1',
        'task.completed APOLLO-T1',
        'task.reopened APOLLO-T1',
        'task.cancelled APOLLO-T1',
        'project.archived APOLLO',
        'project.unarchived APOLLO',
      ],
    );
    const raised = events.find(({ type }) => type === 'risk.level_raised');
    assert.deepEqual(raised?.previous, { probability: 1, impact: 2, score: 2, level: 'low' });
    assert.equal(raised?.data.score, 25);
  });

  test('a follower continues with next_after, even if no event matches the filter', async (t) => {
    const service = await start(t);
    const { make, get } = service;
    const key = await service.key();
    const { body: first } = await get('/v1/events', key);
    assert.deepEqual(pluck(first.data, 'type'), ['key.created']);
    const { next_after } = first.meta;
    for (const name of ['A', 'B', 'C']) await make('/v1/personnel', key, { name });
    const { body: page } = await get(`/v1/events?after=${next_after}&limit=2`, key);
    assert.deepEqual([page.data.length, page.page.has_more], [2, true]);
    assert.equal(page.meta.next_after, page.data[1].sequence);
    const { body: rest } = await get(`/v1/events?after=${page.meta.next_after}&limit=2`, key);
    assert.deepEqual(
      [...page.data, ...rest.data].map(({ data }) => data.name),
      ['A', 'B', 'C'],
    );
    assert.equal(rest.meta.next_after, rest.data[0].sequence);
    const { body: filtered } = await get(`/v1/events?after=${next_after}&types=task.created`, key);
    assert.deepEqual([filtered.data, filtered.meta.next_after], [[], rest.meta.next_after]);
    const next = `/v1/events?after=${next_after}&limit=2&cursor=${page.page.next_cursor}`;
    assert.deepEqual((await get(next, key)).body.data, rest.data);
    const beyond = await get(`/v1/events?after=${rest.meta.next_after + 1}`, key);
    assert.deepEqual([beyond.status, beyond.body.code], [400, 'invalid_parameter']);
    const lines = await get('/v1/events?format=ndjson', key);
    assert.equal(lines.text.trim().split('\n').length, 4);
  });

  test('newest first: pages go back in time, and next_after of the first page is the end of the log', async (t) => {
    const service = await start(t);
    const { make, get } = service;
    const key = await service.key();
    for (const name of ['A', 'B', 'C']) await make('/v1/personnel', key, { name });
    const { body: first } = await get('/v1/events?sort=-sequence&limit=2', key);
    const { body: second } = await get(
      `/v1/events?sort=-sequence&limit=2&cursor=${first.page.next_cursor}`,
      key,
    );
    assert.deepEqual(
      [...first.data, ...second.data].map(({ data }) => data.name),
      ['C', 'B', 'A', 'all'],
    );
    assert.equal(first.meta.next_after, first.data[0].sequence);
    await make('/v1/personnel', key, { name: 'D' });
    const { body: newer } = await get(`/v1/events?after=${first.meta.next_after}`, key);
    assert.deepEqual(
      newer.data.map(({ data }: Event) => data.name),
      ['D'],
    );
  });

  test('a key sees the events of the resources that it can read', async (t) => {
    const service = await start(t);
    const { make, get } = service;
    const key = await service.key();
    await make('/v1/personnel', key, { name: 'Ada' });
    for (const name of ['Apollo', 'Gemini']) {
      await make('/v1/projects', key, { name, key: name.toUpperCase() });
      await make(`/v1/projects/${name.toUpperCase()}/risks`, key, { title: 'Leak' });
    }
    const typesOf = async (reader: string) => {
      const { body } = await get('/v1/events', reader);
      assert.equal(body.page.total, body.data.length);
      return body.data.map(({ type, subject }: Event) => (subject.key ? `${type} ${subject.key}` : type));
    };
    assert.equal((await get('/v1/events', await service.key('projects.read'))).status, 403);
    assert.deepEqual(await typesOf(await service.key('events.read')), []);
    assert.deepEqual(await typesOf(await service.key('events.read', 'personnel.read')), ['person.created']);
    const projects = ['project.created APOLLO', 'risk.created APOLLO-R1'];
    assert.deepEqual(await typesOf(await service.key('events.manage', 'projects.manage')), [
      ...projects,
      'project.created GEMINI',
      'risk.created GEMINI-R1',
    ]);
    const limited = await service.limitedKey(['APOLLO'], 'events.read', 'projects.read', 'keys.read');
    assert.deepEqual(await typesOf(limited), projects);
    const both = await service.limitedKey(['APOLLO'], 'events.read', 'projects.read', 'personnel.read');
    assert.deepEqual(await typesOf(both), ['person.created', ...projects]);

    const { body } = await get('/v1/events', limited);
    await make('/v1/projects/GEMINI/risks', key, { title: 'Fire' });
    const { body: later } = await get(`/v1/events?after=${body.meta.next_after}`, limited);
    assert.deepEqual([later.data, later.meta], [[], { ...body.meta, filters: later.meta.filters }]);
    await make('/v1/projects/APOLLO/risks', key, { title: 'Fire' });
    const { body: own } = await get(`/v1/events?after=${later.meta.next_after}`, limited);
    assert.deepEqual(
      own.data.map(({ subject }: Event) => subject.key),
      ['APOLLO-R2'],
    );
  });

  test('changes that are rolled back have no event, and a hand-over has one per resource', async (t) => {
    const service = await start(t);
    const { make, get, post } = service;
    const key = await service.key();
    const old = await make('/v1/personnel', key, { name: 'Old', email: 'old@example.com' });
    const successor = await make('/v1/personnel', key, { name: 'New' });
    const report = await make('/v1/personnel', key, {
      name: 'Report',
      manager_user_id: old.user_id,
      kind: 'agent',
      accountable_user_id: old.user_id,
    });
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO', lead_user_id: old.user_id });
    const issue = { title: 'Both', owner_user_id: old.user_id, assignee_user_id: old.user_id };
    await make('/v1/projects/APOLLO/issues', key, issue);
    const group = await make('/v1/groups', key, { name: 'Works' });
    await make('/v1/groups', key, { name: 'Other' });
    await service.call('PUT', `/v1/groups/${group.id}/members/${old.user_id}`, key);
    const { next_after } = (await get('/v1/events', key)).body.meta;
    const path = `/v1/personnel/${old.user_id}/deactivate`;
    await post(path, key, { handover_to_user_id: successor.user_id, dry_run: true });
    assert.equal((await post('/v1/personnel', key, { name: 'X', email: 'OLD@example.com' })).status, 409);
    const csv = 'name,email\nNo,no@example.com\nTwice,old@example.com\n';
    const file = { 'content-type': 'text/csv' };
    assert.equal((await post('/v1/personnel/import?atomic=true', key, csv, file)).status, 422);
    assert.deepEqual((await get(`/v1/events?after=${next_after}`, key)).body.data, []);

    assert.equal((await post(path, key, { handover_to_user_id: successor.user_id })).status, 200);
    const { body } = await get(`/v1/events?after=${next_after}`, key);
    const names: Record<string, string> = { [old.user_id]: 'old', [report.user_id]: 'report' };
    const described = body.data.map(({ type, subject }: Event) =>
      `${type} ${names[subject.id] ?? ''}`.trim(),
    );
    assert.deepEqual(described.toSorted(), [
      'group.member_added',
      'group.member_removed',
      'issue.updated',
      'person.deactivated old',
      'person.updated report',
      'project.updated',
    ]);
    const moved = body.data.find(({ type }: Event) => type === 'issue.updated');
    assert.deepEqual(moved.previous, { owner_user_id: old.user_id, assignee_user_id: old.user_id });
    const joined = body.data.find(({ type }: Event) => type === 'group.member_added');
    const membership = { group_id: group.id, group_name: 'Works', user_name: 'New' };
    assert.deepEqual(joined.data, { ...membership, user_id: successor.user_id });
  });

  test('a streamed list has another ETag for a key that sees other events', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const rows = Array.from({ length: 600 }, (_, i) => JSON.stringify({ name: `Person ${i}` }));
    const imported = await service.upload(
      '/v1/personnel/import',
      all,
      rows.join('\n'),
      'application/x-ndjson',
    );
    assert.equal(imported.status, 200);
    const personnel = await service.key('events.read', 'personnel.read');
    const { headers, body } = await service.get('/v1/events', all);
    const etag = headers.get('etag') ?? '';
    const other = await service.get('/v1/events', personnel, { 'if-none-match': etag });
    assert.equal(other.status, 200);
    assert.ok(other.body.data.length >= 600 && other.body.data.length < body.data.length);
    assert.equal((await service.get('/v1/events', all, { 'if-none-match': etag })).status, 304);
  });

  test('a webhook that is too far behind misses events, which are counted and logged', async (t) => {
    const clock = settableClock('2026-01-01T12:00:00Z');
    const service = await start(t, { clock, environment: { MUSTER_WEBHOOK_ALLOW: '127.0.0.1' } });
    const key = await service.key();
    const webhook = async (type: string) =>
      (await service.make('/v1/webhooks', key, { url: 'http://127.0.0.1:1/', types: [type] })).id as string;
    const behind = await webhook('person.*');
    await webhook('risk.*');
    const disabled = await webhook('person.*');
    await service.patch(`/v1/webhooks/${disabled}`, key, { status: 'disabled' });
    for (let n = 0; n < 3; n++) await service.make('/v1/personnel', key, { name: `Old ${n}` });
    clock.set('2026-06-01T12:00:00Z');
    const logged = t.mock.method(service.app.log, 'warn');
    const jobs = createJobs(service.app);
    jobs.start(1);
    while (logged.mock.callCount() === 0) await setTimeout(5);
    await jobs.stop();
    assert.deepEqual(
      logged.mock.calls.map(({ arguments: [line] }) => String(line)),
      [
        `The webhook ${behind} is behind by more than MUSTER_EVENT_RETENTION_DAYS: it has missed 3 events, which are deleted.`,
      ],
    );
    assert.match((await service.get('/metrics', key)).text, /^muster_webhook_events_missed_total 3$/m);
  });

  test('old events are deleted, and a follower that is too far behind gets 410', async (t) => {
    const clock = settableClock('2026-01-01T12:00:00Z');
    const service = await start(t, { clock });
    const { make, get } = service;
    const key = await service.key();
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const limited = await service.limitedKey(['APOLLO'], 'events.read', 'projects.read');
    const { next_after } = (await get('/v1/events', key)).body.meta;
    for (let n = 0; n < 3; n++) await make('/v1/personnel', key, { name: `Old ${n}` });
    clock.set('2026-03-01T12:00:00Z');
    await make('/v1/personnel', key, { name: 'New' });
    clock.set('2026-04-02T12:00:00Z');
    // The second response is cached.
    for (let n = 0; n < 2; n++) assert.equal((await listEvents(service, key)).length, 7);
    assert.equal(await deleteOldEvents(service.database, clock(), 90), 6);
    assert.equal(await deleteOldEvents(service.database, clock(), 90), 0);
    const gone = await get(`/v1/events?after=${next_after}`, key);
    assert.deepEqual([gone.status, gone.body.code], [410, 'events_expired']);
    const names = (events: Event[]) => events.map(({ data }) => data.name);
    const { body } = await get('/v1/events', key);
    assert.deepEqual(names(body.data), ['New']);
    assert.equal(gone.body.next_after, body.meta.next_after);
    assert.deepEqual((await get(`/v1/events?after=${gone.body.next_after}`, key)).body.data, []);
    assert.equal((await get(`/v1/events?after=${next_after}`, limited)).status, 410);
  });
});
