import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, onSqlite, type TestService } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { findKey } from '../../store/access/actors.ts';
import { createLink } from '../../store/access/links.ts';
import { newSecret } from '../../store/access/secret.ts';
import { createKey } from '../keys/queries.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

const signIn = (service: TestService, body: object, headers: Record<string, string> = sameOrigin) =>
  service.post('/v1/session', undefined, body, headers);

/** The cookie that a response sets, as the browser sends it back. */
const cookieOf = ({ headers }: { headers: Headers }) => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';

onBothEngines('a session', (start) => {
  test('that a key has started has the access of the key, and ends with it', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const created = await service.make('/v1/keys', all, { name: 'office', scopes: ['personnel.manage'] });
    const signedIn = await signIn(service, { key: created.secret });
    assert.equal(signedIn.status, 204);
    assert.match(
      signedIn.headers.get('set-cookie') ?? '',
      /^muster_session=mss_\w{38}; Path=\/; HttpOnly; SameSite=Strict; Expires=/,
    );
    assert.equal(signedIn.headers.get('cache-control'), 'no-store');

    const cookie = `theme=dark; ${cookieOf(signedIn)}`;
    const me = await service.get('/v1/me', undefined, { cookie });
    assert.deepEqual([me.body.type, me.body.key_id, me.body.user_id], ['key', created.id, null]);
    assert.deepEqual([me.body.scopes, me.body.session.way], [['personnel.manage'], 'key']);
    assert.match(me.headers.get('vary') ?? '', /cookie/);
    const added = await service.post('/v1/personnel', undefined, { name: 'Ada' }, { cookie, ...sameOrigin });
    assert.equal(added.status, 201);
    const history = await service.list(`/v1/personnel/${added.body.user_id}/history`, all);
    assert.deepEqual(history[0].actor, {
      type: 'key',
      user_id: null,
      key_id: created.id,
      name: 'office',
    });
    assert.equal((await service.get('/v1/risks', undefined, { cookie })).status, 403);
    assert.equal((await service.get('/v1/me/passkeys', undefined, { cookie })).body.code, 'person_required');

    assert.equal((await service.delete(`/v1/keys/${created.id}`, all)).status, 204);
    assert.equal((await service.get('/v1/me', undefined, { cookie })).status, 401);
    const left = await service.database.db.selectFrom('sessions').selectAll().execute();
    assert.deepEqual(left, []);
  });

  test('is the one that a write names, or nothing is written', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const [ada, ben] = [await service.member(['personnel.manage']), await service.member(['projects.read'])];
    const idOf = async (headers: Record<string, string>) =>
      (await service.get('/v1/me', undefined, headers)).body.session.id;
    const named = { 'muster-session': await idOf(ada.headers) };
    const add = (name: string, auth: Record<string, string>, by?: string) =>
      service.post('/v1/personnel', by, { name }, { ...auth, ...named });
    // Ben may not add anybody; what he is told is that the page is not his.
    for (const refused of [
      await add('By Ben', ben.headers),
      await add('By a key', {}, key),
      await service.delete('/v1/session', undefined, { ...ben.headers, ...named }),
    ])
      assert.deepEqual([refused.status, refused.body.code], [409, 'session_changed']);
    assert.equal((await add('By Ada', ada.headers)).status, 201);
    const names = (await service.list('/v1/personnel?q=by', key)).map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['By Ada']);
    // Reading needs no name, and Ben is still signed in.
    assert.equal((await service.get('/v1/me', undefined, { ...ben.headers, ...named })).status, 200);
  });

  test('ends when the browser signs out, also for a copy of its cookie', async (t) => {
    const service = await start(t);
    const cookie = cookieOf(await signIn(service, { key: await service.key() }));
    assert.equal((await service.get('/v1/me', undefined, { cookie })).status, 200);
    const out = await service.delete('/v1/session', undefined, { cookie, ...sameOrigin });
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie') ?? '', /^muster_session=; .*Max-Age=0$/);
    const after = await service.get('/v1/me', undefined, { cookie });
    assert.deepEqual([after.status, after.body.detail], [401, 'You are signed out. Sign in again.']);
  });

  test('is replaced by a new one when the browser signs in again', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const first = cookieOf(await signIn(service, { key }));
    const second = cookieOf(await signIn(service, { key }, { cookie: first, ...sameOrigin }));
    assert.notEqual(first, second);
    assert.equal((await service.get('/v1/me', undefined, { cookie: first })).status, 401);
    assert.equal((await service.get('/v1/me', undefined, { cookie: second })).status, 200);
    // Nobody can choose the token of a session.
    const chosen = `muster_session=${newSecret('session')}`;
    const third = cookieOf(await signIn(service, { key }, { cookie: chosen, ...sameOrigin }));
    assert.notEqual(third, chosen);
    assert.equal((await service.get('/v1/me', undefined, { cookie: chosen })).status, 401);
  });

  test('ends after days without a request, after its longest time, and with the key', async (t) => {
    const clock = settableClock('2026-11-01T10:00:00Z');
    const service = await start(t, { clock });
    const key = await service.key();
    const idle = cookieOf(await signIn(service, { key }));
    const used = cookieOf(await signIn(service, { key }));
    const expires_at = momentOf(new Date('2026-11-20T11:00:00Z')).now;
    const { secret } = await service.database.write((db) =>
      createKey(db, { name: 'x', scopes: ['personnel.read'], expires_at }, clock()),
    );
    const short = await signIn(service, { key: secret });
    assert.match(short.headers.get('set-cookie') ?? '', /; Expires=Fri, 20 Nov 2026 11:00:00 GMT$/);
    const status = async (cookie: string) => (await service.get('/v1/me', undefined, { cookie })).status;
    for (let day = 2; day <= 30; day += 5) {
      clock.set(`2026-11-${String(day).padStart(2, '0')}T12:00:00Z`);
      assert.equal(await status(used), 200, `day ${day}`);
      await service.app.usage.flush();
    }
    assert.equal(await status(idle), 401);
    assert.equal(await status(cookieOf(short)), 401);
    clock.set('2026-12-01T10:00:01Z');
    assert.equal(await status(used), 401);
  });

  test('ends after a day if the access follows from a claim, however the person signed in', async (t) => {
    const clock = settableClock('2026-11-01T10:00:00Z');
    const service = await start(t, { clock });
    const ada = await service.member(['projects.read']);
    const { token } = await service.database.write(async (db) => {
      await db.updateTable('access').set({ source: 'oidc' }).execute();
      const link = { purpose: 'sign_in', user_id: ada.user_id, key_id: null } as const;
      return createLink(db, link, { now: clock().now, hours: 1 });
    });
    const signedIn = await signIn(service, { link: token });
    const [cookie = ''] = signedIn.headers.getSetCookie();
    assert.match(cookie, /; Expires=Mon, 02 Nov 2026 10:00:00 GMT$/);
    assert.equal((await signIn(service, { link: token })).status, 401, 'the link works once');
  });

  test('does not start if access ended after the key was checked', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const created = await service.make('/v1/keys', all, { name: 'office', scopes: ['personnel.read'] });
    const checked = await findKey(service.database.db, created.id);
    await service.delete(`/v1/keys/${created.id}`, all);
    t.mock.method(service.app, 'authenticate', async () => checked);
    const late = await signIn(service, { key: created.secret });
    assert.deepEqual([late.status, late.headers.get('set-cookie')], [401, null]);
    assert.deepEqual(await service.database.db.selectFrom('sessions').selectAll().execute(), []);
  });

  test('is read again before it is rejected as idle, because another instance may have seen it', async (t) => {
    const clock = settableClock('2026-11-01T10:00:00Z');
    const service = await start(t, { clock });
    const cookie = cookieOf(await signIn(service, { key: await service.key() }));
    const status = async () => (await service.get('/v1/me', undefined, { cookie })).status;
    assert.equal(await status(), 200);
    clock.set('2026-11-09T10:00:00Z');
    const last_seen_at = '2026-11-09T09:00:00.000Z';
    await service.database.write((db) => db.updateTable('sessions').set({ last_seen_at }).execute());
    assert.equal(await status(), 200);
    clock.set('2026-11-16T10:00:01Z');
    assert.equal(await status(), 401);
  });
});

onSqlite('the cookie of a session', (start) => {
  test('is the only place for a token, and no place for a key', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const cookie = cookieOf(await signIn(service, { key }));
    const token = cookie.split('=')[1] ?? '';
    assert.equal((await service.get('/v1/me', token)).status, 401);
    // Also after the token is in the cache.
    for (let i = 0; i < 3; i++)
      assert.equal((await service.get('/v1/me', undefined, { cookie })).status, 200);
    assert.equal((await service.get('/v1/me', token)).status, 401);
    const keyInCookie = { cookie: `muster_session=${key}` };
    assert.equal((await service.get('/v1/me', undefined, keyInCookie)).status, 401);
    assert.equal((await signIn(service, { key: token })).status, 401);
  });

  test('rejects writes that another site sends through the browser', async (t) => {
    const service = await start(t);
    const cookie = cookieOf(await signIn(service, { key: await service.key() }));
    const { host } = new URL(service.origin);
    const post = async (headers: Record<string, string>) => {
      const { status, body } = await service.post(
        '/v1/personnel',
        undefined,
        { name: 'Eve' },
        { cookie, ...headers },
      );
      return status === 403 ? body.code : status;
    };
    assert.equal(await post({}), 'cross_origin');
    assert.equal(await post({ 'sec-fetch-site': 'cross-site' }), 'cross_origin');
    assert.equal(await post({ 'sec-fetch-site': 'same-site', origin: service.origin }), 'cross_origin');
    assert.equal(await post({ 'sec-fetch-site': 'none' }), 'cross_origin');
    assert.equal(await post({ origin: 'https://evil.example' }), 'cross_origin');
    assert.equal(await post({ origin: 'null' }), 'cross_origin');
    assert.equal(await post({ origin: `http://${host}.evil.example` }), 'cross_origin');
    assert.equal((await service.patch('/v1/projects/X', undefined, {}, { cookie })).status, 403);
    assert.equal((await service.delete('/v1/projects/X', undefined, { cookie })).status, 403);
    assert.equal(await post({ origin: service.origin }), 201);
    assert.equal(await post({ authorization: `Bearer ${await service.key()}` }), 201);
  });

  test('is neither set nor deleted for another site', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const cookie = cookieOf(await signIn(service, { key }));
    for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const refused = await signIn(service, { key }, headers as Record<string, string>);
      assert.deepEqual([refused.status, refused.headers.get('set-cookie')], [403, null]);
      const out = await service.delete('/v1/session', undefined, { cookie, ...headers });
      assert.deepEqual([out.status, out.headers.get('set-cookie')], [403, null]);
    }
    assert.equal((await service.get('/v1/me', undefined, { cookie })).status, 200);
  });

  test('is set only for a valid key', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const revoked = await service.make('/v1/keys', key, { name: 'x', scopes: ['personnel.read'] });
    await service.delete(`/v1/keys/${revoked.id}`, key);
    for (const bad of ['nonsense', newSecret(), revoked.secret, `${key}; Domain=evil.example`]) {
      const response = await signIn(service, { key: bad });
      assert.deepEqual([response.status, response.headers.get('set-cookie')], [401, null], bad);
    }
    for (const body of [{}, { email: 'a@b.c' }, { password: 'x' }, { key, link: 'x' }])
      assert.equal((await signIn(service, body)).status, 422, JSON.stringify(body));
  });

  test('has the strictest prefix that the address of the service allows', async (t) => {
    for (const [MUSTER_BASE_URL, expected] of [
      [
        'https://ops.example.com',
        /^__Host-muster_session=mss_\w+; Path=\/; HttpOnly; SameSite=Strict; Secure; /,
      ],
      [
        'https://ops.example.com/api',
        /^__Secure-muster_session=mss_\w+; Path=\/api; HttpOnly; SameSite=Strict; Secure; /,
      ],
    ] as const) {
      const service = await start(t, { environment: { MUSTER_BASE_URL } });
      const signedIn = await signIn(service, { key: await service.key() });
      assert.match(signedIn.headers.get('set-cookie') ?? '', expected);
      const cookie = cookieOf(signedIn);
      const origin = 'https://ops.example.com';
      const created = await service.post('/v1/personnel', undefined, { name: 'Ada' }, { cookie, origin });
      assert.equal(created.status, 201);
      const unprefixed = cookie.replace(/^__\w+-/, '');
      assert.equal((await service.get('/v1/me', undefined, { cookie: unprefixed })).status, 401);
    }
  });
});
