import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthenticator } from '../../../test/authenticator.ts';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService } from '../../../test/service.ts';
import { hashPassword } from '../passwords/hash.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };
const current = 'seven candles in the harbour';
const next = 'nine sparrows on a warm roof';
const hash = hashPassword(current);

async function givePassword(service: TestService, user_id: string): Promise<void> {
  const row = { user_id, hash: await hash, set_at: '2026-11-15T00:00:00.000Z' };
  await service.database.write((db) => db.insertInto('passwords').values(row).execute());
}

const signIn = async (service: TestService, body: object) => {
  const response = await service.post('/v1/session', undefined, body, sameOrigin);
  const [session = '', device = ''] = response.headers.getSetCookie().map((one) => one.split(';')[0] ?? '');
  return { status: response.status, device, headers: { ...sameOrigin, cookie: session } };
};

const statusOf = async (service: TestService, headers: Record<string, string>) =>
  (await service.get('/v1/me', undefined, headers)).status;

onBothEngines('the account of a person', (start) => {
  test('shows what happened to it in the last 30 days, and nothing of others', async (t) => {
    const clock = settableClock('2026-11-19T10:00:00.000Z');
    const service = await start(t, { clock });
    const key = await service.key();
    const project = await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const ada = await service.member(['projects.read', 'keys.read'], [project.id]);
    const bob = await service.member(['projects.read', 'keys.manage']);
    // Of others, even if she does it or sees it.
    await service.post(`/v1/personnel/${bob.user_id}/invitation`, key, undefined);
    const invite = `/v1/personnel/${ada.user_id}/invitation`;
    const { body } = await service.post(invite, undefined, undefined, bob.headers);
    const accepted = { token: body.url.split('#')[1], password: current };
    await service.post('/v1/invitations/accept', undefined, accepted, sameOrigin);
    await signIn(service, { email: ada.email, password: 'not the password of Ada' });
    const again = await service.signIn(ada.user_id);
    const activity = (query = '') => service.get(`/v1/me/activity${query}`, undefined, again.headers);
    const events = (await activity()).body.data;
    assert.deepEqual(pluck(events, 'type', 'actor.user_id', 'browser', 'address'), [
      ['session.started', ada.user_id, 'A test', '127.0.0.1'],
      ['session.started', ada.user_id, 'Another program', '127.0.0.1'],
      ['access.password_set', ada.user_id, null, null],
      ['access.invited', bob.user_id, null, null],
      ['session.started', ada.user_id, 'A test', '127.0.0.1'],
      ['access.created', null, null, null],
    ]);
    const page = (await activity('?limit=2')).body;
    assert.deepEqual(page.data, events.slice(0, 2));
    const rest = (await activity(`?limit=9&cursor=${page.page.next_cursor}`)).body.data;
    assert.deepEqual(rest, events.slice(2));
    assert.equal((await service.get('/v1/me/activity', key)).status, 403);
    assert.equal((await service.get('/v1/me/access', key)).status, 403);

    const access = await service.get('/v1/me/access', undefined, again.headers);
    assert.deepEqual(
      [access.body.user_id, access.body.ways, access.body.invited_until],
      [ada.user_id, ['password'], null],
    );

    clock.set('2026-12-25T10:00:00.000Z');
    const later = await service.signIn(ada.user_id);
    const recent = await service.get('/v1/me/activity', undefined, later.headers);
    assert.deepEqual(pluck(recent.body.data, 'type', 'at'), [
      ['session.started', '2026-12-25T10:00:00.000Z'],
    ]);
  });

  test('gets nothing lasting from a session that ended since the request began', async (t) => {
    const service = await start(t, {});
    const ada = await service.member(['projects.read']);
    await givePassword(service, ada.user_id);
    const { db, write } = service.database;
    assert.equal(await statusOf(service, ada.headers), 200);
    // The session has ended, and the instance does not know it yet.
    await write((db) => db.withoutPlugins().deleteFrom('sessions').execute());
    const chosen = { password: next, current_password: current };
    const asked = [
      await service.call('PUT', '/v1/me/password', undefined, chosen, ada.headers),
      await service.post('/v1/me/keys', undefined, { name: 'mine' }, ada.headers),
    ];
    assert.deepEqual(pluck(asked, 'status'), [401, 401]);
    assert.deepEqual(await db.selectFrom('passwords').select('hash').execute(), [{ hash: await hash }]);
    assert.deepEqual(
      await db.selectFrom('keys').select('id').where('user_id', '=', ada.user_id).execute(),
      [],
    );
  });

  test('has a new password only from who knows the current one, or signed in with a passkey', async (t) => {
    // Its delays must not be over by themselves.
    const service = await start(t, { clock: settableClock('2026-11-19T10:00:00.000Z') });
    const ada = await service.member(['projects.read']);
    await givePassword(service, ada.user_id);
    const stored = () => service.database.db.selectFrom('passwords').select('hash').execute();
    const choose = (body: object, headers = ada.headers) =>
      service.call('PUT', '/v1/me/password', undefined, { password: next, ...body }, headers);
    const errorOf = async (...sent: Parameters<typeof choose>) => {
      const { status, body } = await choose(...sent);
      return [status, body.errors?.[0].pointer ?? body.code, body.errors?.[0].code];
    };
    const before = await stored();
    assert.deepEqual(await errorOf({}), [422, '#/current_password', 'required']);
    for (let i = 0; i < 5; i++)
      assert.deepEqual(await errorOf({ current_password: next }), [422, '#/current_password', 'wrong']);
    // Guesses of it have the delay of guesses at signing in.
    assert.deepEqual(await errorOf({ current_password: current }), [429, 'rate_limited', undefined]);
    assert.deepEqual(await stored(), before);
    await service.database.write((db) => db.deleteFrom('sign_in_failures').execute());
    const other = await service.signIn(ada.user_id);
    assert.equal((await choose({ current_password: current })).status, 204);
    assert.notDeepEqual(await stored(), before);
    assert.deepEqual(
      [await statusOf(service, ada.headers), await statusOf(service, other.headers)],
      [200, 401],
    );

    const authenticator = createAuthenticator(service.origin);
    const { body } = await service.post('/v1/me/passkeys/challenge', undefined, undefined, ada.headers);
    const { passkey, response } = authenticator.create(body);
    await service.post('/v1/me/passkeys', undefined, { passkey: response }, ada.headers);
    // A session of a password that was removed is not enough for a new one.
    assert.equal((await service.delete('/v1/me/password', undefined, ada.headers)).status, 204);
    assert.deepEqual(await errorOf({}), [403, 'sign_in_again', undefined]);
    assert.deepEqual(await stored(), []);
    const options = await service.post('/v1/session/passkey', undefined, undefined, sameOrigin);
    const entered = await signIn(service, { passkey: authenticator.sign(passkey, options.body) });
    assert.equal((await choose({}, entered.headers)).status, 204);
    assert.equal((await choose({ password: current }, entered.headers)).status, 204, 'with one, too');
    assert.equal((await signIn(service, { email: ada.email, password: current })).status, 204);
  });

  test('is signed out everywhere, and no browser is known any more', async (t) => {
    const clock = settableClock('2026-11-19T10:00:00.000Z');
    const service = await start(t, { clock });
    const key = await service.key();
    const project = await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const ada = await service.member(['projects.read'], [project.id]);
    const bob = await service.member(['projects.read']);
    for (const { user_id } of [ada, bob]) await givePassword(service, user_id);
    const entered = await signIn(service, { email: ada.email, password: current });
    await signIn(service, { email: bob.email, password: current });
    const known = async () =>
      pluck(await service.database.db.selectFrom('known_clients').selectAll().execute(), 'user_id').sort();
    assert.deepEqual(await known(), [ada, ada, bob, bob].map(({ user_id }) => user_id).sort());
    assert.equal((await service.delete('/v1/sessions', key)).status, 403);
    clock.set('2026-11-19T10:16:00.000Z');
    const late = await service.delete('/v1/sessions', undefined, entered.headers);
    assert.deepEqual([late.status, late.body.code], [403, 'sign_in_again']);
    const recent = await service.signIn(ada.user_id);
    const everywhere = await service.delete('/v1/sessions', undefined, recent.headers);
    assert.equal(everywhere.status, 204, everywhere.text);
    assert.deepEqual(
      everywhere.headers.getSetCookie().map((cookie) => cookie.split(';')[0]),
      ['muster_session=', 'muster_device='],
    );
    for (const { headers } of [ada, entered, recent]) assert.equal(await statusOf(service, headers), 401);
    assert.equal(await statusOf(service, bob.headers), 200);
    assert.deepEqual(await known(), [bob.user_id, bob.user_id]);
    const left = await service.database.db.selectFrom('sessions').select('user_id').distinct().execute();
    assert.deepEqual(pluck(left, 'user_id'), [bob.user_id]);
  });
});
