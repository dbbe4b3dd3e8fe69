import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startMuster, temporaryFolder } from '../../../test/process.ts';

test('without free file descriptors there is no 500, and the console is served', async (t) => {
  const maxFiles = 60;
  const { origin, key } = await startMuster(t, temporaryFolder(t), {}, 'serve', { maxFiles });
  // Opens connections while descriptors are left.
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  t.after(() => agent.destroy());
  const request = (path: string) =>
    new Promise<{ status: number; retryAfter: string | undefined; body: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      get(origin + path, { agent, headers }, async (response) => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, retryAfter: headers['retry-after'], body: await text(response) });
      }).on('error', reject);
    });
  const probes = await Promise.all(Array.from({ length: 8 }, () => request('/livez')));
  for (const { status } of probes) assert.equal(status, 200);

  const { port, hostname } = new URL(origin);
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let i = 0; i < maxFiles; i++) sockets.push(connect(Number(port), hostname).on('error', () => {}));
  // The server closes connections that it cannot accept.
  while (!sockets.some(({ readyState }) => readyState === 'closed')) await setTimeout(10);

  const page = await request('/');
  assert.equal(page.status, 200, page.body);
  const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page.body) ?? [];
  assert.equal((await request(new URL(script, `${origin}/`).pathname)).status, 200);
  // Concurrent, because the database opens more connections for more readers.
  const pages = Array.from({ length: 16 }, (_, i) => `/v1/risks?limit=${i + 1}`);
  const paths = ['/v1/personnel', '/v1/risks', '/v1/risks/summary', '/docs', ...pages];
  for (const { status, retryAfter, body } of await Promise.all(paths.map(request))) {
    assert.ok(status === 200 || (status === 503 && retryAfter), `${status} ${body}`);
  }

  for (const socket of sockets) socket.destroy();
  for (const path of ['/v1/personnel', '/v1/risks/summary']) {
    let status = 0;
    for (let i = 0; i < 500 && status !== 200; i++) {
      await setTimeout(10);
      status = (await request(path)).status;
    }
    assert.equal(status, 200, path);
  }
});
