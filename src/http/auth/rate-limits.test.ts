import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { settableClock } from '../../../test/clock.ts';
import { onSqlite, startTestService, type TestService, withKey } from '../../../test/service.ts';
import { clientAddress, listNetworks, networkOf } from '../../core/network/addresses.ts';
import { newSecret } from '../../store/access/secret.ts';
import { burstOf, rateLimiter } from './rate-limits.ts';

const noon = '2026-11-15T12:00:00.000Z';

onSqlite('rate limits', (start) => {
  test('a key over its limit gets 429 until Retry-After has passed', async (t) => {
    const clock = settableClock(noon);
    const service = await start(t, { clock, environment: { MUSTER_RATE_LIMIT: '3' } });
    const [key, other] = [await service.key(), await service.key()];
    const get = () => service.get('/v1/groups', key);

    const first = await get();
    assert.deepEqual([first.status, first.headers.get('ratelimit-policy')], [200, '"key";q=3;w=60']);
    assert.equal(first.headers.get('ratelimit'), '"key";r=2;t=60');
    clock.set('2026-11-15T12:00:10.000Z');
    await get();
    assert.equal((await get()).headers.get('ratelimit'), '"key";r=0;t=50');

    const rejected = await get();
    assert.deepEqual([rejected.status, rejected.body.code], [429, 'rate_limited']);
    assert.match(rejected.body.detail, /Try again in 50 s\./);
    assert.equal(rejected.headers.get('retry-after'), '50');
    assert.equal(rejected.headers.get('ratelimit'), '"key";r=0;t=50');
    assert.equal((await service.get('/v1/groups', other)).status, 200);

    clock.set('2026-11-15T12:00:59.999Z');
    assert.equal((await get()).status, 429);
    clock.set('2026-11-15T12:01:00.000Z');
    assert.equal((await get()).headers.get('ratelimit'), '"key";r=2;t=60');
  });

  test('a 304 is free; a 403 is not', async (t) => {
    const { service, key } = await withKey(
      start(t, { clock: settableClock(noon), environment: { MUSTER_RATE_LIMIT: '3' } }),
      'personnel.read',
    );
    const etag = (await service.get('/v1/groups', key)).headers.get('etag') ?? '';
    for (let i = 0; i < 5; i++) {
      const known = await service.get('/v1/groups', key, { 'if-none-match': etag });
      assert.deepEqual([known.status, known.headers.get('ratelimit')], [304, '"key";r=2;t=60']);
    }
    assert.equal((await service.get('/v1/risks', key)).headers.get('ratelimit'), '"key";r=1;t=60');
    assert.equal((await service.get('/v1/groups', key)).status, 200);
    assert.equal((await service.get('/v1/groups', key, { 'if-none-match': etag })).status, 429);
  });

  test('a key can have its own limit or none, and reads it from /v1/me', async (t) => {
    const { service, key } = await withKey(
      start(t, { clock: settableClock(noon), environment: { MUSTER_RATE_LIMIT: '2' } }),
    );
    const limits = async () => (await service.get('/v1/me', key)).body.limits;
    const { rate_limit, rate_burst } = await limits();
    assert.deepEqual([rate_limit, rate_burst], [2, 2]);

    await setLimit(service, 900);
    const own = await service.get('/v1/me', key);
    assert.deepEqual([own.body.limits.rate_limit, own.body.limits.rate_burst], [900, 300]);
    assert.equal(own.headers.get('ratelimit-policy'), '"key";q=900;w=60');

    await setLimit(service, 0);
    assert.equal((await limits()).rate_limit, null);
    for (let i = 0; i < 5; i++) {
      const response = await service.get('/v1/me', key);
      assert.deepEqual([response.status, response.headers.get('ratelimit')], [200, null]);
    }
  });

  test('probes and public pages are not rate limited', async (t) => {
    const { service, key } = await withKey(
      start(t, { clock: settableClock(noon), environment: { MUSTER_RATE_LIMIT: '1' } }),
    );
    for (const path of ['/livez', '/readyz', '/docs', '/v1/openapi.json', '/problems/rate_limited']) {
      for (let i = 0; i < 3; i++) assert.equal((await service.get(path, key)).status, 200, path);
    }
  });

  test('an address that sends invalid keys is rate limited, but valid keys from it still work', async (t) => {
    const clock = settableClock(noon);
    const { service, key } = await withKey(
      start(t, {
        clock,
        environment: { MUSTER_FAILED_AUTH_LIMIT: '3', MUSTER_TRUST_PROXY: '127.0.0.0/8' },
      }),
    );
    const attempt = async (secret: string | undefined, from = '198.51.100.7') =>
      service.get('/v1/me', secret, { 'x-forwarded-for': from });

    for (const secret of [newSecret(), 'nonsense', newSecret()]) {
      assert.equal((await attempt(secret)).status, 401);
    }
    const rejected = await attempt(newSecret());
    assert.deepEqual([rejected.status, rejected.body.code], [429, 'rate_limited']);
    assert.equal(rejected.headers.get('retry-after'), '60');
    assert.equal(rejected.headers.get('ratelimit-policy'), '"address";q=3;w=60');
    assert.equal((await attempt(key)).status, 200);
    assert.equal((await attempt(undefined)).status, 401, 'no key is no attempt');
    assert.equal((await attempt(newSecret(), '198.51.100.8')).status, 401, 'another address');
    assert.equal((await attempt(newSecret(), '203.0.113.1, 198.51.100.7')).status, 429, 'forged by a client');
    clock.set('2026-11-15T12:01:00.000Z');
    assert.equal((await attempt(newSecret())).status, 401);
  });

  test('X-Forwarded-For is ignored unless a trusted proxy sends it', async (t) => {
    const service = await start(t, { environment: { MUSTER_FAILED_AUTH_LIMIT: '1' } });
    const attempt = async (from: string) =>
      (await service.get('/v1/me', newSecret(), { 'x-forwarded-for': from })).status;
    assert.equal(await attempt('198.51.100.1'), 401);
    assert.equal(await attempt('198.51.100.2'), 429);
  });
});

test('with three instances a key gets at most three times its limit', async (t) => {
  const options = { clock: settableClock(noon), environment: { MUSTER_RATE_LIMIT: '4' } };
  const first = await startTestService(t, 'postgres', options);
  const target = { url: first.url, drop: async () => {} };
  const instances = [first];
  while (instances.length < 3) instances.push(await startTestService(t, 'postgres', { ...options, target }));
  const key = await first.key();
  // As a load balancer would send them, and then all to one instance.
  const order = [...Array.from({ length: 30 }, (_, i) => i % 3), ...Array.from({ length: 10 }, () => 0)];
  const statuses: number[] = [];
  for (const i of order) statuses.push((await instances[i]?.get('/v1/groups', key))?.status ?? 0);
  assert.deepEqual(statuses.slice(0, 12), Array(12).fill(200));
  assert.deepEqual(statuses.slice(12), Array(28).fill(429));
});

test('a burst is allowed at once, then requests are allowed at an even rate', () => {
  const limiter = rateLimiter('key');
  const allowed = (now: number, tries: number) =>
    Array.from({ length: tries }, () => limiter.charge('a', 600, now)).filter(({ isAllowed }) => isAllowed)
      .length;
  assert.equal(allowed(0, 300), 200);
  const { headers } = limiter.charge('a', 600, 0);
  assert.equal(headers['ratelimit-policy'], '"key";q=600;w=60, "burst";q=200;w=20');
  assert.equal(headers.ratelimit, '"key";r=400;t=60, "burst";r=0;t=1');
  assert.equal(headers['retry-after'], '1');
  assert.equal(allowed(1000, 50), 10);
  assert.equal(allowed(20_000, 500), 190);
  assert.equal(allowed(39_000, 500), 190);
  assert.equal(allowed(50_000, 50), 10, 'the minute is used up');
  assert.equal(allowed(59_999, 50), 0);
  assert.equal(allowed(60_000, 500), 200);
});

test('never allows more than the limit per window, or more than the limit and a burst in any minute', () => {
  const request = fc.record({ pause: fc.nat(2000), count: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90 }), fc.array(request, { maxLength: 100 }), (limit, requests) => {
      const limiter = rateLimiter('key');
      const times: number[] = [];
      let now = 1_000_000;
      for (const { pause, count } of requests) {
        now += pause;
        for (let i = 0; i < count; i++) {
          const { isAllowed, headers } = limiter.charge('a', limit, now);
          if (isAllowed) times.push(now);
          const wait = Number(headers['retry-after'] ?? 0) * 1000;
          if (!isAllowed) assert.ok(wait > 0 && wait <= 60_000);
        }
      }
      for (const [i, time] of times.entries()) {
        const within = times.slice(i).filter((other) => other < time + 60_000).length;
        assert.ok(within <= limit + burstOf(limit), `${within} within a minute`);
      }
    }),
  );
});

test('a request after Retry-After is allowed', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.array(fc.nat(3000), { maxLength: 300 }),
      (limit, pauses) => {
        const limiter = rateLimiter('key');
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          for (let i = 0; i < 50; i++) {
            const { isAllowed, headers } = limiter.charge('a', limit, now);
            if (isAllowed) continue;
            now += Number(headers['retry-after']) * 1000;
            assert.ok(limiter.charge('a', limit, now).isAllowed);
          }
        }
      },
    ),
    { numRuns: 30 },
  );
});

test('counts requests that arrive out of order, and works when the clock is set back', () => {
  const limiter = rateLimiter('key');
  const left = (now: number) => /r=(\d+)/.exec(limiter.charge('a', 10, now).headers.ratelimit ?? '')?.[1];
  assert.deepEqual([100_000, 99_998, 100_001].map(left), ['9', '8', '7']);
  assert.equal(left(20_000), '9');
});

test('tracks at most the maximum number of ids', () => {
  const limiter = rateLimiter('key', 100);
  const left = (id: string) => /r=(\d+)/.exec(limiter.charge(id, 10, 0).headers.ratelimit ?? '')?.[1];
  left('first');
  for (let i = 0; i < 99; i++) left(`id ${i}`);
  assert.equal(left('first'), '8');
  left('one more');
  assert.equal(left('first'), '9', 'the oldest was forgotten');
  assert.equal(left('id 98'), '8');
});

test('reads X-Forwarded-For from the right, as far as trusted proxies wrote it', () => {
  const proxies = listNetworks(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);
  const from = (connected: string | undefined, forwarded?: string) =>
    clientAddress(connected, forwarded, proxies);
  assert.equal(from('198.51.100.1', '1.2.3.4'), '198.51.100.1');
  assert.equal(from('127.0.0.1', '1.2.3.4'), '1.2.3.4');
  assert.equal(from('::ffff:127.0.0.1', '9.9.9.9, 1.2.3.4, 10.1.1.1'), '1.2.3.4');
  assert.equal(from('fd00::1', '2001:db8::1'), '2001:db8::1');
  assert.equal(from('127.0.0.1', '1.2.3.4, nonsense'), '127.0.0.1');
  assert.equal(from('127.0.0.1', ''), '127.0.0.1');
  assert.equal(from(undefined, '1.2.3.4'), '');
});

test('counts an IPv6 /64 network as one client', () => {
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1');
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::9'));
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'));
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64');
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
});

const setLimit = ({ database }: TestService, rate_limit: number) =>
  database.write((db) => db.updateTable('keys').set({ rate_limit }).execute());
