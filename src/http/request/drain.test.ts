import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { isInstalled } from '../../../test/programs.ts';
import { proxies } from '../../../test/proxies.ts';
import { startTestService, type TestService, withKey } from '../../../test/service.ts';
import { closeAfterDraining } from './drain.ts';

const body = Buffer.alloc(8 * 1024 * 1024, ' ');

/** Requests with a large body that are rejected before the body has arrived. */
async function rejections(service: TestService) {
  const key = await service.key();
  const reader = await service.key('personnel.read');
  const json = 'application/json';
  return [
    { status: 401, path: '/v1/groups', headers: { 'content-type': json } },
    { status: 401, path: '/v1/groups', headers: { authorization: 'Bearer mst_x', 'content-type': json } },
    { status: 403, path: '/v1/groups', headers: { authorization: `Bearer ${reader}`, 'content-type': json } },
    { status: 404, path: '/v1/nothing', headers: { authorization: `Bearer ${key}`, 'content-type': json } },
    { status: 405, path: '/v1/risks', headers: { authorization: `Bearer ${key}`, 'content-type': json } },
    { status: 413, path: '/v1/groups', headers: { authorization: `Bearer ${key}`, 'content-type': json } },
    { status: 413, path: '/v1/session', headers: { 'content-type': json } },
    {
      status: 415,
      path: '/v1/groups',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'text/x' },
    },
    {
      status: 415,
      path: '/v1/groups',
      headers: { authorization: `Bearer ${key}`, 'content-type': json, 'content-encoding': 'gzip' },
    },
  ];
}

for (const { name, program, start } of proxies) {
  test(`early rejections of large bodies arrive through ${name}`, async (t) => {
    if (!isInstalled(program)) return t.skip(`${program} is not installed`);
    const service = await startTestService(t, 'sqlite');
    const origin = await start(t, service.origin);
    for (const { status, path, headers } of await rejections(service)) {
      for (const size of [body.length, 200_000, 100]) {
        if (size < body.length && status === 413) continue;
        const response = await fetch(origin + path, {
          method: 'POST',
          headers,
          body: body.subarray(0, size),
        });
        const received = await response.json();
        assert.deepEqual([response.status, received.status], [status, status], `${path} ${size}`);
      }
    }
  });
}

/** Sends a request, and reads nothing before all of it is sent, as a proxy may do. */
const sendThenRead = (origin: string, head: string, body: Buffer) =>
  new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').pause();
    socket.write(head);
    socket.write(body, () => socket.resume());
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('close', () => resolve(received)).on('error', reject);
  });

test('a client that reads only after sending its whole request receives an early rejection', async (t) => {
  const service = await startTestService(t, 'sqlite');
  for (const { status, path, headers } of await rejections(service)) {
    const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = `content-length: ${body.length}\r\n`;
    for (const framing of [length, `${length}connection: close\r\n`]) {
      const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}${framing}\r\n`;
      const received = await sendThenRead(service.origin, head, body);
      assert.match(received, new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n.*}$`, 'is'), head);
    }
  }
});

test('a small rejected body is read to its end, and the connection stays open', async (t) => {
  const service = await startTestService(t, 'sqlite');
  const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
    // The rest of the first body, then a second request.
    if (received.endsWith('}') && !received.includes('"live"')) {
      socket.write('x'.repeat(50_000));
      socket.write('GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    }
  });
  socket.write('POST /v1/groups HTTP/1.1\r\nhost: x\r\ncontent-length: 50000\r\n\r\n');
  await new Promise((resolve) => socket.on('close', resolve));
  assert.match(received, /^HTTP\/1\.1 401 .*HTTP\/1\.1 200 /s);
});

test('requests after a rejected one on a connection that closes are not processed', async (t) => {
  const { service, key } = await withKey(startTestService(t, 'sqlite'));
  const authorization = `authorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
  const rejected = `POST /v1/groups HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
  const name = '{"name":"x"}';
  const second = `POST /v1/groups HTTP/1.1\r\nhost: x\r\n${authorization}content-length: ${name.length}\r\n\r\n${name}`;
  const received = await sendThenRead(service.origin, rejected, Buffer.concat([body, Buffer.from(second)]));
  assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1);
  assert.equal((await service.get('/v1/groups', key)).body.page.total, 0);
});

test('draining ends at a number of bytes and at a time', async (t) => {
  const chunk = Buffer.alloc(64 * 1024);
  for (const limits of [
    { bytes: 1_000_000, ms: 600_000 },
    { bytes: Number.POSITIVE_INFINITY, ms: 50 },
  ]) {
    const accepted = Promise.withResolvers<Socket>();
    const server = createServer({ allowHalfOpen: true }, accepted.resolve).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const client = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    client.on('error', () => {}).resume();
    const sender = setInterval(() => client.write(chunk), 1);
    client.once('close', () => clearInterval(sender));
    const socket = await accepted.promise;
    closeAfterDraining(socket, limits);
    await new Promise((resolve) => socket.once('close', resolve));
    assert.ok(socket.bytesRead < limits.bytes + 1_000_000);
    client.destroy();
  }
});
