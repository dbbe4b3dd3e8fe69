import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { cpuSecondsOf } from './memory.ts';
import { muster, start } from './processes.ts';
import { startPostgres } from './servers.ts';

/**
 * Measures how many events a second one instance delivers to a local receiver that responds at once. The events exist
 * before the measurement: it starts with a replay of all of them and ends with the last request to the receiver.
 */
const events = Number(process.argv[2] ?? 3_000);
const csv = ['name', ...Array.from({ length: events }, (_, i) => `Person ${i}`)].join('\n');

await buildService();
const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'));
try {
  await measure('SQLite', `sqlite:${join(folder, 'muster.db')}`);
  await using postgres = await startPostgres(folder);
  await measure('PostgreSQL', postgres.url);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(engine: string, url: string): Promise<void> {
  await using service = start(...muster('serve'), {
    MUSTER_DATABASE_URL: url,
    MUSTER_PORT: '0',
    MUSTER_RATE_LIMIT: '0',
    MUSTER_WEBHOOK_ALLOW: '127.0.0.1',
  });
  const [, origin, key] = await service.waitForOutput(/ is ready at (\S+)[\s\S]*(mst_\w+)/);
  const post = async (path: string, body: string, type = 'application/json') => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': type };
    const response = await fetch(origin + path, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${path} returned ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  await post('/v1/personnel/import', csv, 'text/csv');
  for (const count of [1, 10]) {
    await using receiver = await startReceiver(count * events);
    const webhooks: string[] = [];
    for (let i = 0; i < count; i++) {
      const target = JSON.stringify({ url: receiver.url, types: ['person.created'] });
      webhooks.push((await post('/v1/webhooks', target)).id);
    }
    const cpuBefore = cpuSecondsOf(service.pid);
    const started = performance.now();
    for (const id of webhooks) await post(`/v1/webhooks/${id}/replay`, '{"after":0}');
    await receiver.all;
    const seconds = (performance.now() - started) / 1000;
    const cpu = cpuSecondsOf(service.pid) - cpuBefore;
    const deliveries = count * events;
    console.log(
      `${engine}, ${count} ${count === 1 ? 'webhook' : 'webhooks'}: ${(deliveries / seconds).toFixed(0)} deliveries/s, ` +
        `${((cpu / deliveries) * 1000).toFixed(2)} ms of CPU time each, ${receiver.repeated()} repeated`,
    );
    for (const id of webhooks) {
      await fetch(`${origin}/v1/webhooks/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${key}` },
      });
    }
  }
}

/** Counts messages until `expected` have arrived. */
async function startReceiver(expected: number) {
  const seen = new Map<string, number>();
  let received = 0;
  const all = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const id = String(request.headers['webhook-id']);
      seen.set(id, (seen.get(id) ?? 0) + 1);
      response.writeHead(204).end();
      if (++received === expected) all.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    all: all.promise,
    /** Messages beyond one per event and webhook. */
    repeated: () => received - expected,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
