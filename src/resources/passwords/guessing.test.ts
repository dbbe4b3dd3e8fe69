import assert from 'node:assert/strict';
import { hash as digest } from 'node:crypto';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, onSqlite, pluck, type TestService } from '../../../test/service.ts';
import { hashPassword } from './hash.ts';

const password = 'nine sparrows on a warm roof';
const wrong = 'a wrong guess of a password';
const noon = '2026-11-15T12:00:00.000Z';
const environment = { MUSTER_TRUST_PROXY: '127.0.0.0/8,::1', MUSTER_FAILED_AUTH_LIMIT: '30' };
const hash = hashPassword(password);

/** Adds people who can sign in with the password. */
async function addPeople(service: TestService, count: number): Promise<{ email: string; user_id: string }[]> {
  const people: Awaited<ReturnType<TestService['member']>>[] = [];
  for (let i = 0; i < count; i++) people.push(await service.member(['projects.read']));
  const stored = await hash;
  await service.database.write(async (db) => {
    for (const { user_id } of people)
      await db.insertInto('passwords').values({ user_id, hash: stored, set_at: noon }).execute();
    await db.deleteFrom('sessions').execute();
  });
  return people;
}

async function attempt(
  service: TestService,
  from: string,
  email: string,
  guess = wrong,
  cookie?: string,
): Promise<{ status: number; retry: number; session: string; device: string }> {
  const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': from, ...(cookie && { cookie }) };
  const body = { email, password: guess };
  const response = await service.post('/v1/session', undefined, body, headers);
  const [session = '', device = ''] = response.headers
    .getSetCookie()
    .map((one) => one.split(';')[0] as string);
  if (response.status >= 500) console.log(response.text);
  const retry = Number(response.headers.get('retry-after') ?? 0);
  return { status: response.status, retry, session, device };
}

const statusOf = async (...call: Parameters<typeof attempt>) => (await attempt(...call)).status;

const countOf = (statuses: number[], status: number) => statuses.filter((one) => one === status).length;

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

  test('for one account from many networks leaves everybody else an attempt at once', async (t) => {
    const service = await start(t, { clock: settableClock(noon), environment });
    const [{ email } = { email: '' }] = await addPeople(service, 1);
    assert.equal(await statusOf(service, '203.0.113.1', email), 401);
    const account = digest('sha256', email, 'hex');
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
    await service.app.failedSignIns.flush();
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

    await signIn();
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
  test('behind one address, are all signed in', async (t) => {
    const service = await start(t, { environment });
    const people = await addPeople(service, 50);
    const statuses = await Promise.all(
      people.map(({ email }) => statusOf(service, '198.51.100.1', email, password)),
    );
    assert.equal(countOf(statuses, 204), 50);
  });

  test('beside twelve networks that guess, are signed in', async (t) => {
    const limited = { ...environment, MUSTER_FAILED_AUTH_LIMIT: '6' };
    const service = await start(t, { environment: limited });
    const [ada] = await addPeople(service, 1);
    const guesses = Array.from({ length: 180 }, (_, i) =>
      statusOf(service, `203.0.113.${i % 12}`, `person${i}@example.com`),
    );
    assert.equal(await statusOf(service, '198.51.100.1', ada?.email ?? '', password), 204);
    const statuses = await Promise.all(guesses);
    assert.deepEqual([...new Set(statuses)].sort(), [401, 429]);
    assert.equal(service.app.signInQueue.counts.hashes, countOf(statuses, 401) + 1);
    assert.ok(countOf(statuses, 401) <= 72);
  });

  test('with addresses of one IPv6 site count as one network', async (t) => {
    const limited = { ...environment, MUSTER_FAILED_AUTH_LIMIT: '3' };
    const service = await start(t, { environment: limited });
    for (let i = 0; i < 6; i++) await statusOf(service, `2001:db8:7:${i}::1`, `person${i}@example.com`);
    assert.equal(service.app.signInQueue.counts.hashes, 3);
  });

  test('through a proxy that is not trusted, cause one line in the log', async (t) => {
    const service = await start(t, { environment: { MUSTER_FAILED_AUTH_LIMIT: '30' } });
    const warn = t.mock.method(service.app.log, 'warn');
    for (let i = 0; i < 3; i++) await statusOf(service, `203.0.113.${i}`, 'nobody@example.com');
    const lines = warn.mock.calls.map(({ arguments: [line] }) => String(line));
    assert.equal(lines.filter((line) => line.includes('MUSTER_TRUST_PROXY')).length, 1);
  });
});
