import assert from 'node:assert/strict';
import { hash as digest } from 'node:crypto';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { addPeople, attempt, environment, noon, password, statusOf, wrong } from '../../../test/guessing.ts';
import { onBothEngines, onSqlite, pluck } from '../../../test/service.ts';
import { newSecret } from '../../store/access/secret.ts';

onBothEngines('somebody who guesses passwords', (start) => {
  test('keeps nobody out in another network, or in a browser that has signed in before', async (t) => {
    const clock = settableClock(noon);
    const service = await start(t, { clock, environment });
    const [{ email } = { email: '' }] = await addPeople(service, 1);
    const { device } = await attempt(service, '198.51.100.1', email, password);
    assert.match(device, /^muster_device=msd_/);
    for (const guesser of ['203.0.113.1', '198.51.100.1']) {
      for (let i = 0; i < 5; i++) assert.equal(await statusOf(service, guesser, email), 401);
      const delayed = await attempt(service, guesser, email, password);
      assert.deepEqual([delayed.status, delayed.retry], [429, 1], 'a delay of the network');
    }
    assert.equal(await statusOf(service, '198.51.100.2', email, password), 204, 'another network');
    const known = await attempt(service, '198.51.100.1', email, password, device);
    assert.equal(known.status, 204, 'the same network, in the browser');
    // The browser has a delay of its own, and the secret of its cookie is a new one.
    assert.equal(await statusOf(service, '198.51.100.1', email, password, device), 429);
    for (let i = 0; i < 5; i++)
      assert.equal(await statusOf(service, '198.51.100.9', email, wrong, known.device), 401);
    assert.equal(await statusOf(service, '198.51.100.9', email, password, known.device), 429);
    clock.set('2026-11-15T12:01:00.000Z');
    assert.equal(await statusOf(service, '198.51.100.9', email, password, known.device), 204);
  });

  test('among colleagues keeps none of them out where they have signed in before', async (t) => {
    const service = await start(t, { clock: settableClock(noon), environment });
    const people = await addPeople(service, 7);
    const office = '198.51.100.1';
    for (const { email } of people) assert.equal(await statusOf(service, office, email, password), 204);
    const [last, ...others] = people;
    for (const { email } of others)
      for (let i = 0; i < 5; i++) assert.equal(await statusOf(service, office, email), 401);
    assert.equal(await statusOf(service, office, last?.email ?? '', password), 204);
  });

  test('keeps nobody out of other ways in, or where somebody has signed in before', async (t) => {
    const clock = settableClock(noon);
    const limited = { ...environment, MUSTER_FAILED_AUTH_LIMIT: '2', MUSTER_BASE_URL: 'http://localhost' };
    const service = await start(t, { clock, environment: limited });
    const [ada] = await addPeople(service, 1);
    const office = '198.51.100.1';
    const { device } = await attempt(service, office, ada?.email ?? '', password);
    const begin = async (cookie?: string) => {
      const headers = {
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': office,
        ...(cookie && { cookie }),
      };
      return (await service.post('/v1/session/passkey', undefined, undefined, headers)).status;
    };
    const begun = [];
    for (let i = 0; i < 21; i++) begun.push(await begin());
    assert.deepEqual([begun.slice(0, 20).every((one) => one === 200), begun[20]], [true, 429]);
    for (let i = 0; i < 30; i++) await statusOf(service, office, `person${i}@example.com`);
    assert.equal(await statusOf(service, office, ada?.email ?? '', password), 204);
    const key = await service.key();
    const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': office };
    assert.equal((await service.post('/v1/session', undefined, { key }, headers)).status, 204);
    assert.equal(await begin(device), 200);
    // It was forgotten after 90 days, even if its row is still there.
    await service.database.write((db) => db.updateTable('known_clients').set({ expires_at: noon }).execute());
    assert.equal(await begin(device), 429);
  });

  test('costs no write where nothing is right', async (t) => {
    const service = await start(t, { environment: { ...environment, MUSTER_BASE_URL: 'http://localhost' } });
    const token = newSecret('link');
    const write = t.mock.method(service.database, 'write');
    const headers = { 'sec-fetch-site': 'same-origin' };
    assert.equal((await service.post('/v1/session', undefined, { link: token }, headers)).status, 401);
    const invitation = { token: newSecret('link'), password };
    assert.equal((await service.post('/v1/invitations/accept', undefined, invitation, headers)).status, 401);
    assert.equal(write.mock.callCount(), 0);
  });

  test('delays nobody by what is written as an address, or by a clock that was ahead', async (t) => {
    const service = await start(t, { clock: settableClock(noon), environment });
    const [{ email } = { email: '' }] = await addPeople(service, 1);
    for (let i = 0; i < 5; i++)
      assert.equal(await statusOf(service, '203.0.113.1', `${email} network 198.51.100.1`), 401);
    assert.equal(await statusOf(service, '198.51.100.1', email, password), 204);
    for (let i = 0; i < 5; i++) assert.equal(await statusOf(service, '198.51.100.2', email), 401);
    assert.equal(await statusOf(service, '198.51.100.2', email, password), 429);
    await service.database.write((db) =>
      db.updateTable('sign_in_failures').set({ last_at: '2036-01-01T00:00:00.000Z' }).execute(),
    );
    assert.equal(await statusOf(service, '198.51.100.2', email, password), 204);
  });

  test('for one account from many networks leaves everybody else an attempt at once', async (t) => {
    const service = await start(t, { clock: settableClock(noon), environment });
    const [{ email } = { email: '' }] = await addPeople(service, 1);
    assert.equal(await statusOf(service, '203.0.113.1', email), 401);
    const account = digest('sha256', JSON.stringify([email]), 'hex');
    const { numUpdatedRows } = await service.database.write((db) =>
      db
        .updateTable('sign_in_failures')
        .set({ failures: 100 })
        .where('account', '=', account)
        .executeTakeFirst(),
    );
    assert.equal(numUpdatedRows, 1n, 'as after guesses from many networks');
    assert.equal(await statusOf(service, '203.0.114.1', email), 401);
    assert.equal(await statusOf(service, '203.0.114.1', email), 429, 'the second has to wait');
    assert.equal(await statusOf(service, '198.51.100.1', email, password), 204);
    const counted = await service.database.db
      .selectFrom('sign_in_failures')
      .select('failures')
      .where('account', '=', account)
      .executeTakeFirst();
    assert.equal(counted?.failures, 101, 'a right password is no guess');
    // Where the person has signed in before, the guesses of others do not count.
    assert.equal(await statusOf(service, '198.51.100.1', email), 401);
    assert.equal(await statusOf(service, '198.51.100.1', email, password), 204);
  });

  test('costs as many hashes a minute as a network may fail, and nobody else a sign-in', async (t) => {
    const clock = settableClock(noon);
    const limited = { ...environment, MUSTER_FAILED_AUTH_LIMIT: '6' };
    const service = await start(t, { clock, environment: limited });
    const [ada, bob] = await addPeople(service, 2);
    const { device } = await attempt(service, '203.0.113.1', ada?.email ?? '', password);
    const { counts } = service.app.signInQueue;
    const before = counts.hashes;
    const guess = (round: number) =>
      Array.from({ length: 40 }, (_, i) =>
        statusOf(service, `203.0.113.${i % 2}`, `person${round}-${i}@example.com`),
      );
    const rounds = [];
    for (let round = 0; round < 2; round++) rounds.push(...(await Promise.all(guess(round))));
    assert.deepEqual(
      [...new Set(rounds)].sort(),
      [401, 429],
      'a network that fails is told so, and not that the service is busy',
    );
    for (let i = 0; i < 20; i++) await statusOf(service, `203.0.113.${i % 2}`, `again${i}@example.com`);
    assert.equal(counts.hashes - before, 12);
    // The right password is not tried either, except where the person is known.
    assert.equal(await statusOf(service, '203.0.113.1', bob?.email ?? '', password), 429);
    assert.equal(await statusOf(service, '203.0.113.1', ada?.email ?? '', password), 204, 'by network');
    assert.equal(await statusOf(service, '203.0.113.1', ada?.email ?? '', password, device), 204);
    assert.equal(await statusOf(service, '198.51.100.1', bob?.email ?? '', password), 204);
    clock.set('2026-11-15T12:01:00.000Z');
    assert.equal(await statusOf(service, '203.0.113.1', bob?.email ?? '', password), 204);
    assert.deepEqual([counts.running, counts.waiting], [0, 0]);
  });

  test('is recorded once a minute for a network and account, with the number', async (t) => {
    const service = await start(t, { clock: settableClock(noon), environment });
    const key = await service.key();
    const [{ email, user_id } = { email: '', user_id: '' }] = await addPeople(service, 1);
    for (let i = 0; i < 4; i++) await statusOf(service, '203.0.113.1', `person${i}@example.com`);
    for (let i = 0; i < 3; i++) await statusOf(service, '203.0.113.1', email);
    const failed = async () =>
      pluck(await service.list('/v1/events?types=session.failed', key), 'data.user_id', 'data.count');
    assert.deepEqual(await failed(), [
      [null, 1],
      [user_id, 1],
    ]);
    const write = t.mock.method(service.database, 'write');
    await service.app.failedSignIns.flush();
    assert.equal(write.mock.callCount(), 1, 'however many there are');
    const all = [
      [null, 1],
      [user_id, 1],
      [null, 3],
      [user_id, 2],
    ];
    assert.deepEqual(await failed(), all);
    await service.app.failedSignIns.flush();
    assert.deepEqual(await failed(), all);
  });
});

onBothEngines('the device cookie', (start) => {
  test('ends with a new password, a reset, the end of a session by its owner, and access', async (t) => {
    const service = await start(t, { environment });
    const key = await service.key();
    const [{ email, user_id } = { email: '', user_id: '' }] = await addPeople(service, 1);
    const known = () => service.database.db.selectFrom('known_clients').selectAll().execute();
    const signIn = async (chosen = password) => {
      const signedIn = await attempt(service, '198.51.100.1', email, chosen);
      assert.equal(signedIn.status, 204);
      assert.equal((await known()).length, 2, 'the browser and the network');
      const headers = { cookie: signedIn.session, 'sec-fetch-site': 'same-origin' };
      const sessions = await service.get('/v1/sessions', undefined, headers);
      return { headers, id: sessions.body.data.at(-1).id };
    };

    const revoked = await signIn();
    assert.equal(
      (await service.delete(`/v1/sessions/${revoked.id}`, undefined, revoked.headers)).status,
      204,
    );
    assert.deepEqual(await known(), []);

    const { headers: own } = await signIn();
    const changed = 'four lanterns along the canal';
    const change = { password: changed, current_password: password };
    assert.equal((await service.call('PUT', '/v1/me/password', undefined, change, own)).status, 204);
    assert.deepEqual(await known(), []);

    await signIn(changed);
    const invitation = await service.post(`/v1/personnel/${user_id}/invitation`, key, undefined);
    const [, token] = invitation.body.url.split('#');
    const earlier = await known();
    const chosen = 'seven candles in the harbour';
    const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '198.51.100.7' };
    const reset = await service.post(
      '/v1/invitations/accept',
      undefined,
      { token, password: chosen },
      headers,
    );
    assert.equal(reset.status, 204, reset.text);
    const later = await known();
    assert.equal(later.length, 2, 'the browser and the network of the reset');
    assert.ok(later.every(({ hash }) => !earlier.some((one) => one.hash === hash)));

    assert.equal((await service.delete(`/v1/personnel/${user_id}/access`, key)).status, 204);
    assert.deepEqual(await known(), []);
  });

  test('works for each person who uses the browser, and is never one that somebody chose', async (t) => {
    const service = await start(t, { environment });
    const [ada, bob] = await addPeople(service, 2);
    const chosen = `muster_device=msd_${'a'.repeat(38)}`;
    const first = await attempt(service, '198.51.100.1', ada?.email ?? '', password, chosen);
    assert.notEqual(first.device, chosen);
    const second = await attempt(service, '198.51.100.1', bob?.email ?? '', password, first.device);
    assert.notEqual(second.device, first.device);
    const rows = await service.database.db.selectFrom('known_clients').selectAll().execute();
    assert.equal(rows.length, 4);
    assert.equal(new Set(rows.map((row) => row.hash)).size, 2, 'one browser and one network');
  });
});

onSqlite('many who sign in at once', (start) => {
  test('with addresses of one IPv6 site count as one network', async (t) => {
    const limited = { ...environment, MUSTER_FAILED_AUTH_LIMIT: '3' };
    const service = await start(t, { environment: limited });
    for (let i = 0; i < 6; i++) await statusOf(service, `2001:db8:7:${i}::1`, `person${i}@example.com`);
    assert.equal(service.app.signInQueue.counts.hashes, 3);
  });

  test('and fail, leave a few lines with the address and without what was entered', async (t) => {
    const service = await start(t, { clock: settableClock(noon), environment });
    const [ada] = await addPeople(service, 1);
    const lines: object[] = [];
    const { log } = service.app;
    const warn = (line: object, text: string) => lines.push({ ...line, text });
    // Each request has a logger of its own.
    t.mock.method(log, 'child', () => ({ ...log, warn }));
    for (let i = 0; i < 4; i++) await statusOf(service, '203.0.113.1', `person${i}@example.com`);
    for (let i = 0; i < 3; i++) await statusOf(service, '203.0.113.1', ada?.email ?? '');
    await statusOf(service, '203.0.113.2', ada?.email ?? '');
    const line = {
      address: '203.0.113.1',
      method: 'POST',
      route: '/v1/session',
      user_id: undefined,
      reason: 'Wrong password.',
      left_out: undefined,
      text: 'A sign-in was rejected.',
    };
    const { user_id } = ada ?? {};
    assert.deepEqual(lines, [
      ...[line, line, line, line],
      { ...line, user_id },
      { ...line, user_id, address: '203.0.113.2', left_out: 2 },
    ]);
  });

  test('through a proxy that is not trusted, cause one line in the log', async (t) => {
    const service = await start(t, { environment: { MUSTER_FAILED_AUTH_LIMIT: '30' } });
    const warn = t.mock.method(service.app.log, 'warn');
    for (let i = 0; i < 3; i++) await statusOf(service, `203.0.113.${i}`, 'nobody@example.com');
    const lines = warn.mock.calls.map(({ arguments: [line] }) => String(line));
    assert.equal(lines.filter((line) => line.includes('MUSTER_TRUST_PROXY')).length, 1);
  });
});
