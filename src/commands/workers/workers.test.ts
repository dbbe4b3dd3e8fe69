import assert from 'node:assert/strict';
import type { Agent } from 'node:http';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { runConcurrently } from '../../../test/concurrency.ts';
import { muster, temporaryFolder } from '../../../test/process.ts';
import { onBothEngines } from '../../../test/service.ts';
import { startWorkers, type WorkerResponse } from '../../../test/workers.ts';

onBothEngines('two workers', (_, engine) => {
  test('a read that starts after an acknowledged write includes it, in either worker', async (t) => {
    const service = await startWorkers(t, engine);
    const { send } = service;
    await send('POST', '/v1/projects', { name: 'A0', key: 'APOLLO' });
    const checks = 1000;
    let acknowledged = 0;
    let read = 0;
    const write = async () => {
      while (read < checks) {
        const next = acknowledged + 1;
        assert.equal((await send('PATCH', '/v1/projects/APOLLO', { name: `A${next}` })).status, 200);
        acknowledged = next;
        // Leaves time to serve responses from the cache in between.
        await setTimeout(Math.random() * 10);
      }
    };
    const check = async (path: string) => {
      while (read++ < checks) {
        const before = acknowledged;
        const { body } = await send('GET', path);
        const [project = body] = body.data ?? [];
        assert.ok(Number(project.name.slice(1)) >= before, `${project.name} after A${before}`);
      }
    };
    const paths = ['/v1/projects?limit=5', '/v1/projects/APOLLO', '/v1/projects'];
    await Promise.all([write(), ...[...paths, ...paths].map(check)]);
    assert.ok(acknowledged > 10);
    assert.equal(new Set(service.requestPids()).size, 2, 'both workers served requests');
  });

  test('a key change applies to the next request to the other worker', async (t) => {
    const { send, connectToEach } = await startWorkers(t, engine);
    const [one, other] = await connectToEach();
    for (let i = 0; i < 10; i++) {
      const input = { name: 'x', scopes: ['personnel.read'] };
      const { id, secret } = (await send('POST', '/v1/keys', input, undefined, one)).body;
      const read = async () => (await send('GET', '/v1/groups?limit=5', undefined, secret, other)).status;
      for (let n = 0; n < 3; n++) assert.equal(await read(), 200);
      assert.equal((await send('DELETE', `/v1/keys/${id}`, undefined, undefined, one)).status, 204);
      assert.equal(await read(), 401);
    }
  });

  test('every worker returns the metrics of all workers, which do not decrease when one is killed', async (t) => {
    const service = await startWorkers(t, engine);
    const { send } = service;
    const counted =
      'muster_http_request_duration_seconds_count{method="GET",route="/v1/groups",status="200"}';
    const requests = 40;
    const [one, other] = await service.connectToEach();
    for (let i = 0; i < requests; i++) {
      const connection = i % 2 === 0 ? one : other;
      assert.equal((await send('GET', '/v1/groups', undefined, undefined, connection)).status, 200);
    }
    const values = async () => {
      const { text } = await send('GET', '/metrics');
      const names = Array.from(text.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name);
      assert.equal(new Set(names).size, names.length, 'each metric is listed once');
      return (name: string) =>
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${name} `))
            ?.split(' ')
            .at(-1),
        );
    };
    // A request is counted when its response has been sent, which the client may notice first.
    while ((await values())(counted) !== requests) await setTimeout(1);
    for (let i = 0; i < 4; i++) {
      const value = await values();
      assert.equal(value(counted), requests);
      assert.equal(value('muster_response_cache_max_bytes'), 64 * 1024 * 1024);
      assert.equal(value('muster_webhook_deliveries_pending'), 0);
    }
    const startedAt = (await values())('process_start_time_seconds');
    service.kill(...service.pids().slice(0, 1));
    let value = await values();
    assert.equal(value(counted), requests);
    while (value('process_start_time_seconds') === startedAt) value = await values();
    assert.equal(value(counted), requests);
  });

  test('a worker that is killed is replaced, and no acknowledged write is lost', async (t) => {
    const service = await startWorkers(t, engine);
    const created: string[] = [];
    let isOver = false;
    const write = async (writer: number) => {
      for (let i = 0; !isOver; i++) {
        const name = `Group ${writer}-${i}`;
        const response = await service.send('POST', '/v1/groups', { name }).catch(() => undefined);
        if (response) assert.equal(response.status, 201, response.text);
        if (response) created.push(name);
      }
    };
    const writers = [1, 2, 3, 4].map(write);
    for (let round = 0; round < 3; round++) {
      const before = created.length;
      service.kill(...service.pids().slice(0, 1));
      await service.started(3 + round);
      while (created.length < before + 10) await setTimeout(1);
    }
    isOver = true;
    await Promise.all(writers);
    const { data } = (await service.send('GET', '/v1/groups')).body;
    const stored = new Set(data.map(({ name }: { name: string }) => name));
    for (const name of created) assert.ok(stored.has(name), name);
    assert.match(service.stderr(), /ended with SIGKILL\. Another one starts in \d+ ms/);
  });

  test('the service keeps its port when all workers are killed at once', async (t) => {
    const service = await startWorkers(t, engine);
    service.kill(...service.pids());
    let response: WorkerResponse | undefined;
    while (!response) response = await service.send('GET', '/v1/groups').catch(() => undefined);
    assert.equal(response.status, 200);
  });

  test('on SIGTERM to all processes, requests in flight of all workers finish', async (t) => {
    const service = await startWorkers(t, engine);
    const names = ['A', 'B', 'C', 'D'];
    const uploads = await Promise.all(names.map((name) => service.startUpload(name)));
    service.child.kill('SIGTERM');
    for (const pid of service.pids()) process.kill(pid, 'SIGTERM');
    // A worker without requests in flight ends at once, and resets a connection that it has just accepted.
    const isReady = () =>
      service.send('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      );
    while (await isReady());
    for (const upload of uploads) assert.equal(await upload.finish(), 201);
    assert.equal(await service.exit, 0);
    assert.doesNotMatch(service.stderr(), /"level":[456]0/);
  });
});

onBothEngines('rate limits of two workers', (_, engine) => {
  test('count the requests to all workers', async (t) => {
    const limit = 500;
    const service = await startWorkers(t, engine, { MUSTER_RATE_LIMIT: String(limit) });
    const [one, other] = await service.connectToEach();
    const { secret } = (await service.send('POST', '/v1/keys', { name: 'x', scopes: ['personnel.read'] }))
      .body;
    let sent = 0;
    const remaining = async (connection?: Agent) => {
      const { headers } = await service.send('GET', '/v1/groups', undefined, secret, connection);
      sent++;
      const left = Number(/r=(\d+)/.exec(String(headers.ratelimit))?.[1]);
      assert.ok(left >= limit - sent, `${left} left after ${sent} of ${limit}`);
      return left;
    };
    for (let i = 0; i < 10; i++) await remaining(one);
    while ((await remaining(other)) !== limit - sent);
    while ((await remaining(one)) !== limit - sent);
    assert.ok(sent < limit);
  });

  test('admit at most the limit of each worker, however fast requests arrive', async (t) => {
    const limit = 50;
    const service = await startWorkers(t, engine, { MUSTER_RATE_LIMIT: String(limit) });
    const statuses: number[] = [];
    await runConcurrently(Array(200).fill('/v1/groups'), async (path) => {
      statuses.push((await service.send('GET', path)).status);
    });
    const admitted = statuses.filter((status) => status === 200).length;
    assert.ok(admitted > 0 && admitted <= 2 * limit, `${admitted} admitted`);
    assert.ok(statuses.includes(429));
  });
});

test('a start that fails prints one line, whichever process fails', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const errors: [Record<string, string>, RegExp][] = [
    [{ MUSTER_PORT: String(port) }, /is already in use\. Stop the other process/],
    [{ MUSTER_PORT: '0', MUSTER_HOST: '203.0.113.1' }, /is not an address of this machine/],
    [
      { MUSTER_PORT: '0', MUSTER_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/x' },
      /cannot be reached \(.*ECONNREFUSED/,
    ],
    [
      { MUSTER_WORKERS: '5', MUSTER_DATABASE_URL: 'postgres://127.0.0.1/x' },
      /MUSTER_DATABASE_POOL is 24 but must be at least 5 for each of the 5 workers/,
    ],
    [{ MUSTER_WORKERS: '0' }, /MUSTER_WORKERS is “0” but must be a whole number of processes/],
  ];
  for (const [environment, expected] of errors) {
    const { code, stdout, stderr } = await muster(temporaryFolder(t), ['serve'], {
      MUSTER_WORKERS: '2',
      ...environment,
    });
    assert.equal(code, 1, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, expected);
    assert.match(stderr, /^muster: [^\n]+\n$/);
  }
});
