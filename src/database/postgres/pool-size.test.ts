import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { sendLate } from '../../../test/late-body.ts';
import { freePort } from '../../../test/ports.ts';
import { startPostgresServer } from '../../../test/postgres-server.ts';
import { startMuster, temporaryFolder } from '../../../test/process.ts';
import { startTestService, withKey } from '../../../test/service.ts';

for (const size of [5, 7, 24]) {
  test(`an instance with MUSTER_DATABASE_POOL=${size} opens ${size} connections and no more`, {
    timeout: 60_000,
  }, async (t) => {
    const environment = { MUSTER_DATABASE_POOL: String(size) };
    const { service, key } = await withKey(startTestService(t, 'postgres', { environment }));
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const events = await fetch(`${service.origin}/v1/events/stream`, {
      headers: { authorization: `Bearer ${key}` },
    });
    // A transaction sees the same connections until its end, so another client counts them.
    const [locker, observer] = [new pg.Client(service.url), new pg.Client(service.url)];
    await Promise.all([locker.connect(), observer.connect()]);
    const countConnections = async (): Promise<number> => {
      const { rows } = await observer.query(`
        select count(*)::int from pg_stat_activity
        where datname = current_database() and application_name like 'muster%'`);
      return rows[0].count;
    };
    const untilFull = async (...pools: string[]) => {
      while (!pools.every((name) => service.database.pools()[name]?.waiting)) await setImmediate();
    };

    // Requests that wait for a lock keep their connections, so that the next ones fill the pools.
    await locker.query('begin');
    await locker.query('lock table people, risks in access exclusive mode');
    const numbers = Array.from({ length: 16 }, (_, i) => i);
    const reads = numbers.flatMap((i) => [
      service.get(`/v1/personnel?department=${i}`, key),
      service.get(`/v1/risks/summary?min_score=${i + 1}`, key),
    ]);
    await untilFull('slow', 'stream');
    // Not all connections for short reads and writes are used by writes.
    reads.push(...numbers.map(() => service.get(`/v1/personnel/${user_id}`, key)));
    const writes = numbers.map((i) => service.post('/v1/personnel', key, { name: `Person ${i}` }));
    await untilFull('quick', 'slow', 'stream');
    while ((await countConnections()) < size);
    assert.equal(await countConnections(), size);
    await locker.query('rollback');

    const statuses = (await Promise.all([...reads, ...writes])).map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)].sort(), [200, 201]);
    assert.ok((await countConnections()) <= size);
    await Promise.all([locker.end(), observer.end()]);
    await events.body?.cancel();
  });
}

test('an instance that gets fewer connections than it wants divides them, says so, and serves everything', {
  timeout: 120_000,
}, async (t) => {
  const server = await startPostgresServer(['fsync=off', 'max_connections=9', 'autovacuum=off']);
  t.after(() => server.stop());
  const url = await server.createDatabase();
  const metricsPort = String(await freePort());
  const service = await startMuster(t, temporaryFolder(t), {
    MUSTER_DATABASE_URL: url,
    MUSTER_METRICS_PORT: metricsPort,
  });
  const send = async (path: string, body?: object) => {
    const response = await fetch(`${service.origin}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.text();
    return response.status;
  };
  const statuses: number[] = [];
  for (let round = 0; round < 4; round++) {
    const numbers = Array.from({ length: 12 }, (_, i) => round * 12 + i);
    const requests = numbers.flatMap((i) => [
      send('/v1/personnel', { name: `Person ${i}` }),
      send(`/v1/personnel?department=${i}&limit=5`),
      send(`/v1/risks/summary?min_score=${(i % 25) + 1}`),
      send(`/v1/personnel?department=x${i}`),
    ]);
    statuses.push(...(await Promise.all(requests)));
  }
  assert.deepEqual([...new Set(statuses)].sort(), [200, 201]);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const sizes = [...metrics.matchAll(/^muster_database_pool_max\{pool="(\w+)"\} (\d+)$/gm)].map(
    ([, pool, max]) => ({ pool, max: Number(max) }),
  );
  assert.deepEqual(sizes.map(({ pool }) => pool).sort(), ['quick', 'slow', 'stream']);
  assert.ok(sizes.reduce((sum, { max }) => sum + max, 0) <= 8, JSON.stringify(sizes));
  while (!service.stderr().includes('PostgreSQL refuses connections')) await setTimeout(20);
  assert.equal(service.stderr().trim().split('\n').length, 1, service.stderr());
});

test('the smallest pool is enough for a change by a key whose access must be read again', async (t) => {
  const environment = { MUSTER_DATABASE_POOL: '5' };
  const { service, key } = await withKey(startTestService(t, 'postgres', { environment }));
  const addKey = () => service.make('/v1/keys', key, { name: 'x', scopes: ['personnel.read'] });
  const headers = { authorization: `Bearer ${key}` };
  const { status } = await sendLate(service, ['POST', '/v1/personnel', { name: 'Ada' }], headers, addKey);
  assert.equal(status, 201);
});
