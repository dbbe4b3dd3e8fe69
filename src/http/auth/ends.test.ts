import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql, type Transaction } from 'kysely';
import { createAuthenticator } from '../../../test/authenticator.ts';
import { settableClock } from '../../../test/clock.ts';
import { sendLate } from '../../../test/late-body.ts';
import { onBothEngines, pluck, startTestService, type TestService } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import { revokeKey } from '../../resources/keys/queries.ts';
import { createLink } from '../../store/access/links.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

/** Signs in, and returns the headers of a page in the session. */
async function signIn(service: TestService, body: object) {
  const { status, headers, text } = await service.post('/v1/session', undefined, body, sameOrigin);
  assert.equal(status, 204, text);
  return { cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '', ...sameOrigin };
}

const statusOf = async (service: TestService, headers: Record<string, string>) =>
  (await service.get('/v1/me', undefined, headers)).status;

onBothEngines('what ends', (start) => {
  test('sessions and links of a key end when it is rotated, except the session that gets the new secret', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const scopes = ['personnel.read', 'keys.manage'];
    const { id, secret } = await service.make('/v1/keys', all, { name: 'office', scopes });
    const [one, own] = [await signIn(service, { key: secret }), await signIn(service, { key: secret })];
    const { token } = await service.database.write((db) =>
      createLink(
        db,
        { purpose: 'sign_in', user_id: null, key_id: id },
        { now: new Date().toISOString(), hours: 1 },
      ),
    );
    assert.equal(await statusOf(service, one), 200);
    const path = `/v1/keys/${id}/rotate`;
    const rotated = await service.post(path, undefined, { overlap_seconds: 600 }, own);
    assert.equal(rotated.status, 200, rotated.text);
    assert.deepEqual([await statusOf(service, one), await statusOf(service, own)], [401, 200]);
    const linked = await service.post('/v1/session', undefined, { link: token }, sameOrigin);
    assert.equal(linked.status, 401);
    assert.equal((await service.post(path, all, {})).status, 200);
    assert.equal(await statusOf(service, own), 401);
    assert.deepEqual(await service.database.db.selectFrom('sessions').selectAll().execute(), []);
    assert.deepEqual(await service.database.db.selectFrom('links').selectAll().execute(), []);
  });

  test('a session that the previous secret of a key starts ends with that secret', async (t) => {
    const clock = settableClock('2026-11-19T10:00:00Z');
    const service = await start(t, { clock });
    const all = await service.key();
    const { id, secret } = await service.make('/v1/keys', all, {
      name: 'office',
      scopes: ['personnel.read'],
    });
    const rotated = await service.post(`/v1/keys/${id}/rotate`, all, { overlap_seconds: 600 });
    const former = await signIn(service, { key: secret });
    const current = await signIn(service, { key: rotated.body.secret });
    assert.deepEqual([await statusOf(service, former), await statusOf(service, current)], [200, 200]);
    clock.set('2026-11-19T10:10:01Z');
    assert.deepEqual([await statusOf(service, former), await statusOf(service, current)], [401, 200]);
  });

  test('a session that a personal key starts may do what the key may, not what its person may', async (t) => {
    const service = await start(t);
    const ada = await service.member(['projects.read', 'personnel.read']);
    const body = { name: 'mine', scopes: ['projects.read'] };
    const key = (await service.post('/v1/me/keys', undefined, body, ada.headers)).body;
    const other = (await service.post('/v1/me/keys', undefined, body, ada.headers)).body;
    const headers = await signIn(service, { key: key.secret });
    const stored = () =>
      Promise.all([
        service.database.db.selectFrom('keys').select(['id', 'version']).orderBy('id').execute(),
        service.database.db.selectFrom('sessions').select('id').orderBy('id').execute(),
      ]);
    const before = await stored();
    for (const [method, path, sent] of [
      ['POST', '/v1/me/keys', body],
      ['GET', '/v1/me/keys'],
      ['DELETE', `/v1/me/keys/${other.id}`],
      ['PUT', '/v1/me/password', { password: 'nine sparrows on a warm roof' }],
      ['DELETE', `/v1/sessions/${ada.id}`],
    ] as const) {
      const response = await service.call(method, path, undefined, sent, headers);
      // The same as with the key in the header.
      const byKey = await service.call(method, path, key.secret, sent);
      assert.deepEqual([byKey.status, byKey.body.code], [response.status, response.body.code], path);
      assert.ok(response.status === 403 || response.status === 404, `${path}: ${response.text}`);
    }
    assert.deepEqual(await stored(), before);
  });

  test('a request whose body comes after the end of its access changes nothing', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const scopes = ['personnel.manage', 'projects.manage'];
    const project = await service.make('/v1/projects', all, { key: 'APOLLO', name: 'Apollo' });
    const rows = () =>
      Promise.all(
        (['people', 'passwords', 'keys', 'projects'] as const).map((table) =>
          service.database.db
            .selectFrom(table)
            .selectAll()
            .execute()
            .then(({ length }) => length),
        ),
      );
    const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
    const makeKey = (more: object = {}) => service.make('/v1/keys', all, { name: 'x', scopes, ...more });
    const [revoked, rotated, narrowed, limited] = [
      await makeKey(),
      await makeKey(),
      await makeKey(),
      await makeKey(),
    ];
    const ended = await service.member(['personnel.manage']);
    await service.database.write((db) =>
      db.updateTable('sessions').set({ way: 'invitation' }).where('id', '=', ended.id).execute(),
    );
    const person = ['POST', '/v1/personnel', { name: 'Late' }] as const;
    const password = ['PUT', '/v1/me/password', { password: 'nine sparrows on a warm roof' }] as const;
    const before = await rows();
    for (const [request, headers, meanwhile, expected] of [
      [person, bearer(revoked.secret), () => service.delete(`/v1/keys/${revoked.id}`, all), 401],
      [person, bearer(rotated.secret), () => service.post(`/v1/keys/${rotated.id}/rotate`, all, {}), 401],
      [
        person,
        bearer(narrowed.secret),
        () => service.patch(`/v1/keys/${narrowed.id}`, all, { scopes: ['personnel.read'] }),
        403,
      ],
      [
        ['POST', '/v1/projects', { key: 'LATE', name: 'Late' }],
        bearer(limited.secret),
        () => service.patch(`/v1/keys/${limited.id}`, all, { project_ids: [project.id] }),
        503,
      ],
      [password, ended.headers, () => service.delete(`/v1/sessions/${ended.id}`, all), 401],
    ] as const) {
      const response = await sendLate(service, request, headers, meanwhile);
      assert.equal(response.status, expected, JSON.stringify(response.body));
    }
    assert.deepEqual(await rows(), before);

    // What changes for others keeps nobody from writing.
    const bystander = await makeKey();
    const written = await sendLate(service, person, bearer(bystander.secret), async () => {
      await makeKey();
    });
    assert.equal(written.status, 201);
    assert.deepEqual(pluck(await service.list('/v1/personnel?q=Late', all), 'name'), ['Late']);
  });

  test('a link to choose a new way in ends all others, and personal keys if the person says so', async (t) => {
    const service = await start(t);
    const admin = await service.key();
    const authenticator = createAuthenticator(service.origin);
    const ada = await service.member(['projects.read']);
    const addPasskey = async () => {
      const { body } = await service.post('/v1/me/passkeys/challenge', undefined, undefined, ada.headers);
      const { passkey, response } = authenticator.create(body);
      await service.post('/v1/me/passkeys', undefined, { passkey: response }, ada.headers);
      return passkey;
    };
    const strange = await addPasskey();
    await service.database.write((db) =>
      db
        .insertInto('identities')
        .values({
          issuer: 'https://id.example',
          subject: 'x',
          user_id: ada.user_id,
          created_at: '2026-11-19',
        })
        .execute(),
    );
    const key = await service.post('/v1/me/keys', undefined, { name: 'mine' }, ada.headers);
    const byKey = await signIn(service, { key: key.body.secret });
    const newToken = async () => {
      const { body } = await service.post(`/v1/personnel/${ada.user_id}/invitation`, admin, undefined);
      return body.url.split('#')[1];
    };
    const accept = (body: object) => service.post('/v1/invitations/accept', undefined, body, sameOrigin);
    const left = async () => {
      const { body } = await service.get(`/v1/personnel/${ada.user_id}/access`, admin);
      const keys = await service.list('/v1/keys?status=valid', admin);
      const sessions = await service.list(`/v1/sessions?user_id=${ada.user_id}`, admin);
      const own = keys.filter(({ user_id }: { user_id: string }) => user_id === ada.user_id);
      return { ways: body.ways, sessions: pluck(sessions, 'way'), keys: own.length };
    };

    let token = await newToken();
    const preview = await service.post('/v1/invitations/check', undefined, { token }, sameOrigin);
    assert.equal(preview.body.personal_keys, 1);
    const chosen = await accept({ token, password: 'nine sparrows on a warm roof' });
    assert.equal(chosen.status, 204, chosen.text);
    assert.deepEqual(await left(), { ways: ['password'], sessions: ['invitation'], keys: 1 });
    assert.deepEqual([await statusOf(service, ada.headers), await statusOf(service, byKey)], [401, 401]);
    const { body: options } = await service.post('/v1/session/passkey', undefined, undefined, sameOrigin);
    const signed = authenticator.sign(strange, options);
    assert.equal((await service.post('/v1/session', undefined, { passkey: signed }, sameOrigin)).status, 401);

    token = await newToken();
    const creation = await service.post('/v1/invitations/passkey', undefined, { token }, sameOrigin);
    assert.deepEqual(creation.body.excludeCredentials, []);
    const { response } = authenticator.create(creation.body);
    assert.equal((await accept({ token, passkey: response, revoke_keys: true })).status, 204);
    assert.deepEqual(await left(), { ways: ['passkey'], sessions: ['invitation'], keys: 0 });
    assert.equal((await service.get('/v1/me', key.body.secret)).status, 401);
  });

  test('a person removes the password, and its sessions end, unless nothing else lets them in', async (t) => {
    const service = await start(t);
    const admin = await service.key();
    const authenticator = createAuthenticator(service.origin);
    const ada = await service.member(['projects.read']);
    const other = await service.signIn(ada.user_id);
    const remove = (headers = ada.headers) => service.delete('/v1/me/password', undefined, headers);
    assert.equal((await remove()).status, 404);
    await service.database.write((db) =>
      db
        .insertInto('passwords')
        .values({ user_id: ada.user_id, hash: 'x', set_at: '2026-11-19T10:00:00.000Z' })
        .execute(),
    );
    const only = await remove();
    assert.deepEqual([only.status, only.body.code], [409, 'in_use']);
    const { body } = await service.post('/v1/me/passkeys/challenge', undefined, undefined, ada.headers);
    const passkey = authenticator.create(body).response;
    const added = await service.post('/v1/me/passkeys', undefined, { passkey }, ada.headers);
    assert.equal((await remove()).status, 204);
    assert.deepEqual(await service.database.db.selectFrom('passwords').selectAll().execute(), []);
    assert.deepEqual(
      [await statusOf(service, ada.headers), await statusOf(service, other.headers)],
      [200, 401],
    );
    const events = await service.list('/v1/events?types=access.password_removed', admin);
    assert.deepEqual(pluck(events, 'actor.user_id', 'data.ways'), [[ada.user_id, ['passkey']]]);

    // Sessions that began with a passkey end with it.
    await service.database.write((db) =>
      db.updateTable('sessions').set({ way: 'passkey' }).where('id', '=', ada.id).execute(),
    );
    const second = await service.signIn(ada.user_id);
    const removed = await service.delete(`/v1/me/passkeys/${added.body.id}`, undefined, second.headers);
    assert.equal(removed.status, 204);
    assert.deepEqual(
      [await statusOf(service, ada.headers), await statusOf(service, second.headers)],
      [401, 200],
    );
  });
});

onBothEngines('what one gives', (start) => {
  test('lasts no longer than the key that gives it', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const scopes = ['personnel.manage', 'projects.manage', 'keys.manage'];
    const { secret } = await service.make('/v1/keys', all, { name: 'an hour', scopes, expires_at });
    const lasting = await service.make('/v1/keys', all, { name: 'weak', scopes: ['projects.read'] });
    const ada = await service.member(['projects.read']);
    const bob = await service.make('/v1/personnel', all, { name: 'Bob', email: 'bob@example.com' });
    const stored = async () => {
      const { db } = service.database;
      const [links, access, keys] = await Promise.all([
        db.selectFrom('links').selectAll().execute(),
        db.selectFrom('access').selectAll().orderBy('id').execute(),
        db.selectFrom('keys').select(['id', 'scopes', 'hash']).orderBy('id').execute(),
      ]);
      return { links, access, keys };
    };
    const before = await stored();
    for (const [method, path, body] of [
      ['POST', `/v1/personnel/${ada.user_id}/invitation`],
      ['PUT', `/v1/personnel/${bob.user_id}/access`, { scopes: ['projects.read'] }],
      ['PUT', `/v1/personnel/${ada.user_id}/access`, { scopes: ['projects.manage'] }],
      ['PATCH', `/v1/personnel/${ada.user_id}`, { email: 'eve@example.com' }],
      ['PATCH', `/v1/keys/${lasting.id}`, { scopes }],
    ] as const) {
      const response = await service.call(method, path, secret, body);
      assert.deepEqual([response.status, response.body.errors?.[0].code], [422, 'outlives'], path);
    }
    assert.deepEqual(await stored(), before);
    // Less access is possible.
    const path = `/v1/personnel/${ada.user_id}/access`;
    const narrowed = await service.call('PUT', path, secret, { scopes: ['personnel.read'] });
    assert.equal(narrowed.status, 422);
    assert.equal((await service.delete(path, secret)).status, 204);
  });

  test('lasts no longer than the former secret of a key that was rotated', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const scopes = ['personnel.manage', 'projects.manage', 'keys.manage'];
    const { id, secret } = await service.make('/v1/keys', all, { name: 'office', scopes });
    const ada = await service.member(['projects.read']);
    await service.post(`/v1/keys/${id}/rotate`, all, { overlap_seconds: 3600 });
    const cookie = await signIn(service, { key: secret });
    const stored = () =>
      Promise.all([
        service.database.db.selectFrom('links').selectAll().execute(),
        service.database.db.selectFrom('access').selectAll().execute(),
        service.database.db.selectFrom('people').select(['user_id', 'email']).execute(),
        service.database.db.selectFrom('keys').select(['id', 'hash']).orderBy('id').execute(),
      ]);
    const before = await stored();
    const bearer: Record<string, string> = { authorization: `Bearer ${secret}` };
    for (const headers of [bearer, cookie])
      for (const [method, path, body] of [
        ['POST', `/v1/keys/${id}/rotate`, {}],
        ['POST', '/v1/keys', { name: 'lasting', scopes }],
        ['POST', `/v1/personnel/${ada.user_id}/invitation`],
        ['PUT', `/v1/personnel/${ada.user_id}/access`, { scopes: ['projects.manage'] }],
        ['PATCH', `/v1/personnel/${ada.user_id}`, { email: 'eve@example.com' }],
      ] as const) {
        const response = await service.call(method, path, undefined, body, headers);
        assert.deepEqual([response.status, response.body.errors?.[0].code], [422, 'outlives'], path);
      }
    assert.deepEqual(await stored(), before);
    const expires_at = new Date(Date.now() + 1_800_000).toISOString();
    await service.make('/v1/keys', secret, { name: 'short', scopes, expires_at });
  });

  test('a later last day brings nobody back who has more access than the giver', async (t) => {
    const clock = settableClock('2026-11-19T10:00:00Z');
    const service = await start(t, { clock });
    const staff = await service.key('personnel.manage');
    const ada = await service.member(['keys.manage', 'personnel.manage'], null, { end_on: '2026-11-20' });
    const path = `/v1/personnel/${ada.user_id}`;
    clock.set('2026-11-21T10:00:00Z');
    assert.equal(await statusOf(service, ada.headers), 401);
    for (const end_on of [null, '2026-12-31']) {
      const back = await service.patch(path, staff, { end_on });
      assert.deepEqual([back.status, back.body.code], [403, 'insufficient_scope']);
    }
    const file = `name,email,end_on\nMember,${ada.email},2026-12-31\n`;
    await service.upload('/v1/personnel/import?match=email&on_match=update', staff, file);
    assert.equal((await service.get(path, staff)).body.end_on, '2026-11-20');
    assert.equal(await statusOf(service, ada.headers), 401);
    assert.equal((await service.patch(path, staff, { end_on: '2026-11-19' })).status, 200);
    assert.equal((await service.patch(path, await service.key(), { end_on: null })).status, 200);
  });

  test('personal keys of others can be revoked, but neither widened nor rotated', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const ada = await service.member(['projects.read', 'personnel.read']);
    const body = { name: 'mine', scopes: ['projects.read'], expires_at: '2027-01-01T00:00:00Z' };
    const { id } = (await service.post('/v1/me/keys', undefined, body, ada.headers)).body;
    const stored = () => service.database.db.selectFrom('keys').selectAll().where('id', '=', id).execute();
    const before = await stored();
    for (const [method, path, sent] of [
      ['POST', `/v1/keys/${id}/rotate`, {}],
      ['PATCH', `/v1/keys/${id}`, { scopes: ['projects.read', 'personnel.read'] }],
      ['PATCH', `/v1/keys/${id}`, { expires_at: null }],
    ] as const) {
      const response = await service.call(method, path, all, sent);
      assert.deepEqual([response.status, response.body.code], [403, 'person_required'], response.text);
    }
    assert.deepEqual(await stored(), before);
    const sooner = await service.patch(`/v1/keys/${id}`, all, { expires_at: '2026-12-31T00:00:00Z' });
    assert.equal(sooner.status, 200);
    assert.equal((await service.delete(`/v1/keys/${id}`, all)).status, 204);
  });

  test('a person has at most 20 personal keys that work, also with many requests at once', async (t) => {
    const service = await start(t);
    const ada = await service.member(['projects.read']);
    const create = () => service.post('/v1/me/keys', undefined, { name: 'mine' }, ada.headers);
    for (let i = 0; i < 17; i++) assert.equal((await create()).status, 201);
    const statuses = pluck(await Promise.all(Array.from({ length: 6 }, create)), 'status');
    assert.deepEqual(statuses.sort(), [201, 201, 201, 422, 422, 422]);
    const [first] = (await service.get('/v1/me/keys', undefined, ada.headers)).body.data;
    await service.delete(`/v1/me/keys/${first.id}`, undefined, ada.headers);
    assert.deepEqual([(await create()).status, (await create()).status], [201, 422]);
  });

  test('a person and their personal keys share one rate limit', async (t) => {
    const service = await start(t, { environment: { MUSTER_RATE_LIMIT: '20' } });
    const ada = await service.member(['projects.read']);
    const keys: string[] = [];
    for (let i = 0; i < 3; i++)
      keys.push((await service.post('/v1/me/keys', undefined, { name: 'mine' }, ada.headers)).body.secret);
    const statuses: number[] = [];
    for (let i = 0; i < 24; i++) statuses.push((await service.get('/v1/risks', keys[i % 3])).status);
    assert.equal(statuses.filter((status) => status === 200).length, 17);
    assert.equal(await statusOf(service, ada.headers), 429);
  });

  test('an administrator sees and ends the sessions of a key of a program', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const { id, secret } = await service.make('/v1/keys', all, {
      name: 'office',
      scopes: ['personnel.read'],
    });
    const headers = await signIn(service, { key: secret });
    const ownSession = await signIn(service, { key: all });
    const [session, ...others] = await service.list(`/v1/sessions?key_id=${id}`, all);
    assert.deepEqual(others, []);
    assert.deepEqual([session.key_id, session.user_id, session.way], [id, null, 'key']);
    const other = await service.key('keys.read', 'personnel.manage');
    assert.equal((await service.get(`/v1/sessions?key_id=${id}`, other)).status, 403);
    assert.equal((await service.get(`/v1/sessions?key_id=${id}`, secret)).status, 200);
    assert.equal((await service.delete(`/v1/sessions/${session.id}`, all)).status, 204);
    assert.deepEqual([await statusOf(service, headers), await statusOf(service, ownSession)], [401, 200]);
  });
});

test('a key that is revoked while its write waits changes nothing, on postgres', async (t) => {
  const service = await startTestService(t, 'postgres');
  const all = await service.key();
  const scopes = ['keys.manage', 'projects.manage'];
  const path = '/v1/projects/APOLLO';
  await service.make('/v1/projects', all, { key: 'APOLLO', name: 'Apollo' });
  const { db, write } = service.database;
  const rows = () =>
    Promise.all([
      db.selectFrom('keys').select('id').where('revoked_at', 'is', null).execute(),
      db.selectFrom('projects').select(['name', 'version']).execute(),
      db.selectFrom('tasks').select('id').execute(),
    ]);
  const before = await rows();
  /** Runs `meanwhile` when the request waits for the lock that a transaction has taken, before that transaction ends. */
  const sendWaiting = async (
    lock: (db: Transaction<Tables>) => Promise<unknown>,
    send: () => ReturnType<TestService['call']>,
    meanwhile: (db: Transaction<Tables>) => Promise<unknown>,
  ) =>
    write(async (transaction) => {
      await lock(transaction);
      let isOver = false;
      const response = send().finally(() => {
        isOver = true;
      });
      const waiting = sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      while ((await waiting.execute(db)).rows.length === 0) assert.ok(!isOver, 'It did not wait.');
      await meanwhile(transaction);
      return { response };
    }).then(({ response }) => response);

  const lockProject = (db: Transaction<Tables>) => sql`select 1 from projects for no key update`.execute(db);
  const lockKeys = async (db: Transaction<Tables>) => {
    await lockTables(db, 'access', 'keys');
    await sql`select 1`.execute(db);
  };
  for (const [lock, method, url, body] of [
    [lockProject, 'PATCH', path, { name: 'Gemini' }],
    [lockProject, 'POST', `${path}/tasks/import?atomic=true`, 'title\nLate\n'],
    [lockKeys, 'POST', '/v1/keys', { name: 'late', scopes: ['projects.manage'] }],
  ] as const) {
    const { id, secret } = await service.make('/v1/keys', all, { name: 'x', scopes });
    const type = { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json' };
    const response = await sendWaiting(
      lock,
      () => service.call(method, url, secret, body, type),
      async (db) =>
        lock === lockKeys ? revokeKey(db, id, systemClock()) : service.delete(`/v1/keys/${id}`, all),
    );
    assert.equal(response.status, 401, `${url}: ${response.text}`);
  }
  assert.deepEqual(await rows(), before);

  // What changes for others keeps nobody from writing.
  const { id } = await service.make('/v1/keys', all, { name: 'other', scopes });
  const written = await sendWaiting(
    lockProject,
    () => service.patch(path, all, { name: 'Gemini' }),
    () => service.delete(`/v1/keys/${id}`, all),
  );
  assert.deepEqual([written.status, written.body.version], [200, 2]);
});
