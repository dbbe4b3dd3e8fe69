import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Browser, clientSecret, settingsFor, startForger, startIssuer } from '../../../../test/issuer.ts';
import { startMuster, temporaryFolder } from '../../../../test/process.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { onBothEngines, onSqlite, type Start, type TestService } from '../../../../test/service.ts';

const problem = (name: string) => `/sign-in?problem=${name}`;

/** A service whose identity provider a test can break, and a person with access. */
async function startBoth(t: TestContext, start: Start, settings: Record<string, string> = {}) {
  const forger = await startForger(t);
  const service = await start(t, { environment: settingsFor(forger, settings) });
  const key = await service.key();
  const person = await addPerson(service, key);
  const signIn = (browser = new Browser()) => browser.signIn(service.origin);
  const statusOf = async (browser: Browser) =>
    (await service.get('/v1/me', undefined, browser.headers(service.origin))).status;
  return { forger, service, key, person, signIn, statusOf, origin: service.origin };
}

async function addPerson(service: TestService, key: string) {
  const person = await service.make('/v1/personnel', key, { name: 'Ada', email: 'ada@example.com' });
  await service.call('PUT', `/v1/personnel/${person.user_id}/access`, key, { scopes: ['personnel.read'] });
  return person;
}

const notify = (origin: string, logout_token: string) =>
  fetch(`${origin}/v1/session/oidc/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token }),
  });

onBothEngines('a sign-out notice', (start) => {
  test('ends the sessions with its `sid`, or all of its `sub`', async (t) => {
    const { forger, signIn, statusOf, origin } = await startBoth(t, start);
    const browsers = { one: new Browser(), two: new Browser(), unknown: new Browser() };
    for (const [sid, browser] of Object.entries(browsers)) {
      forger.payload = { sid: sid === 'unknown' ? undefined : sid };
      assert.equal(await signIn(browser), '/');
    }
    const statuses = async () => [
      await statusOf(browsers.one),
      await statusOf(browsers.two),
      await statusOf(browsers.unknown),
    ];
    const response = await notify(origin, await forger.logoutToken({ sid: 'one' }));
    assert.deepEqual([response.status, response.headers.get('cache-control')], [200, 'no-store']);
    assert.deepEqual(await statuses(), [401, 200, 200]);
    // A session of which the provider did not say which one it is might be the one that ended.
    await notify(origin, await forger.logoutToken({ sid: 'none', sub: 'ada' }));
    assert.deepEqual(await statuses(), [401, 200, 401]);
    await notify(origin, await forger.logoutToken({ sub: 'bob' }));
    assert.deepEqual(await statuses(), [401, 200, 401]);
    await notify(origin, await forger.logoutToken({ sub: 'ada' }));
    assert.deepEqual(await statuses(), [401, 401, 401]);
  });

  test('is refused when it is forged, old or used before', async (t) => {
    const { forger, signIn, statusOf, origin } = await startBoth(t, start);
    const browser = new Browser();
    await signIn(browser);
    const now = Math.floor(Date.now() / 1000);
    const bad: [string, object][] = [
      ['nonce', { nonce: 'x' }],
      ['audience', { aud: 'other' }],
      ['issuer', { iss: 'https://evil.example' }],
      ['expired', { exp: now - 70 }],
      ['no expiry', { exp: undefined }],
      ['old', { iat: now - 1000, exp: now + 1000 }],
      ['from the future', { iat: now + 120, exp: now + 300 }],
      ['no id', { jti: undefined }],
      ['no events', { events: undefined }],
      ['other event', { events: { 'https://example.com/other': {} } }],
      ['nobody', { sub: undefined }],
      ['a person that is no text', { sub: { ada: true } }],
      ['several people', { sub: ['ada'] }],
      ['a session that is no text', { sid: { a: 1 } }],
    ];
    const statusOfNotice = async (token: string) => {
      const response = await notify(origin, token);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return response.status;
    };
    for (const [name, claims] of bad)
      assert.equal(await statusOfNotice(await forger.logoutToken({ sub: 'ada', ...claims })), 400, name);
    assert.equal(await statusOfNotice(await forger.idToken('x')), 400, 'an ID token');
    assert.equal(await statusOfNotice('nonsense'), 400);
    for (const forgery of [{ algorithm: 'none' as const }, { signsWithOtherKey: true }]) {
      Object.assign(forger, forgery);
      assert.equal(await statusOfNotice(await forger.logoutToken({ sub: 'ada' })), 400);
      Object.assign(forger, { algorithm: 'ES256', signsWithOtherKey: false });
    }
    assert.equal(await statusOf(browser), 200);

    const token = await forger.logoutToken({ sub: 'ada' });
    assert.equal(await statusOfNotice(token), 200);
    assert.equal(await statusOf(browser), 401);
    await signIn(browser);
    assert.equal(await statusOfNotice(token), 400, 'replayed');
    assert.equal(await statusOf(browser), 200);
  });
});

onBothEngines('signing in at an identity provider', (start) => {
  test('works with new keys of the provider', async (t) => {
    const issuer = await startIssuer(t);
    const service = await start(t, { environment: settingsFor(issuer) });
    await issuer.register(service.origin);
    issuer.use({ sub: '1', email: 'ada@example.com', email_verified: true });
    await addPerson(service, await service.key());
    const signIn = () => new Browser().signIn(service.origin);
    assert.equal(await signIn(), '/');
    await issuer.rotateKeys();
    assert.equal(await signIn(), '/');
  });

  test('links several first sign-ins at the same time to one person', async (t) => {
    const settings = { MUSTER_OIDC_ADD_PEOPLE: 'on', MUSTER_OIDC_DEFAULT_ACCESS: 'viewer' };
    const { forger, service, key, origin } = await startBoth(t, start, settings);
    forger.claims = {
      sub: 'new',
      email: 'new@example.com',
      email_verified: true,
      name: `  Grace\n${'x'.repeat(250)}`,
    };
    const browsers = [new Browser(), new Browser(), new Browser()];
    const callbacks = await Promise.all(browsers.map((browser) => browser.startSignIn(origin)));
    const pages = await Promise.all(
      browsers.map((browser, i) => browser.finishSignIn(origin, callbacks[i] ?? '')),
    );
    assert.deepEqual(pages, ['/', '/', '/']);
    const added = await service.list('/v1/personnel?email=new@example.com', key);
    assert.equal(added.length, 1);
    assert.match(added[0].name, /^Grace x{194}$/);

    // What no administrator could enter, no provider can add.
    for (const [sub, email, name, expected] of [
      ['a', 'no address', 'A', problem('not_verified')],
      ['b', 'b@example.com', '\u200b', '/'],
    ] as const) {
      forger.claims = { sub, email, email_verified: true, name };
      assert.equal(await new Browser().signIn(origin), expected);
    }
    assert.equal((await service.list('/v1/personnel?email=b@example.com', key))[0].name, 'b@example.com');
  });

  test('keeps the access of the last administrator', async (t) => {
    const settings = { MUSTER_OIDC_ACCESS: 'it=administrator,office=viewer', MUSTER_OIDC_ADD_PEOPLE: 'on' };
    const { forger, service, key, signIn, origin } = await startBoth(t, start, settings);
    const grace = { sub: 'grace', email: 'grace@example.com', email_verified: true };
    forger.claims = { ...grace, groups: 'it' };
    const browser = new Browser();
    assert.equal(await signIn(browser), '/');
    const password = 'nine sparrows on a warm roof';
    const set = await service.call(
      'PUT',
      '/v1/me/password',
      undefined,
      { password },
      browser.headers(origin),
    );
    assert.ok(set.status < 300, set.text);
    const keys = await service.list('/v1/keys', key);
    for (const { id } of keys) await service.delete(`/v1/keys/${id}`, undefined, browser.headers(origin));

    for (const groups of [['office'], []]) {
      forger.claims = { ...grace, groups };
      assert.equal(await signIn(browser), '/');
      const me = await service.get('/v1/me', undefined, browser.headers(origin));
      assert.ok(me.body.scopes.includes('keys.manage'), groups.join());
    }
  });

  test('does not take a reference to groups for no groups', async (t) => {
    const settings = { MUSTER_OIDC_ACCESS: 'office=viewer', MUSTER_OIDC_ADD_PEOPLE: 'on' };
    const { forger, signIn, statusOf } = await startBoth(t, start, settings);
    const grace = { sub: 'grace', email: 'grace@example.com', email_verified: true, name: 'Grace' };
    forger.claims = { ...grace, groups: ['office'] };
    const browser = new Browser();
    assert.equal(await signIn(browser), '/');
    forger.claims = { ...grace, _claim_names: { groups: 'src1' } };
    assert.equal(await signIn(), problem('failed'));
    assert.equal(await statusOf(browser), 200);
  });

  test('trusts an address without `email_verified` only if a setting says so', async (t) => {
    const { forger, signIn } = await startBoth(t, start, { MUSTER_OIDC_TRUST_EMAIL: 'on' });
    forger.claims = { sub: 'ada', email: 'ada@example.com', email_verified: false };
    assert.equal(await signIn(), problem('not_verified'));
    forger.claims = { sub: 'ada', email: 'ada@example.com' };
    assert.equal(await signIn(), '/');
  });
});

onSqlite('an identity provider', (start) => {
  test('that hangs or is down does not affect other ways to sign in', async (t) => {
    const startOne = async () => {
      const both = await startBoth(t, start);
      const { service, key } = both;
      const signInWithKey = async () =>
        (await service.post('/v1/session', undefined, { key }, { 'sec-fetch-site': 'same-origin' })).status;
      return { ...both, signInWithKey };
    };
    const hang = async (path: string) => {
      const { forger, signIn, signInWithKey } = await startOne();
      forger.hanging = [path];
      const page = signIn();
      assert.equal(await signInWithKey(), 204);
      assert.equal(await page, problem('unavailable'), path);
      forger.hanging = [];
      assert.equal(await signIn(), '/');
    };
    // At the same time, because each waits for 5 seconds.
    await Promise.all(['/.well-known/openid-configuration', '/token', '/jwks'].map(hang));
    const { forger, signIn, signInWithKey, origin } = await startOne();
    assert.equal(await signIn(), '/');
    forger.tokenStatus = 503;
    assert.equal(await signIn(), problem('unavailable'));
    forger.tokenStatus = 200;
    for (const [error, expected] of [
      ['access_denied', 'refused'],
      ['temporarily_unavailable', 'unavailable'],
      ['invalid_scope', 'failed'],
    ] as const) {
      forger.response = { error };
      assert.equal(await signIn(), problem(expected), error);
    }
    forger.response = {};

    const browser = new Browser();
    const callback = await browser.startSignIn(origin);
    forger.stop();
    assert.equal(await browser.finishSignIn(origin, callback), problem('unavailable'));
    const notice = await notify(origin, await forger.logoutToken({ sub: 'ada' }));
    assert.deepEqual([notice.status, notice.headers.get('retry-after')], [503, '5']);
    assert.equal(await signInWithKey(), 204);

    // A service that starts now.
    const later = await start(t, { environment: settingsFor(forger) });
    assert.equal((await later.get('/v1/session/ways')).body.oidc.label, 'Sign in with your organization');
    assert.equal(await new Browser().signIn(later.origin), problem('unavailable'));
  });

  test('is not reached without settings', async (t) => {
    const service = await start(t);
    for (const path of ['start', 'callback?code=x&state=y'])
      assert.equal((await service.get(`/v1/session/oidc/${path}`)).status, 404);
    assert.equal((await notify(service.origin, 'x')).status, 404);
  });

  test('returns only to pages of the service', async (t) => {
    for (const baseUrl of [undefined, 'https://ops.example.com/api']) {
      const { origin, service } = await startBoth(t, start, baseUrl ? { MUSTER_BASE_URL: baseUrl } : {});
      const prefix = baseUrl ? '/api' : '';
      const home = `${prefix}/`;
      for (const [returnTo, expected] of [
        ['/risks?q=a%26b', `${prefix}/risks?q=a%26b`],
        ['/a/../risks', `${prefix}/risks`],
        ['//evil.example', home],
        ['/\\evil.example', home],
        ['\\\\evil.example', home],
        ['https://evil.example', home],
        ['https:evil.example', home],
        ['javascript:alert(1)', home],
        ['@evil.example', home],
        ['.evil.example', home],
        ['/..//evil.example', home],
        ['/.//evil.example', home],
        ['/%2e%2e//evil.example', home],
        ['/\t/evil.example', home],
        ['/\\/evil.example', home],
        ['/../../evil', baseUrl ? home : '/evil'],
        ['/../apievil', baseUrl ? home : '/apievil'],
        ['/%2F%2Fevil.example', `${prefix}/%2F%2Fevil.example`],
        ['/%5Cevil.example', `${prefix}/%5Cevil.example`],
      ] as const) {
        const browser = new Browser();
        const response = await browser.open(
          `${origin}/v1/session/oidc/start?return_to=${encodeURIComponent(returnTo)}`,
        );
        // A tab is no valid text.
        if (response.status === 400) continue;
        const authorize = response.headers.get('location') ?? '';
        const callback = new URL((await browser.open(authorize)).headers.get('location') ?? '');
        assert.equal(callback.origin + callback.pathname, `${service.app.baseUrl}/v1/session/oidc/callback`);
        const back = await browser.open(`${origin}/v1/session/oidc/callback${callback.search}`);
        const next = new URL(back.headers.get('location') ?? '');
        assert.equal(next.origin, new URL(service.app.baseUrl).origin, returnTo);
        assert.equal(next.pathname + next.search, expected, returnTo);
      }
    }
  });

  test('leaves no secret in logs and traces', async (t) => {
    const forger = await startForger(t);
    const collector = await startReceiver(t);
    const service = await startMuster(t, temporaryFolder(t), {
      MUSTER_LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      ...settingsFor(forger, { MUSTER_OIDC_ADD_PEOPLE: 'on', MUSTER_OIDC_DEFAULT_ACCESS: 'viewer' }),
    });
    const browser = new Browser();
    const signIn = () => browser.signIn(service.origin);
    assert.equal(await signIn(), '/');
    const cookies = [browser.cookies(service.origin)];
    for (const failure of [
      { tokens: { token_type: 'unknown' } },
      { tokens: { id_token: 'not.a.token' } },
      { algorithm: 'none' as const },
      { payload: { nonce: 'x' } },
      { response: { iss: 'https://evil.example' } },
      { tokens: { error: 'invalid_grant', error_description: `Code ${'c'.repeat(32)}` }, tokenStatus: 400 },
    ]) {
      Object.assign(forger, { tokens: {}, algorithm: 'ES256', payload: {}, response: {} }, failure);
      assert.equal(await signIn(), problem('failed'));
    }
    Object.assign(forger, { tokens: {}, tokenStatus: 200 });
    const token = await forger.logoutToken({ sub: 'ada', aud: 'other' });
    assert.equal((await notify(service.origin, token)).status, 400);
    cookies.push(browser.cookies(service.origin));
    service.child.kill('SIGTERM');
    await service.exit;
    const traces = collector.received.map(({ text }) => text).join('\n');
    assert.match(traces, /GET \/v1\/session\/oidc\/callback/);
    const log = service.stderr();
    assert.match(log, /The identity provider rejected a sign-in/);
    assert.match(log, /invalid_grant/);
    const secrets = [...forger.secrets, token, clientSecret, 'c'.repeat(32)].filter((one) => one !== '');
    for (const cookie of cookies) secrets.push(...cookie.split('; ').map((pair) => pair.split('=')[1] ?? ''));
    for (const secret of secrets) {
      assert.ok(secret.length > 10);
      assert.ok(!log.includes(secret), `${secret} is in the log`);
      assert.ok(!traces.includes(secret), `${secret} is in a trace`);
    }
  });
});
