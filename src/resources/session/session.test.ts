import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onSqlite, withKey } from '../../../test/service.ts';
import { momentOf, systemClock } from '../../core/clock.ts';
import { newSecret } from '../../store/keys/secret.ts';
import { createKey, revokeKey } from '../keys/queries.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

onSqlite('a session', (start) => {
  test('authenticates same-origin requests with the key in the cookie', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const signedIn = await service.post('/v1/session', undefined, { key });
    assert.equal(signedIn.status, 204);
    const set = signedIn.headers.get('set-cookie') ?? '';
    assert.equal(set, `muster_session=${key}; Path=/; HttpOnly; SameSite=Strict`);
    assert.equal(signedIn.headers.get('cache-control'), 'no-store');

    const cookie = `theme=dark; muster_session=${key}`;
    const me = await service.get('/v1/me', undefined, { cookie });
    assert.deepEqual(me.body.scopes, ['personnel.manage']);
    assert.match(me.headers.get('vary') ?? '', /cookie/);
    const created = await service.post(
      '/v1/personnel',
      undefined,
      { name: 'Ada' },
      { cookie, ...sameOrigin },
    );
    assert.equal(created.status, 201);
    assert.equal((await service.get('/v1/risks', undefined, { cookie })).status, 403);
  });

  test('rejects writes that another site sends through the browser', async (t) => {
    const service = await start(t);
    const cookie = `muster_session=${await service.key()}`;
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

  test('starts only with a valid key and only from the same origin', async (t) => {
    const { service, key } = await withKey(start(t));
    const revoked = await service.database.write((db) =>
      createKey(db, { name: 'x', scopes: ['personnel.read'] }, systemClock()),
    );
    await service.database.write((db) => revokeKey(db, revoked.id, systemClock()));
    for (const bad of ['nonsense', newSecret(), revoked.secret, `${key}; Domain=evil.example`]) {
      const response = await service.post('/v1/session', undefined, { key: bad });
      assert.equal(response.status, 401, bad);
      assert.equal(response.headers.get('set-cookie'), null);
    }
    assert.equal((await service.post('/v1/session', undefined, {})).status, 422);
    const crossSite = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    assert.equal((await service.post('/v1/session', undefined, { key }, crossSite)).status, 403);
  });

  test('ends when the key expires, and on sign-out', async (t) => {
    const clock = settableClock('2026-11-15T10:00:00Z');
    const service = await start(t, { clock });
    const expires_at = momentOf(new Date('2026-11-15T11:00:00Z')).now;
    const { secret } = await service.database.write((db) =>
      createKey(db, { name: 'x', scopes: ['personnel.read'], expires_at }, clock()),
    );
    const { headers } = await service.post('/v1/session', undefined, { key: secret });
    assert.match(headers.get('set-cookie') ?? '', /; Expires=Sun, 15 Nov 2026 11:00:00 GMT$/);
    const cookie = `muster_session=${secret}`;
    assert.equal((await service.get('/v1/personnel', undefined, { cookie })).status, 200);
    clock.set('2026-11-15T11:00:01Z');
    const late = await service.get('/v1/personnel', undefined, { cookie });
    assert.equal(late.status, 401);
    assert.match(late.body.detail, /has expired/);

    const out = await service.call('DELETE', '/v1/session');
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie') ?? '', /^muster_session=; .*Max-Age=0$/);
  });

  test('limits the cookie to the path of the service, and to HTTPS if the base URL uses it', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_BASE_URL: 'https://ops.example.com/api' } }),
    );
    const { headers } = await service.post('/v1/session', undefined, { key });
    assert.equal(
      headers.get('set-cookie'),
      `muster_session=${key}; Path=/api; HttpOnly; SameSite=Strict; Secure`,
    );
    const cookie = `muster_session=${key}`;
    const created = await service.post(
      '/v1/personnel',
      undefined,
      { name: 'Ada' },
      { cookie, origin: 'https://ops.example.com' },
    );
    assert.equal(created.status, 201);
  });
});
