import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createAuthenticator } from '../../../test/authenticator.ts';
import { sendLate } from '../../../test/late-body.ts';
import { onBothEngines, pluck, type Start, type TestService } from '../../../test/service.ts';

const rounds = 100;
const sameOrigin = { 'sec-fetch-site': 'same-origin' };
const baseUrl = 'http://localhost:8080';

/** Two instances on one database. */
async function startTwo(start: Start, t: Parameters<Start>[0]): Promise<[TestService, TestService]> {
  const environment = { MUSTER_BASE_URL: baseUrl };
  const one = await start(t, { environment });
  const target = { url: one.url, drop: async () => {} };
  return [one, await start(t, { environment, target })];
}

const signIn = (service: TestService, body: object) =>
  service.post('/v1/session', undefined, body, sameOrigin);

/** Runs both at about the same time; sometimes the one, sometimes the other is first. */
async function race<One, Other>(
  round: number,
  one: () => Promise<One>,
  other: () => Promise<Other>,
  maxMs: number,
): Promise<[One, Other]> {
  const leadMs = ((round % 20) / 20) * 2 * maxMs - maxMs;
  return Promise.all([
    setTimeout(Math.max(0, leadMs)).then(one),
    setTimeout(Math.max(0, -leadMs)).then(other),
  ]);
}

const sessionsOf = async ({ database }: TestService, column: 'user_id' | 'key_id', id: string) =>
  pluck(await database.db.selectFrom('sessions').select('way').where(column, '=', id).execute(), 'way');

onBothEngines('two instances', (start) => {
  test('leave no session of a password that is replaced while somebody signs in with it', async (t) => {
    const [one, other] = await startTwo(start, t);
    const key = await one.key();
    const { user_id, email } = await one.member(['projects.read']);
    const passwordOf = (round: number) => `${round} sparrows on a warm roof`;
    let refused = 0;
    for (let round = 0; round <= rounds; round++) {
      const { body } = await one.post(`/v1/personnel/${user_id}/invitation`, key, undefined);
      const accept = () =>
        one.post(
          '/v1/invitations/accept',
          undefined,
          { token: body.url.split('#')[1], password: passwordOf(round) },
          sameOrigin,
        );
      const enter = () => signIn(other, { email, password: passwordOf(round - 1) });
      const [accepted, signedIn] = await race(round, accept, enter, 50);
      assert.equal(accepted.status, 204, accepted.text);
      if (signedIn.status !== 204) refused++;
      assert.deepEqual(await sessionsOf(one, 'user_id', user_id), ['invitation'], `round ${round}`);
      await one.database.write((db) => db.deleteFrom('sign_in_failures').execute());
    }
    t.diagnostic(`${refused} of ${rounds} sign-ins were refused`);
  });

  test('leave no session of a passkey that is removed while somebody signs in with it', async (t) => {
    const [one, other] = await startTwo(start, t);
    const authenticator = createAuthenticator(baseUrl);
    const { user_id, headers } = await one.member(['projects.read']);
    let refused = 0;
    for (let round = 0; round < rounds; round++) {
      const challenge = await one.post('/v1/me/passkeys/challenge', undefined, undefined, headers);
      const { passkey, response } = authenticator.create(challenge.body);
      const added = await one.post('/v1/me/passkeys', undefined, { passkey: response }, headers);
      const options = await other.post('/v1/session/passkey', undefined, undefined, sameOrigin);
      const signed = authenticator.sign(passkey, options.body);
      const [removed, signedIn] = await race(
        round,
        () => one.delete(`/v1/me/passkeys/${added.body.id}`, undefined, headers),
        () => signIn(other, { passkey: signed }),
        15,
      );
      assert.equal(removed.status, 204, removed.text);
      if (signedIn.status !== 204) refused++;
      const ways = await sessionsOf(one, 'user_id', user_id);
      assert.deepEqual(ways, ['password'], `round ${round}`);
    }
    t.diagnostic(`${refused} of ${rounds} sign-ins were refused`);
  });

  test('leave no session of a key that is rotated while a browser signs in with it', async (t) => {
    const [one, other] = await startTwo(start, t);
    const all = await one.key();
    let { id, secret } = await one.make('/v1/keys', all, { name: 'office', scopes: ['personnel.read'] });
    let refused = 0;
    for (let round = 0; round < rounds; round++) {
      const [rotated, signedIn] = await race(
        round,
        () => one.post(`/v1/keys/${id}/rotate`, all, {}),
        () => signIn(other, { key: secret }),
        10,
      );
      assert.equal(rotated.status, 200, rotated.text);
      if (signedIn.status !== 204) refused++;
      assert.deepEqual(await sessionsOf(one, 'key_id', id), [], `round ${round}`);
      ({ id, secret } = rotated.body);
    }
    t.diagnostic(`${refused} of ${rounds} sign-ins were refused`);
  });

  test('write nothing for a key that was revoked before the body arrived', async (t) => {
    const [one, other] = await startTwo(start, t);
    const all = await one.key();
    for (let round = 0; round < rounds; round++) {
      const { id, secret } = await one.make('/v1/keys', all, { name: 'x', scopes: ['personnel.manage'] });
      const late = await sendLate(
        other,
        ['POST', '/v1/personnel', { name: 'Late' }],
        { authorization: `Bearer ${secret}` },
        () => one.delete(`/v1/keys/${id}`, all),
      );
      assert.equal(late.status, 401, `round ${round}`);
    }
    assert.deepEqual(await one.list('/v1/personnel', all), []);
  });
});
