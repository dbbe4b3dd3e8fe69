import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { settableClock } from '../../../../test/clock.ts';
import { migratedDatabase } from '../../../../test/databases.ts';
import { Browser, settingsFor, startForger, startIssuer } from '../../../../test/issuer.ts';
import { onBothEngines, pluck, type Start, type TestService } from '../../../../test/service.ts';

const ada = { sub: 'acc-1', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };

/** A service with `oidc-provider` as its identity provider. */
async function startBoth(
  t: TestContext,
  start: Start,
  settings: Record<string, string> = {},
  { issuerOptions = {}, ...options }: Parameters<Start>[1] & { issuerOptions?: object } = {},
) {
  const issuer = await startIssuer(t, issuerOptions);
  const service = await start(t, { environment: settingsFor(issuer, settings), ...options });
  await issuer.register(service.origin);
  issuer.use(ada);
  const key = await service.key();
  /** Signs in with a new browser. Returns the page that it ends at. */
  const signIn = (browser = new Browser()) => browser.signIn(service.origin);
  const get = (browser: Browser, path: string) =>
    service.get(path, undefined, browser.headers(service.origin));
  return { issuer, service, key, signIn, get, origin: service.origin };
}

/** Adds a person with access. */
async function addPerson(service: TestService, key: string, more: object = {}, scopes = ['personnel.read']) {
  const input = { name: 'Ada', email: 'Ada@Example.com', ...more };
  const person = await service.make('/v1/personnel', key, input);
  const path = `/v1/personnel/${person.user_id}/access`;
  const given = await service.call('PUT', path, key, { scopes });
  assert.equal(given.status, 200, given.text);
  return person;
}

const problem = (name: string) => `/sign-in?problem=${name}`;

onBothEngines('signing in at an identity provider', (start, engine) => {
  test('starts a session of the person with the verified address', async (t) => {
    const { service, key, get, origin } = await startBoth(t, start);
    const person = await addPerson(service, key);
    const browser = new Browser();
    const callback = await browser.startSignIn(origin, '/risks?status=open');
    // Parameters of the provider's own are ignored.
    const page = await browser.finishSignIn(origin, `${callback}&session_state=x&scope=openid%20email&hd=a`);
    assert.equal(page, '/risks?status=open');
    const me = await get(browser, '/v1/me');
    assert.deepEqual(
      [me.body.type, me.body.user_id, me.body.scopes, me.body.session.way],
      ['person', person.user_id, ['personnel.read'], 'oidc'],
    );
    const access = await service.get(`/v1/personnel/${person.user_id}/access`, key);
    assert.deepEqual([access.body.ways, access.body.source], [['oidc'], 'manual']);
    const [started] = await service.list('/v1/events?types=session.started', key);
    assert.equal(started.data.user_id, person.user_id);
    assert.doesNotMatch(JSON.stringify(started), /id_token|provider_session|mss_/);

    // The session that the browser had before ends, although its cookie does not come back from another site.
    const before = browser.cookies(origin);
    await browser.signIn(origin);
    assert.equal((await service.get('/v1/me', undefined, { cookie: before })).status, 401);
  });

  test('reads claims that only the user information has', async (t) => {
    const settings = { MUSTER_OIDC_ACCESS: 'office=viewer', MUSTER_OIDC_ADD_PEOPLE: 'on' };
    const { issuer, signIn, get } = await startBoth(t, start, settings, {
      issuerOptions: { inToken: false },
    });
    issuer.use({ ...ada, groups: ['office'] });
    const browser = new Browser();
    assert.equal(await signIn(browser), '/');
    const me = await get(browser, '/v1/me');
    assert.deepEqual([me.body.name, me.body.email], ['Ada Lovelace', 'ada@example.com']);
  });

  test('links an account once: no change of an address moves it', async (t) => {
    const { issuer, service, key, signIn, get } = await startBoth(t, start);
    const first = await addPerson(service, key);
    const second = await addPerson(service, key, { name: 'Bob', email: 'bob@example.com' });
    assert.equal(await signIn(), '/');

    // Another account with the same address.
    issuer.use({ ...ada, sub: 'acc-2' });
    assert.equal(await signIn(), problem('unknown_person'));
    const userWho = async (account: typeof ada) => {
      issuer.use(account);
      const browser = new Browser();
      assert.equal(await signIn(browser), '/');
      return (await get(browser, '/v1/me')).body.user_id;
    };
    // The account of Ada gets the address of Bob, at the provider.
    assert.equal(await userWho({ ...ada, email: 'bob@example.com' }), first.user_id);
    // The address of Ada is given to Bob, on the roster.
    const path = (person: { user_id: string }) => `/v1/personnel/${person.user_id}`;
    assert.equal((await service.patch(path(first), key, { email: 'ada@new.example' })).status, 200);
    assert.equal((await service.patch(path(second), key, { email: 'ada@example.com' })).status, 200);
    assert.equal(await userWho(ada), first.user_id);
    assert.equal(await userWho({ ...ada, sub: 'acc-3' }), second.user_id);

    // Ending the access ends the link too, so that a new account can be linked.
    assert.equal((await service.delete(`${path(first)}/access`, key)).status, 204);
    issuer.use(ada);
    assert.equal(await signIn(), problem('unknown_person'));
  });

  test('refuses addresses that are not verified, and other domains', async (t) => {
    const settings = { MUSTER_OIDC_DOMAINS: 'example.com,Example.org' };
    const { issuer, service, key, signIn } = await startBoth(t, start, settings);
    await addPerson(service, key);
    for (const [claims, expected] of [
      [{ email_verified: false }, 'not_verified'],
      [{ email_verified: undefined }, 'not_verified'],
      [{ email: undefined }, 'domain'],
      [{ email: 'ada@example.com.evil.test' }, 'domain'],
      [{ email: 'ada@example.com@evil.test' }, 'domain'],
      [{ email_verified: ['true'] }, 'not_verified'],
      [{ email: ['ada@example.com'] }, 'domain'],
      [{ email: 'bob@EXAMPLE.org' }, 'unknown_person'],
    ] as const) {
      issuer.use({ ...ada, ...claims } as typeof ada);
      assert.equal(await signIn(), problem(expected), JSON.stringify(claims));
    }
    await service.app.failedSignIns.flush();
    const failures = await service.list('/v1/events?types=session.failed', key);
    assert.deepEqual(pluck(failures, 'data.problem', 'data.count'), [
      ['not_verified', 1],
      ['domain', 1],
      ['unknown_person', 1],
      ['not_verified', 2],
      ['domain', 3],
    ]);
    assert.deepEqual(await service.database.db.selectFrom('identities').selectAll().execute(), []);
  });

  test('refuses agents, inactive people and people without access', async (t) => {
    const { issuer, service, key, signIn } = await startBoth(t, start);
    const use = (name: string) => issuer.use({ ...ada, sub: name, email: `${name}@example.com` });
    const agent = { name: 'Bot', email: 'bot@example.com', kind: 'agent' };
    const owner = await addPerson(service, key, { email: 'owner@example.com' });
    await service.make('/v1/personnel', key, { ...agent, accountable_user_id: owner.user_id });
    const gone = await addPerson(service, key, { email: 'gone@example.com' });
    const none = await service.make('/v1/personnel', key, { name: 'None', email: 'none@example.com' });
    for (const [name, expected] of [
      ['bot', problem('unknown_person')],
      ['none', problem('no_access')],
      ['gone', '/'],
    ] as const) {
      use(name);
      assert.equal(await signIn(), expected, name);
    }
    const failures = await service.list('/v1/events?types=session.failed', key);
    assert.deepEqual(pluck(failures, 'data.user_id'), [null, none.user_id]);
    const browser = new Browser();
    await signIn(browser);
    const path = `/v1/personnel/${gone.user_id}`;
    assert.equal((await service.patch(path, key, { status: 'inactive' })).status, 200);
    assert.equal(
      (await service.get('/v1/me', undefined, browser.headers(service.origin))).status,
      401,
      'a stolen cookie stops working',
    );
    assert.equal(await signIn(), problem('unknown_person'));
  });

  test('derives access from groups at each sign-in, and removes it when none matches', async (t) => {
    const clock = settableClock(new Date().toISOString());
    const settings = {
      MUSTER_OIDC_ACCESS: 'risk=projects.read+projects.manage,office=personnel.read,it=administrator',
      MUSTER_OIDC_ADD_PEOPLE: 'on',
    };
    const { issuer, service, key, signIn, get } = await startBoth(t, start, settings, { clock });
    const browser = new Browser();
    const scopesWith = async (...groups: string[]) => {
      issuer.use({ ...ada, groups });
      const page = await signIn(browser);
      return page === '/' ? (await get(browser, '/v1/me')).body.scopes : page;
    };
    assert.equal(await scopesWith('unknown'), problem('no_access'));
    for (const groups of [[['it']], [{ it: true }], { it: true }, [null, 'IT'], 'it,office']) {
      issuer.use({ ...ada, groups } as never);
      assert.equal(await signIn(browser), problem('no_access'), JSON.stringify(groups));
    }
    assert.deepEqual(await scopesWith('office', 'risk', 'unknown'), [
      'projects.read',
      'projects.manage',
      'personnel.read',
    ]);
    const other = new Browser();
    await signIn(other);
    const { user_id } = (await get(other, '/v1/me')).body;
    assert.deepEqual(await scopesWith('office'), ['personnel.read']);
    assert.deepEqual((await get(other, '/v1/me')).body.scopes, ['personnel.read'], 'other sessions too');
    const path = `/v1/personnel/${user_id}/access`;
    assert.equal((await service.get(path, key)).body.source, 'oidc');

    assert.equal(await scopesWith(), problem('no_access'));
    assert.equal((await service.get(path, key)).status, 404);
    assert.equal((await get(other, '/v1/me')).status, 401);

    assert.deepEqual(await scopesWith('office'), ['personnel.read']);
    clock.set(new Date(Date.parse(clock().now) + 23.9 * 3_600_000).toISOString());
    assert.equal((await get(browser, '/v1/me')).status, 200);
    clock.set(new Date(Date.parse(clock().now) + 0.2 * 3_600_000).toISOString());
    assert.equal((await get(browser, '/v1/me')).status, 401, 'after 24 hours');

    // An administrator decides from now on.
    const given = await service.call('PUT', path, key, { scopes: ['events.read'] });
    assert.equal(given.body.source, 'manual');
    assert.deepEqual(await scopesWith('it'), ['events.read']);
    assert.deepEqual(await scopesWith(), ['events.read']);
  });

  test('works once, within ten minutes, in the browser that started it', async (t) => {
    const clock = settableClock(new Date().toISOString());
    const { service, key, signIn, get, origin } = await startBoth(t, start, {}, { clock });
    await addPerson(service, key);
    const [browser, thief] = [new Browser(), new Browser()];
    const callback = await browser.startSignIn(origin);
    assert.equal(await thief.finishSignIn(origin, callback), problem('expired'), 'without a cookie');
    await thief.startSignIn(origin);
    const second = await browser.startSignIn(origin);
    assert.equal(await thief.finishSignIn(origin, second), problem('expired'), 'with its own cookie');
    assert.equal((await get(thief, '/v1/me')).status, 401);

    // Two tabs sign in at the same time.
    const tabs = [await browser.startSignIn(origin), await browser.startSignIn(origin)];
    for (const tab of tabs) assert.equal(await browser.finishSignIn(origin, tab), '/');
    assert.equal(await browser.finishSignIn(origin, tabs[0] ?? ''), problem('expired'), 'replayed');
    assert.equal(
      await browser.finishSignIn(origin, `${origin}/v1/session/oidc/callback?state=a&state=b&code=%F0`),
      problem('expired'),
    );

    const late = await browser.startSignIn(origin);
    clock.set(new Date(Date.parse(clock().now) + 10 * 60_000).toISOString());
    assert.equal(await browser.finishSignIn(origin, late), problem('expired'), 'late');
    assert.equal(await signIn(), '/');
  });

  test('asks a person again who is signed in at the provider, where that is needed', async (t) => {
    const { issuer, service, key, get, origin } = await startBoth(t, start);
    await addPerson(service, key);
    const browser = new Browser();
    const sessionAfter = async (query?: Record<string, string>) => {
      assert.equal(await browser.signIn(origin, '/settings', query), '/settings');
      return (await get(browser, '/v1/me')).body.session.id;
    };
    const first = await sessionAfter();
    const second = await sessionAfter();
    assert.equal(issuer.signIns(), 1, 'the session of the provider is enough');
    const third = await sessionAfter({ again: 'true' });
    assert.equal(issuer.signIns(), 2);
    assert.equal(new Set([first, second, third]).size, 3);
    const stored = await service.database.db.selectFrom('sessions').select('id').execute();
    assert.deepEqual(pluck(stored, 'id'), [third], 'the earlier ones ended');
    await sessionAfter({ again: 'false' });
    assert.equal(issuer.signIns(), 2);
    assert.equal((await service.get('/v1/session/oidc/start?again=x')).status, 400);
  });

  test('refuses to sign in again by an earlier sign-in at the provider', async (t) => {
    const forger = await startForger(t);
    const service = await start(t, { environment: settingsFor(forger) });
    const key = await service.key();
    await addPerson(service, key);
    const { origin } = service;
    const browser = new Browser();
    const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;
    const signIn = (auth_time: number | undefined, query?: Record<string, string>) => {
      forger.payload = { auth_time };
      return browser.signIn(origin, undefined, query);
    };
    assert.equal(await signIn(secondsAgo(3600)), '/', 'an ordinary sign-in');
    const { body: me } = await service.get('/v1/me', undefined, browser.headers(origin));
    const again = { again: 'true' };
    assert.equal(await signIn(secondsAgo(90), again), problem('not_recent'));
    assert.equal(await signIn(undefined, again), problem('not_recent'));
    const kept = await service.get('/v1/me', undefined, browser.headers(origin));
    assert.equal(kept.body.session.id, me.session.id, 'the session stays');
    // The clocks may differ by a minute.
    for (const age of [30, 0, -30]) assert.equal(await signIn(secondsAgo(age), again), '/', `${age}`);
    const failures = await service.list('/v1/events?types=session.failed', key);
    assert.deepEqual(pluck(failures, 'data.problem'), ['not_recent']);
    const [started] = await service.list('/v1/events?types=session.started', key);
    assert.equal(started.data.problem, null);
  });

  test('ends sessions with the provider, in both directions', async (t) => {
    const { issuer, service, key, signIn, get, origin } = await startBoth(t, start);
    await addPerson(service, key);
    const [one, other] = [new Browser(), new Browser()];
    for (const browser of [one, other]) assert.equal(await signIn(browser), '/');

    // The provider signs out one of its sessions, and tells the service.
    const out = await issuer.signOut(one, `${issuer.url}/session/end`);
    assert.match(out ?? '', /\/session\/end\/success/);
    assert.equal((await get(one, '/v1/me')).status, 401);
    assert.equal((await get(other, '/v1/me')).status, 200, 'the session of the other browser stays');
    const [ended] = await service.list('/v1/events?types=session.ended', key);
    assert.equal(ended.data.reason, 'provider');

    // The service signs out, and says where the provider does.
    const { body } = await service.delete('/v1/session', undefined, other.headers(origin));
    assert.ok(body.redirect_to.startsWith(`${issuer.url}/session/end?`));
    assert.equal(await issuer.signOut(other, body.redirect_to), `${origin}/sign-in?signed_out`);
  });

  test('works with two instances on one database', async (t) => {
    const issuer = await startIssuer(t);
    const target = await migratedDatabase(engine);
    const environment = settingsFor(issuer, { MUSTER_BASE_URL: 'http://localhost:1' });
    const first = await start(t, { environment, target });
    const second = await start(t, { environment, target: { ...target, drop: async () => undefined } });
    await issuer.register('http://localhost:1');
    issuer.use(ada);
    const key = await first.key();
    await addPerson(first, key);
    const browser = new Browser();
    const callback = await browser.startSignIn(first.origin);
    assert.equal(await browser.finishSignIn(second.origin, callback), '/');
    const headers = browser.headers(first.origin);
    for (const { get } of [first, second])
      assert.equal((await get('/v1/me', undefined, headers)).status, 200);
    assert.equal((await second.delete('/v1/session', undefined, headers)).status, 200);
    for (const { get } of [first, second])
      assert.equal((await get('/v1/me', undefined, headers)).status, 401);
    assert.equal(await browser.finishSignIn(first.origin, callback), problem('expired'));
  });

  test('rejects forged tokens and responses', async (t) => {
    const forger = await startForger(t);
    const service = await start(t, { environment: settingsFor(forger) });
    await addPerson(service, await service.key());
    const signIn = () => new Browser().signIn(service.origin);
    assert.equal(await signIn(), '/');
    const now = Math.floor(Date.now() / 1000);
    const forgeries: [string, Partial<typeof forger>][] = [
      ['no signature', { algorithm: 'none' }],
      ['another key', { signsWithOtherKey: true }],
      ['wrong nonce', { payload: { nonce: 'x' } }],
      ['no nonce', { payload: { nonce: undefined } }],
      ['wrong issuer', { payload: { iss: 'https://evil.example' } }],
      ['wrong audience', { payload: { aud: 'other' } }],
      ['other party', { payload: { aud: ['muster', 'other'], azp: 'other' } }],
      ['expired', { payload: { exp: now - 70 } }],
      ['clock far ahead', { payload: { nbf: now + 90 } }],
      ['clock far behind', { skew: -300 }],
      ['no subject', { payload: { sub: undefined } }],
      ['response of another issuer', { response: { iss: 'https://evil.example' } }],
      ['no ID token', { tokens: { id_token: undefined } }],
    ];
    for (const [name, forgery] of forgeries) {
      const before = Object.fromEntries(
        Object.keys(forgery).map((field) => [field, forger[field as keyof typeof forger]]),
      );
      Object.assign(forger, forgery);
      assert.equal(await signIn(), problem('failed'), name);
      Object.assign(forger, before);
    }
    // Clocks may differ by up to a minute.
    for (const skew of [50, -150]) {
      forger.skew = skew;
      assert.equal(await signIn(), '/', `clock differs by ${skew} s`);
    }
  });
});
