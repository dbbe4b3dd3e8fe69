import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { exchange } from '../testing/exchange.ts';
import { onBothEngines, type TestService } from '../testing/service.ts';
import { watchLoad } from './load.ts';

onBothEngines('load', (start) => {
  test('more than can be worked on is refused at once, but for probes and what is in memory', async (t) => {
    const service = await start(t, { environment: { MUSTER_MAX_REQUESTS: '1' } });
    const key = await service.key();
    for (let i = 0; i < 2; i++) assert.equal((await service.get('/v1/groups?limit=5', key)).status, 200);

    const { waiting, release } = await holdWriter(service);
    const written = service.post('/v1/groups', key, { name: 'Ops' });
    while (service.app.load.working === 0) await setTimeout(5);

    for (const [method, path] of [
      ['GET', '/v1/projects/NONE'],
      ['POST', '/v1/groups'],
      ['GET', '/docs'],
    ] as const) {
      const refused = await service.call(method, path, key, method === 'POST' ? { name: 'x' } : undefined);
      assert.equal(refused.status, 503, path);
      assert.equal(refused.headers.get('content-type'), 'application/problem+json');
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.equal(refused.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(refused.body.code, 'unavailable');
      assert.equal(refused.body.instance, path);
      assert.equal(refused.body.request_id, refused.headers.get('x-request-id'));
    }
    assert.equal(service.app.load.shed, 3);
    for (const path of ['/livez', '/readyz']) assert.equal((await service.get(path)).status, 200, path);
    assert.equal((await service.get('/v1/groups?limit=5', key)).status, 200);

    release();
    await waiting;
    assert.equal((await written).status, 201);
    assert.equal((await service.get('/v1/projects/NONE', key)).status, 404);
    assert.equal(service.app.load.working, 0);
  });

  test('who waits for their turn counts, too', async (t) => {
    const service = await start(t, { environment: { MUSTER_MAX_REQUESTS: '3' } });
    const key = await service.key();
    assert.equal((await service.get('/v1/projects/NONE', key)).status, 404);
    const requests = Array.from(
      { length: 10 },
      (_, i) =>
        `GET /v1/projects/NONE${i} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `connection: ${i === 9 ? 'close' : 'keep-alive'}\r\n\r\n`,
    );
    const answers = await exchange(service.origin, requests.join(''));
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, [...Array(3).fill('404'), ...Array(7).fill('503')]);
    assert.equal(service.app.load.working, 0);
  });

  test('who sends a body slowly takes nobody’s place', async (t) => {
    const service = await start(t, { environment: { MUSTER_MAX_REQUESTS: '1' } });
    const key = await service.key();
    const sockets = Array.from({ length: 5 }, () => {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      socket.write(
        `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
          'content-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      );
      return socket;
    });
    while (service.app.load.underWay < 5) await setTimeout(5);
    assert.equal(service.app.load.working, 0);
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal(service.app.load.bodyBytes, 0);
  });

  test('who goes away before the answer leaves nothing behind', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { waiting, release } = await holdWriter(service);
    for (let i = 0; i < 50; i++) {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      socket.write(
        `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
          'content-type: application/json\r\ncontent-length: 12\r\n\r\n{"name":"x"}',
      );
      await setTimeout(i % 5);
      socket.destroy();
    }
    release();
    await waiting;
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    await service.app.load.idle();
    assert.deepEqual([service.app.load.working, service.app.load.bodyBytes], [0, 0]);
  });

  test('who takes too long to send is told so, and the connection is closed', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { server } = service.app;
    assert.deepEqual([server.headersTimeout, server.requestTimeout], [15_000, 30_000]);
    Object.assign(server, { headersTimeout: 100, requestTimeout: 200 });
    const post = `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
    const beginnings = [
      'GET /v1/me HTTP/1.1\r\nhost: x\r\nx-slow: ',
      `${post}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
      `${post}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
    ];
    for (const answer of await Promise.all(beginnings.map((text) => exchange(service.origin, text)))) {
      assert.match(answer, /^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*"code":"request_timeout"/s);
    }
    await service.app.load.idle();
    assert.equal(service.app.load.bodyBytes, 0);
  });

  test('bodies on their way in cannot fill the memory', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const megabyte = 1024 * 1024;
    const sockets = Array.from({ length: 64 }, () => {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      socket.write(
        `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${megabyte}\r\n\r\n{`,
      );
      return socket;
    });
    while (service.app.load.bodyBytes < 64 * megabyte) await setTimeout(5);
    const refused = await service.post('/v1/groups', key, { name: 'Ops' });
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal((await service.get('/v1/me', key)).status, 200);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
  });
});

test('requests are taken in for a while, then all else that goes on has its turn', async () => {
  let now = 1000;
  const load = watchLoad(10, () => now);
  now += 60_000;
  assert.equal(load.isOverloaded(), false, 'a machine that stood still is no reason');
  now += 2000;
  assert.equal(load.isOverloaded(), false);
  now += 1;
  assert.equal(load.isOverloaded(), true);
  await setImmediate();
  assert.equal(load.isOverloaded(), false);
});

test('many are taken in as long as none of them takes long, a few always', async () => {
  let now = 0;
  const load = watchLoad(100, () => now);
  const requests = Array.from({ length: 100 }, () => ({}));
  const isOverloaded = async () => {
    await setImmediate();
    return load.isOverloaded();
  };
  for (const request of requests) {
    assert.equal(await isOverloaded(), false);
    load.begin(request);
  }
  assert.equal(await isOverloaded(), true, 'there are never more than may be');
  for (const request of requests.slice(0, 10)) load.end(request);
  now = 2000;
  assert.equal(await isOverloaded(), false);
  now = 2001;
  assert.equal(await isOverloaded(), true);
  for (const request of requests.slice(10, 37)) load.end(request);
  assert.deepEqual([load.working, await isOverloaded()], [63, false]);
});

test('refusals wait for their turn, a few at a time, and no more than there may be connections', async () => {
  const load = watchLoad(0);
  let sent = 0;
  const refuse = () => load.refuse(() => sent++);
  for (let i = 0; i < 10_000; i++) assert.equal(refuse(), true);
  assert.equal(refuse(), false, 'who sends still more is cut off');
  assert.equal(sent, 0);
  await setImmediate();
  assert.ok(sent > 0 && sent < 100, `${sent} in one turn`);
  while (sent < 10_000) await setImmediate();
  assert.equal(refuse(), true);
  assert.equal(load.shed, 10_002);
});

/** Keeps others from writing until it is released. */
async function holdWriter({ database }: TestService) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const waiting = database.write(async (db) => {
    await db
      .updateTable('data_versions')
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('table_name', '=', 'groups')
      .execute();
    hold();
    await released;
  });
  await held;
  return { waiting, release };
}
