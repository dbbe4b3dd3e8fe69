import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { sendRaw } from '../../../test/raw-http.ts';
import { onSqlite, type TestService, withKey } from '../../../test/service.ts';
import { bodyBudget } from '../request/body-budgets.ts';
import { createLoadMonitor, unknownClient } from './load-shedding.ts';

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

onSqlite('load', (start) => {
  test('requests beyond the concurrency limit get 503, except probes and cached responses', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_MAX_CONCURRENT_REQUESTS: '1' } }),
    );
    for (let i = 0; i < 3; i++) assert.equal((await service.get('/v1/groups?limit=5', key)).status, 200);

    const { waiting, release } = await holdWriter(service);
    const written = service.post('/v1/groups', key, { name: 'Ops' });
    while (service.app.load.active === 0) await setTimeout(5);

    for (const [method, path] of [
      ['GET', '/v1/projects/NONE'],
      ['POST', '/v1/groups'],
      ['GET', '/docs'],
    ] as const) {
      const rejected = await service.call(method, path, key, method === 'POST' ? { name: 'x' } : undefined);
      assert.equal(rejected.status, 503, path);
      assert.equal(rejected.headers.get('content-type'), 'application/problem+json');
      assert.equal(rejected.headers.get('retry-after'), '1');
      assert.equal(rejected.headers.get('x-content-type-options'), 'nosniff');
      assert.deepEqual([rejected.body.code, rejected.body.instance], ['unavailable', path]);
      assert.equal(rejected.body.request_id, rejected.headers.get('x-request-id'));
    }
    assert.equal(service.app.load.shed, 3);
    for (const path of ['/livez', '/readyz']) assert.equal((await service.get(path)).status, 200, path);
    assert.equal((await service.get('/v1/groups?limit=5', key)).status, 200);

    release();
    await waiting;
    assert.equal((await written).status, 201);
    assert.equal((await service.get('/v1/projects/NONE', key)).status, 404);
    assert.equal(service.app.load.active, 0);
  });

  test('requests that wait for the database count against the concurrency limit', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_MAX_CONCURRENT_REQUESTS: '4' } }),
    );
    assert.equal((await service.get('/v1/projects/NONE', key)).status, 404);
    const { waiting, release } = await holdWriter(service);
    const writes = ['a', 'b', 'c'].map((name) => service.post('/v1/groups', key, { name }));
    while (service.app.load.active < 3) await setTimeout(5);
    assert.deepEqual(await statusesOfBurst(service, key, 10), Array(10).fill('503'));
    release();
    await waiting;
    for (const write of writes) assert.equal((await write).status, 201);
    assert.equal(service.app.load.active, 0);
  });

  test('a burst of 300 small requests is served', async (t) => {
    const { service, key } = await withKey(start(t));
    const began = performance.now();
    const statuses = await statusesOfBurst(service, key, 300);
    // A busy machine may need longer than a request may wait.
    if (performance.now() - began < 2000) assert.deepEqual(statuses, Array(300).fill('404'));
    assert.equal(service.app.load.active, 0);
  });

  test('a request that waited too long in the queue is rejected', async (t) => {
    const { service, key } = await withKey(start(t));
    const statuses = statusesOfBurst(service, key, 400);
    while (service.app.load.active < 100) await setImmediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100);
    const rejected = (await statuses).filter((status) => status === '503');
    assert.ok(rejected.length > 0);
    assert.deepEqual([service.app.load.shed, service.app.load.active], [rejected.length, 0]);
  });

  test('requests that cannot be routed leave nothing behind, are measured, and count as failed attempts', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_FAILED_AUTH_LIMIT: '250' } }),
      'personnel.read',
      'metrics.read',
    );
    const badPaths = ['/v1/projects/%zz', `/v1/projects/${'x'.repeat(201)}`];
    for (let i = 0; i < 100; i++) {
      for (const path of badPaths) assert.ok([400, 414].includes((await service.get(path, key)).status));
      for (const path of badPaths) assert.ok([400, 414].includes((await service.get(path)).status));
    }
    await service.app.load.idle();
    assert.equal(service.app.load.active, 0);
    assert.equal((await service.get('/v1/personnel?limit=1', key)).status, 200);
    const { text } = await service.get('/metrics', key);
    assert.match(text, /duration_seconds_count\{method="GET",route="none",status="400"\} 200\n/);
    assert.match(text, /duration_seconds_count\{method="GET",route="none",status="414"\} 200\n/);
    const statuses = new Set<number>();
    for (let i = 0; i < 100; i++) statuses.add((await service.get(badPaths[0] ?? '')).status);
    assert.deepEqual([...statuses], [400, 429]);
    assert.equal((await service.get(badPaths[0] ?? '', key)).status, 400, 'a valid key is not limited');
  });

  test('responses that clients do not read are not work in progress', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_MAX_CONCURRENT_REQUESTS: '2' } }),
    );
    const { load, connections } = service.app;
    const unread = () => [...connections.open].filter((socket) => socket.writableLength > 0);
    const sockets: Socket[] = [];
    // One after another, because requests that are handled at the same time are work.
    while (sockets.length < 3) {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1').pause();
      // More than the buffers of a connection can hold.
      socket.write('GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(60));
      sockets.push(socket);
      while (unread().length < sockets.length) await setTimeout(5);
    }
    assert.deepEqual([load.inFlight, load.active], [3, 0]);
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    assert.equal((await service.get('/v1/risks?limit=1', key)).status, 200);
    for (const socket of sockets) socket.destroy();
    await load.idle();
    assert.equal(load.shed, 0);
  });

  test('pipelined requests are handled in order, one at a time, and too many close the connection', async (t) => {
    const { service, key } = await withKey(start(t));
    const request = (name: string, connection = 'keep-alive') =>
      `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
      `connection: ${connection}\r\ncontent-length: ${name.length + 11}\r\n\r\n{"name":"${name}"}`;
    const { waiting, release } = await holdWriter(service);
    const names = Array.from({ length: 64 }, (_, i) => `g${i}`);
    const responses = sendRaw(
      service.origin,
      names.map((name) => request(name)).join('') + request('last', 'close'),
    );
    while (service.app.load.active === 0) await setTimeout(5);
    assert.equal(service.app.load.inFlight, 1);
    release();
    await waiting;
    const created = [...(await responses).matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(created, [...names, 'last']);

    const held = await holdWriter(service);
    const tooMany = sendRaw(service.origin, ...Array.from({ length: 67 }, (_, i) => request(`more${i}`)));
    assert.equal(await tooMany.catch(() => ''), '');
    held.release();
    await held.waiting;
    await service.app.load.idle();
    assert.equal(service.app.load.active, 0);
  });

  test('slow uploads do not count against the concurrency limit', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_MAX_CONCURRENT_REQUESTS: '1' } }),
    );
    const sockets = Array.from({ length: 5 }, () => {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      socket.write(
        `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
          'content-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      );
      return socket;
    });
    while (service.app.load.inFlight < 5) await setTimeout(5);
    assert.equal(service.app.load.active, 0);
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal(service.app.bodyBudgets.json.bytes, 0);
  });

  test('a client that disconnects early releases its slot and memory', async (t) => {
    const { service, key } = await withKey(start(t));
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
    assert.deepEqual([service.app.load.active, service.app.bodyBudgets.json.bytes], [0, 0]);
  });

  test('a request that arrives too slowly gets 408, and the connection is closed', async (t) => {
    const { service, key } = await withKey(start(t));
    const { server } = service.app;
    assert.deepEqual([server.headersTimeout, server.requestTimeout], [15_000, 30_000]);
    Object.assign(server, { headersTimeout: 100, requestTimeout: 200 });
    const post = `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
    const beginnings = [
      'GET /v1/me HTTP/1.1\r\nhost: x\r\nx-slow: ',
      `${post}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
      `${post}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
    ];
    for (const response of await Promise.all(beginnings.map((text) => sendRaw(service.origin, text)))) {
      assert.match(response, /^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*"code":"request_timeout"/s);
    }
    await service.app.load.idle();
    assert.equal(service.app.bodyBudgets.json.bytes, 0);
  });

  test('slow unauthenticated bodies do not block writes or sign-in', async (t) => {
    const { service, key } = await withKey(start(t));
    const sockets = openUploads(service, 200, '/v1/session');
    sockets.push(...openUploads(service, 200, '/v1/nowhere'));
    assert.ok((await responsesOf(sockets.slice(0, 200))).every((text) => /^HTTP\/1\.1 413 /.test(text)));
    assert.ok(
      (await responsesOf(sockets.slice(200))).every((text) =>
        /^HTTP\/1\.1 404 .*"code":"not_found"/s.test(text),
      ),
    );
    // A session body, announced but never sent.
    sockets.push(...openUploads(service, 200, '/v1/session', { bytes: 1024 }));
    while (service.app.bodyBudgets.public.bytes < 200 * 1024) await setTimeout(5);
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    assert.equal((await service.post('/v1/session', undefined, { key }, sameOrigin)).status, 204);
    assert.equal(service.app.bodyBudgets.json.bytes, 0);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal(service.app.bodyBudgets.public.bytes, 0);
  });

  test('one network cannot use up the budget for unauthenticated bodies', async (t) => {
    const { service, key } = await withKey(start(t, { environment: { MUSTER_TRUST_PROXY: '127.0.0.1' } }));
    const from = (address: string) => ({ 'x-forwarded-for': address, ...sameOrigin });
    const sockets = openUploads(service, 1024, '/v1/session', { bytes: 1024, headers: from('192.0.2.1') });
    while (service.app.bodyBudgets.public.bytes < 1024 * 1024) await setTimeout(5);
    const rejected = await service.post('/v1/session', undefined, { key }, from('192.0.2.1'));
    assert.deepEqual([rejected.status, rejected.headers.get('retry-after')], [429, '1']);
    assert.match(rejected.body.detail, /too many large request bodies at once/);
    assert.equal((await service.post('/v1/session', undefined, { key }, from('192.0.2.2'))).status, 204);
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' }, from('192.0.2.1'))).status, 201);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
  });

  test('a body is charged by the bytes that arrived, not by its Content-Length', async (t) => {
    const { service, key } = await withKey(start(t));
    const sockets = openUploads(service, 200, '/v1/groups', { key });
    sockets.push(...openUploads(service, 100, '/v1/groups', { key, isChunked: true }));
    while (service.app.bodyBudgets.json.bytes < 300 * 16 * 1024) await setTimeout(5);
    assert.equal((await service.post('/v1/groups', key, { name: 'Ops' })).status, 201);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal(service.app.bodyBudgets.json.bytes, 0);
  });

  test('a key that sends too many large bodies at once does not block other keys', async (t) => {
    const service = await start(t);
    const [greedy, other] = [await service.key(), await service.key()];
    const megabyte = 1024 * 1024;
    const open = (count: number, bytes: number) =>
      openUploads(service, count, '/v1/groups', { key: greedy, sent: ' '.repeat(bytes) });
    const arrived = async (bytes: number) => {
      while (service.app.bodyBudgets.json.bytes < bytes) await setTimeout(5);
    };
    // The last byte of each body is never sent.
    const sockets = open(7, megabyte - 1);
    sockets.push(...open(1, megabyte / 2));
    await arrived(7.5 * megabyte - 7);
    const [beyond] = await responsesOf(open(1, megabyte - 1));
    assert.match(
      beyond ?? '',
      /^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*too many large request bodies at once/s,
    );
    sockets.push(...open(1, megabyte / 2 - 1));
    await arrived(8 * megabyte - 8);
    const rejected = await service.post('/v1/groups', greedy, { name: 'Ops' });
    assert.deepEqual([rejected.status, rejected.body.code], [429, 'rate_limited']);
    assert.equal((await service.get('/v1/me', greedy)).status, 200);
    assert.equal((await service.post('/v1/groups', other, { name: 'Ops' })).status, 201);
    const file = ' '.repeat(100_000);
    const imported = await service.upload('/v1/groups/import?dry_run=true', greedy, `name\n${file}\n`);
    assert.notEqual(imported.status, 429, 'files are counted apart');
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal((await service.post('/v1/groups', greedy, { name: 'Dev' })).status, 201);
  });
});

test('the total memory of bodies is bounded across clients', () => {
  const budget = bodyBudget(100, 60);
  assert.equal(budget.reserve('a', 60), undefined);
  assert.equal(budget.reserve('a', 1)?.code, 'rate_limited');
  assert.equal(budget.reserve('b', 41)?.code, 'unavailable');
  assert.equal(budget.reserve('b', 40), undefined);
  budget.release('a', 60);
  assert.equal(budget.bytes, 40);
  assert.equal(budget.reserve('a', 60), undefined);
});

test('a long tick of the event loop sheds load until the next tick', async () => {
  let now = 1000;
  const load = createLoadMonitor(10, () => now);
  now += 60_000;
  assert.equal(load.admits(unknownClient), true, 'a machine that stood still is no reason');
  now += 2000;
  assert.equal(load.admits(unknownClient), true);
  now += 1;
  assert.equal(load.admits(unknownClient), false);
  assert.equal(load.admits('key'), true);
  await setImmediate();
  assert.equal(load.admits(unknownClient), true);
});

/** A monitor with a clock, and functions that begin and end many requests. */
function monitor(maxConcurrency: number) {
  let now = 0;
  const load = createLoadMonitor(maxConcurrency, () => now);
  const active: EventEmitter[] = [];
  return {
    load,
    /** Moves the clock, in a tick of its own. */
    wait: async (ms: number) => {
      now += ms;
      await setImmediate();
    },
    /** Offers requests; returns how many were admitted. */
    arrive: (count: number, client = unknownClient) => {
      let admitted = 0;
      for (let i = 0; i < count; i++) {
        if (!load.admits(client)) continue;
        const response = new EventEmitter();
        const request = { method: 'GET', headers: {} } as IncomingMessage;
        load.admit(request, response as ServerResponse, client);
        active.push(response);
        admitted++;
      }
      return admitted;
    },
    end: (count: number) => {
      for (const response of active.splice(0, count)) response.emit('head');
    },
  };
}

test('a burst is admitted as a whole, up to the concurrency limit', () => {
  const { arrive } = monitor(1000);
  assert.equal(arrive(750, 'a'), 750);
  assert.equal(arrive(10, 'a'), 0, 'one client has at most three quarters');
  assert.equal(arrive(350, 'b'), 250);
});

test('a burst may queue for a second, and a lasting queue for half a second', async () => {
  const { arrive, end, wait, load } = monitor(2000);
  arrive(64);
  // One request ends each millisecond, and more arrive.
  for (let i = 0; i < 900; i += 20) {
    await wait(20);
    end(20);
    arrive(100);
  }
  assert.ok(load.active > 900, `${load.active}`);
  for (let i = 0; i < 1000; i += 20) {
    await wait(20);
    end(20);
    arrive(100);
  }
  assert.ok(load.active > 450 && load.active < 550, `${load.active}`);
});

test('a lasting queue that is short enough is never rejected', async () => {
  const { arrive, end, wait, load } = monitor(1000);
  arrive(300);
  // One request ends each millisecond, and one arrives.
  for (let i = 0; i < 5000; i += 20) {
    await wait(20);
    end(20);
    assert.equal(arrive(20), 20, `after ${i} ms`);
  }
  assert.equal(load.active, 300);
});

test('a slow queue is short, but a minimum is always admitted', async () => {
  const { arrive, end, wait, load } = monitor(1000);
  arrive(64);
  // One request ends each 20 milliseconds.
  for (let i = 0; i < 100; i++) {
    await wait(20);
    end(1);
    arrive(5);
  }
  assert.equal(load.active, 64);
});

test('requests that all hang are overload after an interval', async () => {
  const { arrive, wait, load } = monitor(1000);
  arrive(64);
  await wait(999);
  assert.equal(load.admits(unknownClient), true);
  await wait(1);
  assert.equal(load.admits(unknownClient), false);
});

test('under overload each known client keeps a share', async () => {
  const { arrive, end, wait, load } = monitor(1000);
  arrive(64, 'greedy');
  await wait(1000);
  assert.equal(load.admits('greedy'), false);
  assert.equal(load.admits(unknownClient), false, 'anybody can invent keys');
  assert.equal(load.admits('modest'), true);
  assert.equal(arrive(10, 'modest'), 4);
  end(64);
  assert.equal(load.admits('greedy'), true);
});

test('shedding is reported until there has been no rejection for ten seconds', async () => {
  const { load, wait } = monitor(1000);
  assert.equal(load.sheddingSeconds, 0);
  for (let i = 0; i < 7; i++) {
    load.reject(() => {});
    await wait(5000);
  }
  assert.equal(load.sheddingSeconds, 35);
  await wait(5000);
  assert.equal(load.sheddingSeconds, 0);
  load.reject(() => {});
  await wait(1000);
  assert.equal(load.sheddingSeconds, 1);
});

test('rejections are sent a few per tick, from a bounded queue', async () => {
  const load = createLoadMonitor(0);
  let sent = 0;
  const refuse = () => load.reject(() => sent++);
  for (let i = 0; i < 10_000; i++) assert.equal(refuse(), true);
  assert.equal(refuse(), false, 'a full queue rejects nothing more');
  assert.equal(sent, 0);
  await setImmediate();
  assert.ok(sent > 0 && sent < 100, `${sent} in one turn`);
  while (sent < 10_000) await setImmediate();
  assert.equal(refuse(), true);
  assert.equal(load.shed, 10_002);
});

/** Sends requests at once, each on a connection of its own that is open already. */
async function statusesOfBurst({ app, origin }: TestService, key: string, count: number) {
  const sockets = Array.from({ length: count }, () => connect(Number(new URL(origin).port), '127.0.0.1'));
  while (app.connections.open.size < count) await setTimeout(5);
  const responses = responsesOf(sockets);
  for (const [i, socket] of sockets.entries())
    socket.write(
      `GET /v1/projects/NONE${i} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
    );
  return (await responses).map((response) => response.slice(9, 12)).sort();
}

/** Holds the write lock until it is released. */
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

type Upload = {
  key?: string;
  bytes?: number;
  sent?: string;
  isChunked?: boolean;
  headers?: Record<string, string>;
};

/** Opens connections that each send the start of a body and then stop. */
function openUploads(
  { origin }: TestService,
  count: number,
  path: string,
  { key, bytes = 1024 * 1024, sent = '{', isChunked = false, headers = {} }: Upload = {},
): Socket[] {
  const all = {
    host: 'x',
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Array.from({ length: count }, () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(head + (isChunked ? `${sent.length.toString(16)}\r\n${sent}\r\n` : sent));
    return socket;
  });
}

/** Reads the first data on each connection. */
const responsesOf = (sockets: Socket[]): Promise<string[]> =>
  Promise.all(
    sockets.map(
      (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    ),
  );
