import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { version } from '../src/core/version.ts';
import { type Engine, type RequestKind, readUnitCosts, type UnitCosts } from './capacity.ts';
import { databaseCpuSeconds, tableSizes } from './database-costs.ts';
import type { Sizes } from './dataset.ts';
import { createDataset, type Dataset } from './datasets.ts';
import { describeMachine } from './machine.ts';
import { blocksOthers, measureManyRows } from './many-rows.ts';
import { median } from './measurement.ts';
import { cpuSecondsOf, memoryOf } from './memory.ts';
import { nodeScript, run } from './processes.ts';
import { createDatabase, type Server, startPostgres, startService, withoutCache } from './servers.ts';

/**
 * Measures what one request costs in CPU time and one row in bytes, on both engines, and writes `unit-costs.json`, from
 * which `capacity.ts` computes. CPU time is that of the processes, so other work on the machine changes it little.
 */
const sizes: Sizes = { projects: 100, people: 20_000, risks: 100_000, issues: 50_000 };
const rounds = 3;
const requestsPerRound = 500;
const concurrency = 8;
const changes = 3000;

const file = join(import.meta.dirname, 'unit-costs.json');
const manySizes: Sizes = { projects: 100, people: 10_000, risks: 30_000, issues: 1000, tasks: 20_000 };
const manyRows = { items: 5000, people: 10_000 };
const names = process.argv.slice(2).filter((argument) => argument !== 'many-rows');
const onlyManyRows = process.argv.includes('many-rows');
const engines = names.length > 0 ? names : ['sqlite', 'postgres'];

await buildService();
const folder = mkdtempSync(join(tmpdir(), 'muster-unit-costs-'));
try {
  if (engines.includes('sqlite'))
    await measureEngine('sqlite', async (name) => `sqlite:${join(folder, `${name}.db`)}`);
  if (engines.includes('postgres')) {
    await using server = await startPostgres(folder);
    await measureEngine('postgres', (name) => createDatabase(server.url, name));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Replaces the costs of one engine, or only those of many rows. */
function save(name: keyof UnitCosts['engines'], engine: Partial<Engine>): void {
  const before: UnitCosts | undefined = existsSync(file) ? readUnitCosts() : undefined;
  const costs = {
    ...(onlyManyRows && before
      ? before
      : { muster: version, node: process.versions.node, machine: describeMachine(), dataset: sizes }),
    engines: { ...before?.engines, [name]: { ...(onlyManyRows && before?.engines[name]), ...engine } },
  };
  writeFileSync(file, `${JSON.stringify(costs, null, 2)}\n`);
  console.log(name, JSON.stringify(engine, null, 2));
}

async function measureEngine(
  name: keyof UnitCosts['engines'],
  createUrl: (name: string) => Promise<string>,
): Promise<void> {
  const requests = onlyManyRows ? {} : await measureAllRequests(await createUrl('costs'));
  const dataset = await createDataset({ url: await createUrl('many_rows'), sizes: manySizes });
  const many_rows = await measureManyRows(dataset, manyRows);
  save(name, { ...requests, many_rows });
  const blocking = Object.entries(many_rows).filter(([, costs]) => blocksOthers(costs));
  for (const [operation] of blocking) console.error(`${operation} holds up other requests on ${name}.`);
  if (blocking.length > 0) process.exitCode = 1;
}

async function measureAllRequests(url: string): Promise<Engine> {
  const key = (await run(...nodeScript('children/fill.ts', JSON.stringify({ url, sizes })))).trim();
  const storage = await measureStorage({ url, key });
  const cached = await measureRequests({ url, key }, {}, cachedAndWrites);
  // Without the cache, each response is built again.
  const built = await measureRequests({ url, key }, withoutCache, builtReads);
  return { ...storage, cpu_ms: { ...cached.cpu_ms, ...built.cpu_ms }, memory_mb: cached.memory_mb };
}

/** People, risks, issues and projects are filled in bulk; tasks, and what a change adds, come from the service. */
async function measureStorage(dataset: Dataset): Promise<Pick<Engine, 'bytes_per_row' | 'bytes_per_change'>> {
  await using service = await startService(dataset);
  const send = sender(service, dataset.key);
  const tasks = Array.from(
    { length: changes },
    (_, i) => `P${100_001 + (i % sizes.projects)},Order part ${i} again`,
  );
  await send('POST', '/v1/imports/tasks', ['Project,Title', ...tasks].join('\n'), 'text/csv');
  // The dataset has no texts, but risks that people discuss have, and each change stores them again.
  await repeat(changes, concurrency, (i) =>
    send('PATCH', riskPath(i), {
      description: `${'The only supplier has announced a strike, and there is no second source. '.repeat(3)}${i}`,
      response_plan: `${'Qualify a second supplier, and order for three months in advance. '.repeat(2)}${i}`,
    }),
  );
  const before = await tableSizes(dataset.url);
  await repeat(changes, concurrency, (i) =>
    send('PATCH', riskPath(i), { title: `The supplier of part ${i} is late`, review_on: '2099-12-31' }),
  );
  const after = await tableSizes(dataset.url);
  const grown = (table: string) =>
    Math.round(((after[table]?.bytes ?? 0) - (before[table]?.bytes ?? 0)) / changes);
  const perRow = (table: string) => Math.round((before[table]?.bytes ?? 0) / (before[table]?.rows ?? 1));
  return {
    bytes_per_row: {
      people: perRow('people') + perRow('memberships'),
      projects: perRow('projects'),
      risks: perRow('risks'),
      issues: perRow('issues'),
      tasks: perRow('tasks'),
    },
    bytes_per_change: {
      history: grown('history'),
      events: grown('events'),
      past_risks: grown('past_risks'),
    },
  };
}

/** How many requests to send, how many at once, and how many units each of them has. */
type Kind = {
  count: number;
  concurrency: number;
  units: number;
  request: (i: number) => Promise<unknown>;
};
type Kinds = Partial<Record<RequestKind, Kind>>;

async function cachedAndWrites(send: Send): Promise<Kinds> {
  const page = '/v1/risks?limit=50';
  const etag = (await send('GET', page)).headers.get('etag') ?? '';
  const some = { count: requestsPerRound, concurrency, units: 1 };
  const many = { ...some, count: 5 * requestsPerRound };
  let created = 0;
  return {
    cached_page: { ...many, request: () => send('GET', page) },
    not_modified: { ...many, request: () => send('GET', page, undefined, undefined, etag) },
    change: { ...some, request: (i) => send('PATCH', riskPath(i), { title: `Late ${created++}` }) },
    creation: {
      ...some,
      request: (i) =>
        send('POST', '/v1/projects/P100001/risks', {
          title: `Risk ${created++}`,
          probability: (i % 5) + 1,
          impact: 3,
        }),
    },
  };
}

async function builtReads(send: Send): Promise<Kinds> {
  const some = { count: requestsPerRound, concurrency, units: 1 };
  const few = { count: 3, concurrency: 1 };
  return {
    page: { ...some, request: () => send('GET', '/v1/risks?limit=50') },
    one_resource: { ...some, request: (i) => send('GET', riskPath(i)) },
    // A few of all risks match.
    search: {
      count: 20,
      concurrency: 1,
      units: 1,
      request: (i) => send('GET', `/v1/risks?limit=50&q=${12_345 + i}`),
    },
    list_per_1000_rows: { ...few, units: sizes.people / 1000, request: () => send('GET', '/v1/personnel') },
    summary_per_1000_risks: {
      ...few,
      units: sizes.risks / 1000,
      request: () => send('GET', '/v1/risks/summary'),
    },
  };
}

async function measureRequests(
  dataset: Dataset,
  environment: Record<string, string>,
  kindsOf: (send: Send) => Promise<Kinds>,
) {
  await using service = await startService(dataset, environment);
  const cpu_ms = {} as Engine['cpu_ms'];
  for (const [kind, { count, concurrency, units, request }] of Object.entries(
    await kindsOf(sender(service, dataset.key)),
  )) {
    // The first requests compile code and fill caches.
    await repeat(Math.ceil(count / 5), concurrency, request);
    const measured: Record<'service' | 'database', number>[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = [cpuSecondsOf(service.pid), await databaseCpuSeconds(dataset.url)] as const;
      await repeat(count, concurrency, request);
      const perUnit = (seconds: number) => (seconds * 1000) / count / units;
      measured.push({
        service: perUnit(cpuSecondsOf(service.pid) - start[0]),
        database: perUnit((await databaseCpuSeconds(dataset.url)) - start[1]),
      });
    }
    const middle = (side: 'service' | 'database') =>
      Number(median(measured.map((one) => one[side])).toPrecision(2));
    cpu_ms[kind as RequestKind] = { service: middle('service'), database: middle('database') };
    console.log(kind, cpu_ms[kind as RequestKind]);
  }
  return { cpu_ms, memory_mb: Math.round(memoryOf(service.pid)) };
}

type Send = ReturnType<typeof sender>;

function sender({ origin }: Server, key: string) {
  return async (
    method: string,
    path: string,
    body?: object | string,
    type = 'application/json',
    etag?: string,
  ) => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': type }),
        ...(etag && { 'if-none-match': etag }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 400) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return response;
  };
}

/** Sends requests on several connections at once. */
async function repeat(
  count: number,
  concurrency: number,
  request: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await request(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Paths of open risks of the dataset. */
function riskPath(i: number): string {
  const project = `P${100_001 + (i % sizes.projects)}`;
  const number = Math.floor(i / sizes.projects) % ((sizes.risks / sizes.projects) * 0.9);
  // Each tenth risk is closed.
  return `/v1/projects/${project}/risks/${project}-R${number + Math.floor(number / 9) + 1}`;
}
