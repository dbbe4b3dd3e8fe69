import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceOptions } from './children/service.ts';
import { chooseTool } from './load.ts';
import { median } from './measurement.ts';
import { cpuSecondsOf, memoryOf, peakMemoryOf, resetPeak } from './memory.ts';
import { nodeScript, type Running, start } from './processes.ts';
import { defaultConnections } from './runner.ts';
import { createDatabase, startPostgres } from './servers.ts';

/**
 * Measures what events cost: the throughput of `POST /v1/personnel` with and without its event, in turn in the same run;
 * one follower that reads the log; and many streams that get each event.
 */
const seconds = Number(process.argv[2] ?? 5);
const rounds = 3;
const streams = 1_000;
const streamedEvents = 100;
const lastName = 'The last person';

const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'));
try {
  await measure('SQLite', async (name) => `sqlite:${join(folder, `${name}.db`)}`);
  await using postgres = await startPostgres(folder);
  await measure('PostgreSQL', (name) => createDatabase(postgres.url, name));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(engine: string, createDatabase: (name: string) => Promise<string>): Promise<void> {
  await using withEvents = await startService(await createDatabase('events'), { hasEvents: true });
  await using without = await startService(await createDatabase('none'), { hasEvents: false });
  console.log(engine);
  await compareAdding(withEvents, without);
  await followAll(withEvents);
  await fanOut(withEvents);
}

type Service = Running & { origin: string; key: string };

async function startService(url: string, options: ServiceOptions): Promise<Service> {
  const running = start(...nodeScript('children/service.ts', JSON.stringify(options)), {
    MUSTER_DATABASE_URL: url,
    MUSTER_PORT: '0',
    MUSTER_RATE_LIMIT: '0',
  });
  const [, origin = '', key = ''] = await running.waitForOutput(/ is ready at (\S+)[\s\S]*(mst_\w+)/);
  return { ...running, origin, key };
}

async function compareAdding(withEvents: Service, without: Service): Promise<void> {
  const results: { with: Adding; without: Adding }[] = [];
  for (const service of [without, withEvents]) await addPeople(service, 2);
  for (let round = 0; round < rounds; round++) {
    results.push({ without: await addPeople(without), with: await addPeople(withEvents) });
  }
  const rate = (side: 'with' | 'without') =>
    median(results.map((round) => round[side].per_second)).toFixed(0);
  const cpu = (side: 'with' | 'without') =>
    `${median(results.map((round) => round[side].cpu_us)).toFixed(0)} µs of CPU time`;
  const ratio = median(results.map((round) => round.with.per_second / round.without.per_second));
  console.log(
    `  POST /v1/personnel: ${rate('with')}/s, ${cpu('with')}; without its event ${rate('without')}/s, ` +
      `${cpu('without')}; ratio ${ratio.toFixed(2)}`,
  );
}

type Adding = { per_second: number; cpu_us: number };

async function addPeople({ origin, key, pid }: Service, duration = seconds): Promise<Adding> {
  const path = '/v1/personnel';
  const body =
    '{"name":"Bench Person","email":"{n}@example.com","title":"Engineer","department":"Operations"}';
  const before = cpuSecondsOf(pid);
  const { requests, per_second } = await chooseTool(undefined).send(
    {
      origins: [origin],
      connections: defaultConnections,
      path,
      headers: headersOf(key),
      writes: { every: 1, method: 'POST', path, body },
    },
    duration,
  );
  return { per_second, cpu_us: ((cpuSecondsOf(pid) - before) / requests) * 1e6 };
}

/** Reads the log from its start, a page at a time. */
async function followAll({ origin, key, pid }: Service): Promise<void> {
  const before = cpuSecondsOf(pid);
  const started = performance.now();
  let events = 0;
  for (let after = 0, hasMore = true; hasMore; ) {
    const response = await fetch(`${origin}/v1/events?after=${after}&limit=1000`, {
      headers: headersOf(key),
    });
    const { data, page, meta } = (await response.json()) as {
      data: unknown[];
      page: { has_more: boolean };
      meta: { next_after: number };
    };
    events += data.length;
    after = meta.next_after;
    hasMore = page.has_more;
  }
  const perSecond = events / ((performance.now() - started) / 1000);
  const cpu = ((cpuSecondsOf(pid) - before) / events) * 1e6;
  console.log(
    `  one follower: ${perSecond.toFixed(0)} of ${events} events/s, ${cpu.toFixed(0)} µs of CPU time each`,
  );
}

/** Adds people one after another while many streams follow. Ends when every stream has the last event. */
async function fanOut({ origin, key, pid }: Service): Promise<void> {
  const idle = memoryOf(pid);
  const open: Awaited<ReturnType<typeof openStream>>[] = [];
  // All at once would be rejected as overload.
  while (open.length < streams) {
    open.push(...(await Promise.all(Array.from({ length: 50 }, () => openStream(origin, key)))));
  }
  const connected = memoryOf(pid);
  resetPeak(pid);
  const before = cpuSecondsOf(pid);
  const started = performance.now();
  const all = Promise.all(open.map(({ ended }) => ended));
  for (let i = 1; i <= streamedEvents; i++) {
    const name = i === streamedEvents ? lastName : `Person ${i}`;
    const response = await fetch(`${origin}/v1/personnel`, {
      method: 'POST',
      headers: { ...headersOf(key), 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    if (!response.ok) throw new Error(`POST returned ${response.status}`);
  }
  await all;
  const sent = streams * streamedEvents;
  const perSecond = sent / ((performance.now() - started) / 1000);
  const cpu = ((cpuSecondsOf(pid) - before) / sent) * 1e6;
  console.log(
    `  ${streams} streams: ${perSecond.toFixed(0)} events/s, ${cpu.toFixed(1)} µs of CPU time each; memory ` +
      `${idle.toFixed(0)} MB without streams, ${connected.toFixed(0)} MB with, peak ${peakMemoryOf(pid).toFixed(0)} MB`,
  );
  for (const { socket } of open) socket.destroy();
}

/** Resolves when the stream is open. `ended` resolves when the last event has arrived. */
async function openStream(origin: string, key: string): Promise<{ socket: Socket; ended: Promise<void> }> {
  const { hostname, port } = new URL(origin);
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  let rest = '';
  socket.on('data', (text) => {
    if (/^HTTP\/1.1 (?!200)/.test(String(text))) opened.reject(new Error(String(text)));
    else opened.resolve();
    rest += text;
    if (rest.includes(lastName)) ended.resolve();
    rest = rest.slice(-lastName.length);
  });
  socket.on('error', opened.reject);
  socket.write(
    `GET /v1/events/stream HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\naccept: text/event-stream\r\n\r\n`,
  );
  await opened.promise;
  return { socket, ended: ended.promise };
}

function headersOf(key: string) {
  return { authorization: `Bearer ${key}` };
}
