import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { migratedDatabase } from '../../../test/databases.ts';
import { onSqlite, withKey } from '../../../test/service.ts';
import { createApp } from '../../app.ts';
import { readConfig } from '../../config.ts';
import { systemClock } from '../../core/clock.ts';
import { openDatabase } from '../../store/open.ts';
import type { Readiness } from './health.ts';

test('a request that arrives during the start waits for it', async () => {
  const { url, drop } = await migratedDatabase('sqlite');
  const config = readConfig({ MUSTER_DATABASE_URL: url, MUSTER_LOG_LEVEL: 'silent' });
  const readiness: Readiness = { state: 'starting' };
  const app = await createApp({ config, database: openDatabase(url), clock: systemClock, readiness });
  assert.equal((await app.inject('/readyz')).statusCode, 503);
  const response = app.inject('/v1/me');
  await setTimeout(50);
  readiness.state = 'ready';
  assert.equal((await response).statusCode, 401);
  await app.close();
  await drop();
});

onSqlite('a service that drains', (start) => {
  test('serves requests, closes their connections, and is not ready', async (t) => {
    const { service, key } = await withKey(start(t));
    for (let i = 0; i < 3; i++) await service.get('/v1/groups', key);
    service.app.startDraining();
    assert.equal((await service.get('/readyz')).status, 503);
    assert.equal((await service.get('/livez')).status, 200);
    // From the cache, and not.
    for (const path of ['/v1/groups', '/v1/risks']) {
      const { status, headers } = await service.get(path, key);
      assert.deepEqual([status, headers.get('connection')], [200, 'close'], path);
    }
    const { status, headers } = await service.post('/v1/groups', key, { name: 'A' });
    assert.deepEqual([status, headers.get('connection')], [201, 'close']);
  });

  test('refuses connections when it closes, and serves those that it has accepted', async (t) => {
    const { service, key } = await withKey(start(t));
    const port = Number(new URL(service.origin).port);
    const accepted = connect(port, '127.0.0.1');
    const ended = new Promise((resolve) => accepted.once('close', resolve));
    let received = '';
    accepted.on('data', (chunk) => {
      received += chunk;
    });
    const body = '{"name":"A"}';
    accepted.write(
      `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    while (service.app.load.inFlight === 0) await setImmediate();
    service.app.startDraining();
    const closed = service.app.close();
    assert.equal((await service.get('/v1/groups', key)).status, 503);
    assert.equal((await service.post('/v1/groups', key, { name: 'B' })).status, 201);
    while (service.app.server.listening) await setImmediate();
    const refused = await new Promise<NodeJS.ErrnoException>((resolve) =>
      connect(port, '127.0.0.1').once('error', resolve),
    );
    assert.equal(refused.code, 'ECONNREFUSED');
    accepted.write(body);
    await ended;
    assert.match(received, /^HTTP\/1\.1 201 /);
    await closed;
  });
});
