import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { muster, startMuster, temporaryFolder } from '../../../test/process.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { scopes } from '../../core/scopes.ts';
import { openDatabase } from '../../store/open.ts';
import { createKey } from './queries.ts';

const noon = '2026-11-15T12:00:00.000Z';
const noSuchKey = '/v1/keys/key_00000000000000000000000000';

onBothEngines('keys', (start) => {
  test('a long list of keys gets no 304 after some have expired', async (t) => {
    let time = new Date('2026-11-15T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock: () => momentOf(time) }));
    const expires_at = '2026-11-15T13:00:00.000Z';
    await service.database.write(async (db) => {
      for (let i = 0; i < 700; i++) {
        const name = `${i} ${'x'.repeat(190)}`;
        await createKey(db, { name, scopes: ['keys.read'], expires_at }, momentOf(time));
      }
    });
    const path = '/v1/keys?status=valid';
    const before = await service.get(path, key);
    assert.ok(before.text.length > 256 * 1024, 'long enough to be streamed');
    time = new Date('2026-11-15T14:00:00Z');
    const after = await service.get(path, key, { 'if-none-match': before.headers.get('etag') ?? '"none"' });
    assert.deepEqual([after.status, after.body?.data.length], [200, 1]);
  });

  test('creates, reads, updates and revokes a key', async (t) => {
    const { service, key } = await withKey(start(t, { clock: settableClock(noon) }));
    const created = await service.post('/v1/keys', key, {
      name: 'Nightly',
      scopes: ['personnel.read'],
      expires_at: '2026-12-01T01:00:00+01:00',
    });
    assert.deepEqual([created.status, created.headers.get('cache-control')], [201, 'no-store']);
    const { secret, ...shown } = created.body;
    assert.equal(created.headers.get('location'), `${service.origin}/v1/keys/${shown.id}`);
    assert.deepEqual(shown, {
      id: shown.id,
      name: 'Nightly',
      scopes: ['personnel.read'],
      project_ids: null,
      expires_at: '2026-12-01T00:00:00.000Z',
      rate_limit: null,
      prefix: secret.slice(0, 8),
      last_four: secret.slice(-4),
      user_id: null,
      last_used_at: null,
      revoked_at: null,
      version: 1,
      created_at: noon,
      updated_at: noon,
    });
    const path = `/v1/keys/${shown.id}`;
    const reader = await service.key('keys.read');
    assert.deepEqual((await service.get(path, reader)).body, shown);
    assert.equal((await service.get('/v1/personnel', secret)).status, 200);
    assert.equal((await service.get('/v1/risks', secret)).status, 403);

    const patch = { name: 'Weekly', scopes: ['projects.read'], expires_at: null };
    const patched = await service.patch(path, key, patch, { 'if-match': '"1"' });
    const updated_at = '2026-11-15T12:00:00.001Z';
    assert.deepEqual(patched.body, { ...shown, ...patch, version: 2, updated_at });
    assert.equal((await service.get('/v1/personnel', secret)).status, 403);
    assert.equal((await service.get('/v1/risks', secret)).status, 200);
    assert.equal((await service.delete(path, key)).status, 204);
    assert.equal((await service.get('/v1/risks', secret)).status, 401);
    assert.equal((await service.delete(path, key)).status, 204);
    const { body: revoked } = await service.get(path, key);
    assert.deepEqual([revoked.revoked_at, revoked.version], [noon, 3]);
    for (const [method, url, to] of [
      ['PATCH', path, 'changed'],
      ['POST', `${path}/rotate`, 'rotated'],
    ] as const) {
      const { status, body } = await service.call(method, url, key, {});
      assert.deepEqual(
        [status, body.code, body.from, body.to, body.allowed],
        [409, 'invalid_transition', 'revoked', to, []],
      );
    }
    for (const [method, url] of [
      ['DELETE', noSuchKey],
      ['POST', `${noSuchKey}/rotate`],
    ] as const)
      assert.equal((await service.call(method, url, key)).status, 404);
  });

  test('shows a secret only once', async (t) => {
    const { service, key } = await withKey(start(t));
    const input = { name: 'x', scopes: ['personnel.read'] };
    const once = { 'idempotency-key': 'once' };
    const created = (await service.post('/v1/keys', key, input, once)).body;
    const path = `/v1/keys/${created.id}`;
    const replayed = await service.post('/v1/keys', key, input, once);
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(replayed.body, { ...created, secret: null });
    const rotated = (await service.post(`${path}/rotate`, key, { overlap_seconds: 60 }, once)).body;
    assert.equal(
      (await service.post(`${path}/rotate`, key, { overlap_seconds: 60 }, once)).body.secret,
      null,
    );
    await service.patch(path, key, { name: 'y' });

    const responses = await Promise.all(
      ['/v1/keys', path, `${path}/history`].map(async (url) => (await service.get(url, key)).text),
    );
    const { db } = service.database;
    const stored = [
      await db.selectFrom('keys').selectAll().execute(),
      await db.selectFrom('history').selectAll().execute(),
      await db.selectFrom('idempotency').selectAll().execute(),
    ];
    for (const secret of [created.secret, rotated.secret]) {
      assert.match(secret, /^mst_/);
      assert.ok(!JSON.stringify([responses, stored]).includes(secret));
    }
    const { hash, previous_hash } = await db
      .selectFrom('keys')
      .selectAll()
      .where('id', '=', created.id)
      .executeTakeFirstOrThrow();
    for (const storedHash of [hash, previous_hash ?? 'none'])
      assert.ok(!JSON.stringify([responses, created, rotated]).includes(storedHash));
  });

  test('rejects an invalid key and reports all errors at once', async (t) => {
    const { service, key } = await withKey(start(t, { clock: settableClock(noon) }));
    const { status, body } = await service.post('/v1/keys', key, {
      scopes: ['personnel.read', 'personnel.read', 'personnel.write'],
      project_ids: [],
      rate_limit: -1,
      secret: 'mst_x',
      expires_at: 'soon',
    });
    assert.equal(status, 422);
    const pointers: string[] = pluck(body.errors, 'pointer');
    for (const field of ['name', 'scopes', 'scopes/2', 'project_ids', 'rate_limit', 'secret', 'expires_at'])
      assert.ok(pointers.includes(`#/${field}`), field);
    const withoutScopes = await service.post('/v1/keys', key, { name: 'x', scopes: [] });
    assert.equal(withoutScopes.status, 422);
    assert.equal(withoutScopes.body.detail, 'This must have at least 1 item.');

    const input = { name: 'x', scopes: ['personnel.read'] };
    const { id } = await service.make('/v1/keys', key, input);
    for (const expires_at of [noon, '2026-11-15T12:30:00+01:00']) {
      const created = await service.post('/v1/keys', key, { ...input, expires_at });
      assert.deepEqual([created.status, created.body.errors[0].pointer], [422, '#/expires_at']);
      assert.equal((await service.patch(`/v1/keys/${id}`, key, { expires_at })).status, 422);
    }
    const invalid = [
      { rate_limit: 1.5 },
      { rate_limit: 1_000_001 },
      { project_ids: [] },
      { project_ids: ['x'] },
    ];
    for (const body of [...invalid, { name: null }, { revoked_at: noon }])
      assert.equal((await service.patch(`/v1/keys/${id}`, key, body)).status, 422);
    for (const overlap_seconds of [-1, 604_801, 1.5, '5', null])
      assert.equal((await service.post(`/v1/keys/${id}/rotate`, key, { overlap_seconds })).status, 422);
  });

  test('lists keys from oldest to newest and filters by name and status', async (t) => {
    const clock = settableClock(noon);
    const { service, key } = await withKey(start(t, { clock }));
    const create = (name: string, expires_at: string | null = null) =>
      service.make('/v1/keys', key, { name, scopes: ['personnel.read'], expires_at });
    await create('Éxport');
    await create('short', '2026-11-15T13:00:00Z');
    const gone = await create('gone', '2026-11-15T13:00:00Z');
    await service.delete(`/v1/keys/${gone.id}`, key);
    clock.set('2026-11-15T13:00:00Z');
    const names = async (query: string) => {
      const { body } = await service.get(`/v1/keys${query}`, key);
      return pluck(body.data, 'name');
    };
    assert.deepEqual(await names(''), ['all', 'Éxport', 'short', 'gone']);
    assert.deepEqual(await names('?status=all'), ['all', 'Éxport', 'short', 'gone']);
    assert.deepEqual(await names('?status=valid'), ['all', 'Éxport']);
    assert.deepEqual(await names('?status=expired'), ['short']);
    assert.deepEqual(await names('?status=revoked'), ['gone']);
    assert.deepEqual(await names('?status=expired,revoked'), ['short', 'gone']);
    assert.deepEqual(await names('?q=EXP'), ['Éxport']);
    assert.deepEqual(await names('?limit=2'), ['all', 'Éxport']);
    assert.deepEqual((await service.get('/v1/keys', key)).body.meta.filters, { status: ['all'] });
    const csv = await service.get('/v1/keys?q=gone', key, { accept: 'text/csv' });
    assert.match(csv.text, /gone,personnel\.read,,2026-11-15T13:00:00\.000Z/);
  });

  test('a key cannot create a key that expires later than itself', async (t) => {
    const service = await start(t);
    const whole = await service.key();
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const short = { name: 'short', scopes: ['keys.manage'], expires_at: day(10) };
    const { secret } = await service.make('/v1/keys', whole, short);
    const create = (expires_at: string | null) => service.post('/v1/keys', secret, { ...short, expires_at });
    assert.equal((await create(null)).body.errors[0].code, 'outlives');
    assert.equal((await create(day(11))).status, 422);
    const created = await create(day(9));
    assert.equal(created.status, 201);
    const patch = await service.patch(`/v1/keys/${created.body.id}`, secret, { expires_at: null });
    assert.equal(patch.status, 422);

    const lasting = await service.make('/v1/keys', whole, { ...short, expires_at: null });
    const rotate = (id: string) => service.post(`/v1/keys/${id}/rotate`, secret, {});
    assert.equal((await rotate(lasting.id)).body.errors[0].code, 'outlives');
    assert.equal((await rotate(created.body.id)).status, 200);
  });

  test('a key cannot manage a key with more scopes than its own', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const manager = await service.key('keys.manage', 'projects.manage');
    const create = (...held: string[]) => service.post('/v1/keys', manager, { name: 'x', scopes: held });
    const rejected = await create('personnel.read', 'projects.read', 'events.manage');
    assert.deepEqual([rejected.status, rejected.body.code], [403, 'insufficient_scope']);
    assert.equal(rejected.body.scope, 'personnel.read events.manage');
    assert.match(rejected.headers.get('www-authenticate') ?? '', /scope="personnel\.read events\.manage"/);
    assert.match(rejected.body.detail, /You lack personnel\.read, events\.manage/);
    const alone = await service.key('keys.manage');
    const body = { name: 'x', scopes: ['personnel.read'] };
    assert.equal((await service.post('/v1/keys', alone, body)).status, 403);
    const reader = await service.key('keys.read');
    assert.equal((await service.post('/v1/keys', reader, { name: 'x', scopes: ['keys.read'] })).status, 403);

    const weak = await create('projects.read', 'keys.read');
    assert.equal(weak.status, 201);
    const path = `/v1/keys/${weak.body.id}`;
    const patch = (url: string, body: object) => service.patch(url, manager, body);
    assert.equal((await patch(path, { scopes: ['personnel.read'] })).status, 403);
    assert.equal((await patch(path, { scopes: ['projects.manage'] })).status, 200);

    const strong = await service.make('/v1/keys', all, { name: 'strong', scopes: [...scopes] });
    for (const response of [
      await patch(`/v1/keys/${strong.id}`, { name: 'mine' }),
      await patch(`/v1/keys/${strong.id}`, { scopes: ['projects.read'] }),
      await service.call('POST', `/v1/keys/${strong.id}/rotate`, manager),
    ])
      assert.deepEqual([response.status, response.body.code], [403, 'insufficient_scope']);
    assert.deepEqual((await service.get(`/v1/keys/${strong.id}`, all)).body.version, 1);
    assert.equal((await service.get('/v1/personnel', strong.secret)).status, 200);
    const self = (await service.get('/v1/me', manager)).body.key_id;
    assert.equal((await patch(`/v1/keys/${self}`, { scopes: [...scopes] })).status, 403);
  });

  test('a key limited to projects grants only those projects and sees only keys limited to them', async (t) => {
    const service = await start(t);
    const whole = await service.key();
    const createProject = async (name: string) => (await service.make('/v1/projects', whole, { name })).id;
    const [apollo, gemini, mercury] = [
      await createProject('Apollo'),
      await createProject('Gemini'),
      await createProject('Mercury'),
    ].sort();
    const input = { name: 'x', scopes: ['keys.manage', 'projects.read'] };
    const wide = await service.make('/v1/keys', whole, {
      ...input,
      project_ids: ['GEMINI', apollo, 'APOLLO'],
    });
    assert.deepEqual(wide.project_ids, [apollo, gemini]);
    const post = (project_ids?: unknown) => service.post('/v1/keys', wide.secret, { ...input, project_ids });
    const errorOf = ({ body }: { body: { errors: { pointer: string; code: string }[] } }) =>
      body.errors.map(({ pointer, code }) => `${pointer} ${code}`).join();

    for (const project_ids of [undefined, null])
      assert.equal(errorOf(await post(project_ids)), '#/project_ids beyond_own');
    for (const project_ids of [['MERCURY'], ['APOLLO', mercury], ['NOPE']])
      assert.equal(errorOf(await post(project_ids)), '#/project_ids unknown_reference');
    const narrow = (await post(['APOLLO'])).body;
    assert.deepEqual(narrow.project_ids, [apollo]);

    const patch = (id: string, body: object) => service.patch(`/v1/keys/${id}`, wide.secret, body);
    for (const { id } of [wide, narrow]) {
      assert.equal(errorOf(await patch(id, { project_ids: null })), '#/project_ids beyond_own');
      assert.equal(errorOf(await patch(id, { project_ids: ['MERCURY'] })), '#/project_ids unknown_reference');
    }
    assert.deepEqual((await patch(narrow.id, { project_ids: ['GEMINI', 'APOLLO'] })).body.project_ids, [
      apollo,
      gemini,
    ]);
    assert.equal((await patch(narrow.id, { project_ids: ['APOLLO', 'GEMINI'] })).body.version, 2);
    assert.deepEqual((await patch(narrow.id, { project_ids: ['GEMINI'] })).body.project_ids, [gemini]);

    const hiddenKeys = [
      await service.make('/v1/keys', whole, input),
      await service.make('/v1/keys', whole, { ...input, project_ids: ['MERCURY'] }),
      await service.make('/v1/keys', whole, { ...input, project_ids: ['APOLLO', 'MERCURY'] }),
    ];
    const idsSeenBy = async (secret: string) => pluck(await service.list('/v1/keys', secret), 'id');
    assert.deepEqual(await idsSeenBy(wide.secret), [wide.id, narrow.id]);
    assert.deepEqual(await idsSeenBy(narrow.secret), [narrow.id]);
    for (const { id } of hiddenKeys) {
      assert.equal((await patch(id, { name: 'y' })).status, 404);
      assert.equal((await service.call('POST', `/v1/keys/${id}/rotate`, wide.secret)).status, 404);
      assert.equal((await service.delete(`/v1/keys/${id}`, wide.secret)).status, 404);
    }
    assert.equal((await service.call('POST', `/v1/keys/${narrow.id}/rotate`, wide.secret)).status, 200);

    // The history entry contains a project that the limited key cannot see.
    await service.patch(`/v1/keys/${hiddenKeys[2].id}`, whole, { project_ids: ['APOLLO'] });
    const fieldsSeenBy = async (secret: string) =>
      pluck(await service.list(`/v1/keys/${hiddenKeys[2].id}/history`, secret), 'field');
    assert.deepEqual(await fieldsSeenBy(whole), ['created', 'project_ids']);
    assert.deepEqual(await fieldsSeenBy(wide.secret), ['created']);
    assert.equal((await patch(wide.id, { project_ids: ['APOLLO'] })).status, 200);
    assert.equal((await patch(wide.id, { project_ids: ['GEMINI'] })).status, 422);
    assert.equal((await service.delete(`/v1/keys/${wide.id}`, wide.secret)).status, 204);
  });

  test('a key with a rate limit cannot grant a higher one', async (t) => {
    const service = await start(t);
    const whole = await service.key();
    const input = { name: 'x', scopes: ['keys.manage'] };
    const slow = await service.make('/v1/keys', whole, { ...input, rate_limit: 100 });
    assert.equal(slow.rate_limit, 100);
    assert.equal((await service.get('/v1/me', slow.secret)).body.limits.rate_limit, 100);
    for (const rate_limit of [undefined, null, 0, 101]) {
      const { body } = await service.post('/v1/keys', slow.secret, { ...input, rate_limit });
      assert.deepEqual([body.errors[0].pointer, body.errors[0].code], ['#/rate_limit', 'above_own']);
    }
    const { body: slower } = await service.post('/v1/keys', slow.secret, { ...input, rate_limit: 100 });
    const path = `/v1/keys/${slower.id}`;
    assert.equal((await service.patch(path, slow.secret, { rate_limit: 0 })).status, 422);
    assert.equal((await service.patch(path, slow.secret, { rate_limit: 1 })).body.rate_limit, 1);
    assert.equal((await service.patch(path, whole, { rate_limit: 0 })).body.rate_limit, 0);
    assert.equal((await service.call('POST', `${path}/rotate`, slow.secret)).status, 422);
    assert.equal((await service.patch(path, whole, { rate_limit: null })).body.rate_limit, null);
  });

  test('a key limited to projects does not count as the last manager', async (t) => {
    const service = await start(t);
    const last = await service.key();
    await service.make('/v1/projects', last, { name: 'Apollo' });
    await service.limitedKey(['APOLLO'], 'keys.manage');
    const path = `/v1/keys/${(await service.get('/v1/me', last)).body.key_id}`;
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { project_ids: ['APOLLO'] }],
    ] as const)
      assert.equal((await service.call(method, path, last, body)).body.code, 'in_use');
    await service.key('keys.manage');
    assert.equal((await service.patch(path, last, { project_ids: ['APOLLO'] })).status, 200);
  });

  test('the last valid key with keys.manage cannot be revoked, restricted or given an expiry', async (t) => {
    const clock = settableClock(noon);
    const service = await start(t, { clock });
    const last = await service.key('keys.manage');
    await service.key('keys.read');
    const path = `/v1/keys/${(await service.get('/v1/me', last)).body.key_id}`;
    const input = { name: 'other', scopes: ['keys.manage'] };
    const brief = await service.make('/v1/keys', last, { ...input, expires_at: '2026-11-15T13:00:00Z' });
    const other = await service.make('/v1/keys', last, input);
    assert.equal((await service.delete(`/v1/keys/${other.id}`, last)).status, 204);
    clock.set('2026-11-15T13:00:00Z');
    const attempts = [
      ['DELETE', undefined],
      ['PATCH', { scopes: ['keys.read'] }],
      ['PATCH', { expires_at: '2030-01-01T00:00:00Z' }],
    ] as const;
    for (const [method, body] of attempts) {
      const response = await service.call(method, path, last, body);
      assert.deepEqual([response.status, response.body.code], [409, 'in_use'], method);
      assert.match(response.body.detail, /Create a key with keys.manage/);
    }
    assert.equal((await service.patch(path, last, { name: 'renamed' })).status, 200);
    assert.equal((await service.delete(`/v1/keys/${brief.id}`, last)).status, 204);

    const next = await service.make('/v1/keys', last, input);
    assert.equal((await service.patch(path, last, attempts[2][1])).status, 200);
    assert.equal((await service.delete(path, last)).status, 204);
    assert.equal((await service.delete(`/v1/keys/${next.id}`, next.secret)).status, 409);
  });

  test('one of two last managers remains when they revoke or restrict each other concurrently', async (t) => {
    const service = await start(t);
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { scopes: ['keys.read'] }],
    ] as const) {
      const first = await createLastManager(service);
      const second = await service.make('/v1/keys', first.secret, { name: 'y', scopes: ['keys.manage'] });
      const responses = await Promise.all([
        service.call(method, `/v1/keys/${second.id}`, first.secret, body),
        service.call(method, `/v1/keys/${first.id}`, second.secret, body),
      ]);
      const rejected = responses.filter(({ status }) => status >= 400);
      // The second request fails: its key is the last manager, or has lost its access.
      assert.equal(rejected.length, 1, responses.map(({ text }) => text).join());
      assert.ok([401, 403, 409].includes(rejected[0]?.status ?? 0));
      assert.equal((await validManagers(service)).length, 1);
    }
  });

  test('one manager remains when all are revoked concurrently', async (t) => {
    const { service, key } = await withKey(start(t), 'keys.manage');
    for (let i = 0; i < 5; i++)
      await service.make('/v1/keys', key, { name: `${i}`, scopes: ['keys.manage'] });
    const ids = await validManagers(service);
    const secret = await service.key('keys.manage');
    const self = (await service.get('/v1/me', secret)).body.key_id;
    const all = [...ids, self];
    const responses = await Promise.all(all.map((id) => service.delete(`/v1/keys/${id}`, secret)));
    const kept = responses.map(({ status }) => status).filter((status) => status !== 204);
    // What came after the key had revoked itself is refused, too.
    assert.ok(kept.length > 0 && kept.every((status) => status === 401 || status === 409), String(kept));
    assert.equal((await validManagers(service)).length, kept.length);
  });

  test('after a rotation the old secret works during the overlap only', async (t) => {
    const clock = settableClock(noon);
    const { service, key } = await withKey(start(t, { clock }));
    const created = await service.make('/v1/keys', key, { name: 'x', scopes: ['personnel.read'] });
    const path = `/v1/keys/${created.id}`;
    const status = async (secret: string) => (await service.get('/v1/personnel', secret)).status;
    const rotate = async (body?: object) => {
      const response = await service.call('POST', `${path}/rotate`, key, body, { 'if-none-match': '*' });
      assert.equal(response.status, 200, response.text);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return response.body;
    };

    const second = await rotate();
    assert.deepEqual(
      { ...second, secret: created.secret },
      {
        ...created,
        prefix: second.secret.slice(0, 8),
        last_four: second.secret.slice(-4),
        version: 2,
        updated_at: second.updated_at,
      },
    );
    assert.deepEqual([await status(created.secret), await status(second.secret)], [401, 200]);

    const third = await rotate({ overlap_seconds: 3600 });
    assert.deepEqual([await status(second.secret), await status(third.secret)], [200, 200]);
    clock.set('2026-11-15T12:59:59.999Z');
    assert.equal(await status(second.secret), 200);
    clock.set('2026-11-15T13:00:00Z');
    assert.deepEqual([await status(second.secret), await status(third.secret)], [401, 200]);

    const fourth = await rotate({ overlap_seconds: 604_800 });
    const fifth = await rotate({ overlap_seconds: 60 });
    assert.deepEqual(
      await Promise.all([third, fourth, fifth].map(({ secret }) => status(secret))),
      [401, 200, 200],
    );
    assert.equal((await service.delete(path, key)).status, 204);
    assert.deepEqual([await status(fourth.secret), await status(fifth.secret)], [401, 401]);
  });

  test('after concurrent rotations exactly one of the returned secrets works', async (t) => {
    const { service, key } = await withKey(start(t));
    const created = await service.make('/v1/keys', key, { name: 'x', scopes: ['personnel.read'] });
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => service.call('POST', `/v1/keys/${created.id}/rotate`, key)),
    );
    const statuses = await Promise.all(
      responses.map(async ({ body }) => (await service.get('/v1/personnel', body.secret)).status),
    );
    assert.deepEqual(statuses.sort(), [200, 401, 401, 401, 401]);
  });

  test('records the history of a key', async (t) => {
    const { service, key } = await withKey(start(t, { clock: settableClock(noon) }));
    const created = await service.make('/v1/keys', key, { name: 'x', scopes: ['personnel.read'] });
    const path = `/v1/keys/${created.id}`;
    await service.patch(path, key, { name: 'y', expires_at: '2027-01-01T00:00:00Z' });
    const { body: rotated } = await service.call('POST', `${path}/rotate`, key);
    await service.delete(path, key);
    await service.delete(path, key);
    const { body } = await service.get(`${path}/history`, await service.key('keys.read'));
    const entries = pluck(body.data, 'at', 'actor.name', 'reason', 'field', 'from', 'to');
    const by = (later: number) => [`2026-11-15T12:00:00.00${later}Z`, 'all', null];
    assert.deepEqual(entries, [
      [...by(0), 'created', null, 'x'],
      [...by(1), 'name', 'x', 'y'],
      [...by(1), 'expires_at', null, '2027-01-01T00:00:00.000Z'],
      [...by(2), 'rotated', `…${created.last_four}`, `…${rotated.last_four}`],
      [...by(3), 'revoked', 'y', null],
    ]);
  });

  test('records the last use of a key without a write per request', async (t) => {
    const clock = settableClock(noon);
    const service = await start(t, { clock });
    const [key, idle] = [await service.key(), await service.key('personnel.read')];
    const { key_id } = (await service.get('/v1/me', key)).body;
    const use = () => Promise.all(Array.from({ length: 20 }, () => service.get('/v1/personnel', key)));
    const lastUsed = async () => (await service.get(`/v1/keys/${key_id}`, key)).body;
    const before = await versions(service);
    await use();
    assert.deepEqual(await versions(service), before);
    assert.equal((await lastUsed()).last_used_at, null);

    await service.app.usage.flush();
    const flushed = await versions(service);
    assert.notEqual(flushed.keys, before.keys);
    assert.deepEqual({ ...flushed, keys: before.keys }, before);
    const { last_used_at, version, updated_at } = await lastUsed();
    assert.deepEqual([last_used_at, version, updated_at], [noon, 1, noon]);

    clock.set('2026-11-15T12:00:59Z');
    await use();
    await service.app.usage.flush();
    assert.deepEqual(await versions(service), flushed);
    clock.set('2026-11-15T12:01:00Z');
    await use();
    await service.app.usage.flush();
    assert.equal((await lastUsed()).last_used_at, '2026-11-15T12:01:00.000Z');

    clock.set('2026-11-15T12:05:00Z');
    assert.equal((await service.get('/v1/risks', idle)).status, 403);
    await service.app.close();
    const database = openDatabase(service.url);
    const rows = await database.db.selectFrom('keys').select('last_used_at').orderBy('id').execute();
    await database.close();
    assert.deepEqual(rows, [
      { last_used_at: '2026-11-15T12:01:00.000Z' },
      { last_used_at: '2026-11-15T12:05:00.000Z' },
    ]);
  });

  test('serves requests when the last use cannot be stored', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.read');
    assert.equal((await service.get('/v1/personnel', key)).status, 200);
    const { write } = service.database;
    service.database.write = () => Promise.reject(new Error('away'));
    await service.app.usage.flush();
    service.database.write = write;
    assert.equal((await service.get('/v1/personnel', key)).status, 200);
    await service.app.usage.flush();
    const [row] = await service.database.db.selectFrom('keys').select('last_used_at').execute();
    assert.notEqual(row?.last_used_at, null);
  });
});

test('the command line rotates a key while the service runs', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startMuster(t, folder);
  const status = async (secret: string) =>
    (await fetch(`${service.origin}/v1/risks`, { headers: { authorization: `Bearer ${secret}` } })).status;
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await muster(folder, ['keys', ...args, '--json']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const created = await json('create', '--name', 'x', '--scopes', 'projects.read');
  const second = await json('rotate', created.id, '--overlap', '3600');
  assert.equal(second.version, 2);
  assert.deepEqual([await status(created.secret), await status(second.secret)], [200, 200]);
  const plain = (await muster(folder, ['keys', 'rotate', created.id])).stdout;
  const [third = ''] = /^mst_\w+/.exec(plain) ?? [];
  assert.deepEqual(await Promise.all([created.secret, second.secret, third].map(status)), [401, 401, 200]);
  for (const [args, expected] of [
    [
      [created.id, '--overlap', '604801'],
      /--overlap is “604801” but must be a whole number of seconds up to 604800/,
    ],
    [[created.id, '--overlap', 'soon'], /--overlap is “soon”/],
    [['key_nope'], /There is no key key_nope/],
  ] as const) {
    const { code, stderr } = await muster(folder, ['keys', 'rotate', ...args]);
    assert.equal(code, 1);
    assert.match(stderr, expected);
    assert.match(stderr, /^muster: [^\n]+\n$/);
  }
});

/** Creates a key with `keys.manage` and revokes all other such keys. */
async function createLastManager(service: TestService): Promise<{ id: string; secret: string }> {
  const secret = await service.key('keys.manage');
  const { key_id } = (await service.get('/v1/me', secret)).body;
  for (const id of await validManagers(service))
    if (id !== key_id) await service.delete(`/v1/keys/${id}`, secret);
  return { id: key_id, secret };
}

async function validManagers({ database }: TestService): Promise<string[]> {
  const rows = await database.db.selectFrom('keys').select(['id', 'scopes', 'revoked_at']).execute();
  return rows.filter((key) => !key.revoked_at && key.scopes.includes('keys.manage')).map(({ id }) => id);
}

async function versions({ database }: TestService): Promise<Record<string, number>> {
  const rows = await database.db.selectFrom('data_versions').selectAll().execute();
  return Object.fromEntries(rows.map(({ table_name, version }) => [table_name, version]));
}
