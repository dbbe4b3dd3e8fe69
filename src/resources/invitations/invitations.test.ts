import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService } from '../../../test/service.ts';
import { presets } from '../../core/scopes.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };
const password = 'nine sparrows on a warm roof';

const send = (
  service: TestService,
  path: string,
  body: object,
  headers: Record<string, string> = sameOrigin,
) => service.post(path, undefined, body, headers);

const cookieOf = ({ headers }: { headers: Headers }) => ({
  cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '',
  ...sameOrigin,
});

/** A person with access and an invitation. */
async function invite(service: TestService, key: string, more: object = {}) {
  const input = { name: 'Ada Lovelace', email: 'ada@example.com', ...more };
  const { user_id } = await service.make('/v1/personnel', key, input);
  await service.call('PUT', `/v1/personnel/${user_id}/access`, key, { scopes: presets.editor });
  return { user_id, token: await newToken(service, key, user_id) };
}

async function newToken(service: TestService, key: string, user_id: string): Promise<string> {
  const { status, body, text } = await service.post(`/v1/personnel/${user_id}/invitation`, key, undefined);
  assert.equal(status, 200, text);
  return body.url.split('#')[1];
}

onBothEngines('an invitation', (start) => {
  test('lets a person choose a password, once, and sign in with it from then on', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { user_id, token } = await invite(service, key);
    assert.match(token, /^msl_\w{38}$/);
    const preview = await send(service, '/v1/invitations/check', { token });
    assert.deepEqual([preview.body.name, preview.body.email], ['Ada Lovelace', 'ada@example.com']);
    // Reading it does not use it up; a password that is refused does not either.
    for (const bad of ['short', 'passwordpassword1', 'ada lovelace ada lovelace', '123456789012345678']) {
      const refused = await send(service, '/v1/invitations/accept', { token, password: bad });
      assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, '#/password'], bad);
    }
    const accepted = await send(service, '/v1/invitations/accept', { token, password });
    assert.equal(accepted.status, 204, accepted.text);
    const me = await service.get('/v1/me', undefined, cookieOf(accepted));
    assert.deepEqual([me.body.type, me.body.user_id, me.body.session.way], ['person', user_id, 'invitation']);
    for (const path of ['check', 'accept']) {
      const body = { token, ...(path === 'accept' && { password: 'another sentence to remember' }) };
      const used = await send(service, `/v1/invitations/${path}`, body);
      assert.deepEqual([used.status, used.headers.get('set-cookie')], [401, null]);
    }
    const signedIn = await send(service, '/v1/session', { email: 'ADA@example.com', password });
    assert.equal(signedIn.status, 204);
    const created = await service.post('/v1/projects', undefined, { name: 'Apollo' }, cookieOf(signedIn));
    assert.equal(created.status, 201);
    const history = await service.list('/v1/projects/APOLLO/history', key);
    assert.deepEqual(history[0].actor, { type: 'person', user_id, key_id: null, name: 'Ada Lovelace' });
    const types = ['access.invited', 'access.password_set', 'session.started'];
    const events = await service.list(`/v1/events?types=${types}`, key);
    assert.deepEqual(pluck(events, 'type', 'actor.type', 'data.way'), [
      ['access.invited', 'key', undefined],
      ['access.password_set', 'person', undefined],
      ['session.started', 'person', 'invitation'],
      ['session.started', 'person', 'password'],
    ]);
  });

  test('is used once, even by two requests at the same time', async (t) => {
    const service = await start(t);
    const { token } = await invite(service, await service.key());
    const both = await Promise.all(
      ['nine sparrows on a warm roof', 'seven candles in the harbour'].map((chosen) =>
        send(service, '/v1/invitations/accept', { token, password: chosen }),
      ),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [204, 401]);
    const sessions = await service.database.db.selectFrom('sessions').select('id').execute();
    assert.equal(sessions.length, 1);
  });

  test('expires, is replaced by a new one, and ends with the access', async (t) => {
    const clock = settableClock('2026-11-01T10:00:00Z');
    const service = await start(t, { clock });
    const key = await service.key();
    const { user_id, token } = await invite(service, key);
    const second = await newToken(service, key, user_id);
    const accept = async (one: string) =>
      (await send(service, '/v1/invitations/accept', { token: one, password })).status;
    assert.equal(await accept(token), 401);
    clock.set('2026-11-08T10:00:01Z');
    assert.equal(await accept(second), 401);
    const third = await newToken(service, key, user_id);
    await service.delete(`/v1/personnel/${user_id}/access`, key);
    assert.equal(await accept(third), 401);
    assert.deepEqual(await service.database.db.selectFrom('passwords').selectAll().execute(), []);
  });

  test('ends when the person gets more scopes or projects, and stays when they get fewer', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { user_id } = await invite(service, key);
    const path = `/v1/personnel/${user_id}/access`;
    for (const [access, isValid] of [
      [{ scopes: ['projects.manage', 'personnel.read'], project_ids: ['APOLLO'] }, true],
      [{ scopes: ['projects.manage'], project_ids: ['APOLLO'] }, true],
      [{ scopes: ['projects.manage'] }, false],
      [{ scopes: ['projects.read'] }, true],
      [{ scopes: presets.administrator }, false],
    ] as const) {
      const token = await newToken(service, key, user_id);
      const changed = await service.call('PUT', path, key, access);
      assert.equal(changed.body.invited_until !== null, isValid, JSON.stringify(access));
      const used = await send(service, '/v1/invitations/check', { token });
      assert.equal(used.status, isValid ? 200 : 401, JSON.stringify(access));
    }
    assert.deepEqual(await service.database.db.selectFrom('passwords').selectAll().execute(), []);
  });

  test('resets a password: the old one and the sessions end', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { user_id, token } = await invite(service, key);
    const first = cookieOf(await send(service, '/v1/invitations/accept', { token, password }));
    const reset = await newToken(service, key, user_id);
    assert.equal((await service.get('/v1/me', undefined, first)).status, 200, 'until the link is used');
    const chosen = 'seven candles in the harbour';
    await send(service, '/v1/invitations/accept', { token: reset, password: chosen });
    assert.equal((await service.get('/v1/me', undefined, first)).status, 401);
    const signIn = async (one: string) =>
      (await send(service, '/v1/session', { email: 'ada@example.com', password: one })).status;
    assert.deepEqual([await signIn(password), await signIn(chosen)], [401, 204]);
  });

  test('is not shown again by a repeated request, needs access and an address, and the same origin', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { user_id, token } = await invite(service, key);
    const path = `/v1/personnel/${user_id}/invitation`;
    const once = { 'idempotency-key': 'one' };
    const shown = await service.post(path, key, undefined, once);
    const repeated = await service.post(path, key, undefined, once);
    assert.match(shown.body.url, /\/invitation#msl_/);
    assert.deepEqual([repeated.body.url, repeated.body.expires_at], [null, shown.body.expires_at]);
    const bob = await service.make('/v1/personnel', key, { name: 'Bob' });
    const at = `/v1/personnel/${bob.user_id}`;
    assert.equal((await service.post(`${at}/invitation`, key, undefined)).body.code, 'access_required');
    await service.call('PUT', `${at}/access`, key, { scopes: ['projects.read'] });
    const unreachable = await service.post(`${at}/invitation`, key, undefined);
    assert.deepEqual([unreachable.status, unreachable.body.errors[0].pointer], [422, '#/email']);
    for (const headers of [{}, { origin: 'https://evil.example' }])
      for (const step of ['check', 'accept', 'passkey'])
        assert.equal(
          (await send(service, `/v1/invitations/${step}`, { token }, headers as never)).status,
          403,
        );
    const stored = JSON.stringify(await service.database.db.selectFrom('idempotency').selectAll().execute());
    assert.doesNotMatch(stored, /msl_/);
  });
});

onBothEngines('guessing a password', (start) => {
  test('gets the same response whatever is wrong, slower and slower, but is never locked', async (t) => {
    const clock = settableClock('2026-11-15T10:00:00Z');
    const service = await start(t, { clock });
    const key = await service.key();
    const { token } = await invite(service, key);
    await send(service, '/v1/invitations/accept', { token, password });
    // Has access, but no password.
    await invite(service, key, { name: 'Bob', email: 'bob@example.com' });
    const attempt = async (email: string, guess = 'a wrong guess of a password') => {
      const { status, body, headers } = await send(service, '/v1/session', { email, password: guess });
      return {
        status,
        detail: body?.detail,
        retry: headers.get('retry-after'),
        cookie: headers.get('set-cookie'),
      };
    };
    const accounts = ['ada@example.com', 'bob@example.com', 'nobody@example.com'];
    const responses = [];
    for (const email of accounts) responses.push(await attempt(email));
    assert.deepEqual(responses, Array(3).fill(responses[0]));
    assert.deepEqual([responses[0]?.status, responses[0]?.cookie], [401, null]);
    for (const email of accounts)
      for (let i = 0; i < 4; i++) assert.equal((await attempt(email)).status, 401);
    for (const email of accounts) {
      const delayed = await attempt(email);
      assert.deepEqual([delayed.status, delayed.retry], [429, '1'], email);
    }
    // Also the right password has to wait, and then works.
    assert.equal((await attempt('ada@example.com', password)).status, 429);
    clock.set('2026-11-15T10:00:01.001Z');
    assert.equal((await attempt('bob@example.com')).status, 401);
    assert.equal((await attempt('bob@example.com')).retry, '2');
    assert.equal((await attempt('ada@example.com', password)).status, 204);
    assert.equal((await attempt('ada@example.com')).status, 401, 'the count starts again');
    await service.app.failedSignIns.flush();
    const failed = await service.list('/v1/events?types=session.failed', key);
    assert.deepEqual(pluck(failed, 'data.count'), [1, 1, 5, 10]);
    assert.deepEqual(new Set(pluck(failed, 'actor.type')), new Set(['service']));
    assert.doesNotMatch(JSON.stringify(failed), /nobody@|wrong guess/);
  });

  test('many at once are counted one by one', async (t) => {
    const service = await start(t);
    const attempts = Array.from({ length: 12 }, () =>
      send(service, '/v1/session', { email: 'ada@example.com', password: 'a wrong guess of a password' }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    assert.ok(statuses.filter((status) => status === 401).length <= 6, String(statuses));
    assert.ok(statuses.includes(429));
  });

  test('is limited by network', async (t) => {
    const service = await start(t, { environment: { MUSTER_FAILED_AUTH_LIMIT: '4' } });
    const statuses = [];
    for (let i = 0; i < 6; i++) {
      const body = { email: `person${i}@example.com`, password: 'a wrong guess of a password' };
      statuses.push((await send(service, '/v1/session', body)).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429]);
  });

  test('is impossible where passwords are turned off', async (t) => {
    const service = await start(t);
    const { token } = await invite(service, await service.key());
    await send(service, '/v1/invitations/accept', { token, password });
    const target = { url: service.url, drop: async () => {} };
    const off = await start(t, { target, environment: { MUSTER_PASSWORDS: 'off' } });
    assert.equal((await off.get('/v1/session/ways')).body.password, false);
    const refused = await send(off, '/v1/session', { email: 'ada@example.com', password });
    assert.equal(refused.status, 401);
  });
});
