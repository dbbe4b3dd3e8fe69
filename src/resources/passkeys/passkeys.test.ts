import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthenticator } from '../../../test/authenticator.ts';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, onSqlite, pluck, type TestService } from '../../../test/service.ts';
import { presets } from '../../core/scopes.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

const challengeOf = async (service: TestService, headers: Record<string, string>) =>
  (await service.post('/v1/me/passkeys/challenge', undefined, undefined, headers)).body;

const signIn = (service: TestService, passkey: object) =>
  service.post('/v1/session', undefined, { passkey }, sameOrigin);

const signInOptions = async (service: TestService) =>
  (await service.post('/v1/session/passkey', undefined, undefined, sameOrigin)).body;

const withCookie = ({ headers }: { headers: Headers }) => ({
  cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '',
  ...sameOrigin,
});

onBothEngines('a passkey', (start) => {
  test('is added by a person who has signed in, and then signs in by itself', async (t) => {
    const service = await start(t);
    const authenticator = createAuthenticator(service.origin);
    const ada = await service.member([...presets.editor]);
    const options = await challengeOf(service, ada.headers);
    assert.deepEqual([options.rp.id, options.user.name], ['localhost', ada.email]);
    const { passkey, response } = authenticator.create(options);
    const added = await service.post('/v1/me/passkeys', undefined, { passkey: response }, ada.headers);
    assert.equal(added.status, 201, added.text);
    const signedIn = await signIn(service, authenticator.sign(passkey, await signInOptions(service)));
    assert.equal(signedIn.status, 204, signedIn.text);
    const me = await service.get('/v1/me', undefined, withCookie(signedIn));
    assert.deepEqual([me.body.user_id, me.body.session.way], [ada.user_id, 'passkey']);
    const listed = (await service.get('/v1/me/passkeys', undefined, ada.headers)).body.data;
    assert.deepEqual(pluck(listed, 'id'), [added.body.id]);
    assert.notEqual(listed[0].last_used_at, null);
    const excluded = await challengeOf(service, ada.headers);
    assert.deepEqual(pluck(excluded.excludeCredentials, 'id'), [response.id]);

    const path = `/v1/me/passkeys/${added.body.id}`;
    const bob = await service.member([...presets.editor]);
    assert.equal((await service.delete(path, undefined, bob.headers)).status, 404);
    assert.equal((await service.delete(path, undefined, ada.headers)).status, 204);
    const removed = await signIn(service, authenticator.sign(passkey, await signInOptions(service)));
    assert.equal(removed.status, 401);
    const key = await service.key();
    const events = await service.list('/v1/events?types=access.passkey_added,access.passkey_removed', key);
    assert.deepEqual(pluck(events, 'type', 'actor.user_id'), [
      ['access.passkey_added', ada.user_id],
      ['access.passkey_removed', ada.user_id],
    ]);
  });

  test('is chosen instead of a password with an invitation', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const authenticator = createAuthenticator(service.origin);
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada', email: 'ada@example.com' });
    await service.call('PUT', `/v1/personnel/${user_id}/access`, key, { scopes: presets.viewer });
    const { body } = await service.post(`/v1/personnel/${user_id}/invitation`, key, undefined);
    const token = body.url.split('#')[1];
    const options = await service.post('/v1/invitations/passkey', undefined, { token }, sameOrigin);
    const { passkey, response } = authenticator.create(options.body);
    const accepted = await service.post(
      '/v1/invitations/accept',
      undefined,
      { token, passkey: response },
      sameOrigin,
    );
    assert.equal(accepted.status, 204, accepted.text);
    const signedIn = await signIn(service, authenticator.sign(passkey, await signInOptions(service)));
    assert.equal(signedIn.status, 204);
    const access = await service.get(`/v1/personnel/${user_id}/access`, key);
    assert.deepEqual([access.body.ways, access.body.invited_until], [['passkey'], null]);
  });

  test('is rejected if anything about the response is false', async (t) => {
    const clock = settableClock('2026-11-15T10:00:00Z');
    const service = await start(t, { clock });
    const authenticator = createAuthenticator(service.origin);
    const ada = await service.member([...presets.editor]);
    const bob = await service.member([...presets.editor]);
    const add = async (body: object, headers = ada.headers) =>
      (await service.post('/v1/me/passkeys', undefined, body, headers)).status;
    const creating = () => challengeOf(service, ada.headers);
    for (const falsified of [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { isVerified: false },
      { challenge: 'AAAA' },
    ]) {
      const { response } = authenticator.create(await creating(), falsified);
      assert.equal(await add({ passkey: response }), 422, JSON.stringify(falsified));
    }
    // The challenge of another person, one that was used, one that has expired, and one for signing in.
    assert.equal(await add({ passkey: authenticator.create(await creating()).response }, bob.headers), 422);
    const { passkey, response } = authenticator.create(await creating());
    assert.deepEqual([await add({ passkey: response }), await add({ passkey: response })], [201, 422]);
    const late = authenticator.create(await creating()).response;
    clock.set('2026-11-15T10:05:01Z');
    assert.equal(await add({ passkey: late }), 422);
    const { challenge } = await signInOptions(service);
    const crossed = authenticator.create({ ...(await creating()), challenge }).response;
    assert.equal(await add({ passkey: crossed }), 422);

    for (const falsified of [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { isVerified: false },
      { challenge: 'AAAA' },
    ]) {
      const signed = authenticator.sign(passkey, await signInOptions(service), falsified);
      assert.equal((await signIn(service, signed)).status, 401, JSON.stringify(falsified));
    }
    const signed = authenticator.sign(passkey, await signInOptions(service));
    assert.equal((await signIn(service, signed)).status, 204);
    assert.equal((await signIn(service, signed)).status, 401, 'replayed');
    const other = authenticator.create(await challengeOf(service, bob.headers)).passkey;
    const foreign = authenticator.sign({ ...other, id: passkey.id }, await signInOptions(service));
    assert.equal((await signIn(service, foreign)).status, 401, 'signed by another key');
    const cloned = authenticator.sign({ ...passkey, counter: 0 }, await signInOptions(service));
    assert.equal((await signIn(service, cloned)).status, 401, 'a copy whose counter is behind');
    for (const nonsense of [
      { ...signed, response: {} },
      { ...signed, id: 'x', rawId: 'x' },
    ])
      assert.equal((await signIn(service, nonsense)).status, 401);
    const left = await service.database.db.selectFrom('sessions').select('way').execute();
    assert.equal(left.filter(({ way }) => way === 'passkey').length, 1);
  });
});

onSqlite('changing how one signs in', (start) => {
  test('needs a person who signed in within the last 15 minutes', async (t) => {
    const service = await start(t);
    const ada = await service.member([...presets.administrator]);
    await service.database.write((db) =>
      db.updateTable('sessions').set({ way: 'invitation' }).where('id', '=', ada.id).execute(),
    );
    const old = await service.signIn(ada.user_id, { hoursAgo: 1 });
    const key = await service.key();
    const personal = await service.post('/v1/me/keys', undefined, { name: 'mine' }, ada.headers);
    assert.equal(personal.status, 201, personal.text);
    const attempts: [string, string, object?][] = [
      ['DELETE', `/v1/sessions/${old.id}`],
      ['PUT', '/v1/me/password', { password: 'nine sparrows on a warm roof' }],
      ['POST', '/v1/me/passkeys/challenge'],
      ['POST', '/v1/me/keys', { name: 'x' }],
      ['DELETE', `/v1/me/keys/${personal.body.id}`],
    ];
    for (const [method, path, body] of attempts) {
      const again = await service.call(method, path, undefined, body, old.headers);
      assert.deepEqual([again.status, again.body.code], [403, 'sign_in_again'], path);
      if (path.startsWith('/v1/sessions')) continue;
      for (const secret of [key, personal.body.secret]) {
        const byKey = await service.call(method, path, secret, body);
        assert.deepEqual([byKey.status, byKey.body.code], [403, 'person_required'], path);
      }
    }
    for (const [method, path, body] of attempts) {
      const recent = await service.call(method, path, undefined, body, ada.headers);
      assert.ok(recent.status < 300, `${path}: ${recent.text}`);
    }
  });

  test('passkeys need a host name and https, or this machine', async (t) => {
    for (const [MUSTER_BASE_URL, isPossible] of [
      ['https://ops.example.com', true],
      ['http://localhost:8080', true],
      ['http://ops.example.com', false],
      ['https://192.0.2.7', false],
      ['http://127.0.0.1:8080', false],
    ] as const) {
      const service = await start(t, { environment: { MUSTER_BASE_URL } });
      assert.equal((await service.get('/v1/session/ways')).body.passkey, isPossible, MUSTER_BASE_URL);
      const options = await service.post('/v1/session/passkey', undefined, undefined, sameOrigin);
      assert.equal(options.status, isPossible ? 200 : 422);
    }
  });
});
