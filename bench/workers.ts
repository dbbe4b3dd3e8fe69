import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import type { Sizes } from './dataset.ts';
import { authHeaders, type Dataset } from './datasets.ts';
import { chooseTool, type Load } from './load.ts';
import { describeMachine } from './machine.ts';
import { median } from './measurement.ts';
import { cpuSecondsOf, memoryOf } from './memory.ts';
import { nodeScript, run } from './processes.ts';
import { createDatabase, type Server, startPostgres, startService, withoutCache } from './servers.ts';

/**
 * Measures one and two workers in turns, on both engines. CPU time is that of all processes of the service. The load
 * generator shares the CPUs, so on a machine with two of them requests per second show less than the workers could do.
 */
const sizes: Sizes = { projects: 100, people: 10_000, risks: 100_000, issues: 10_000 };
const rounds = 4;
/** Long, because each worker compiles its code for itself. */
const warm = 8;
const seconds = 3;
const connections = 32;
const counts = [1, 2];

type Workload = {
  name: string;
  path: string;
  environment?: Record<string, string>;
  writes?: { every: number; method: 'POST'; path: string; body: string };
};
const page = '/v1/risks?limit=50';
const person =
  '{"name":"Bench Person","email":"{n}@example.com","title":"Engineer","department":"Operations"}';
const workloads: Workload[] = [
  { name: 'page from the cache', path: page },
  { name: 'page rebuilt', path: page, environment: withoutCache },
  {
    name: 'POST /v1/personnel',
    path: '/v1/personnel',
    writes: { every: 1, method: 'POST', path: '/v1/personnel', body: person },
  },
];

await buildService();
const tool = chooseTool(undefined);
console.log(JSON.stringify({ ...describeMachine(), load: tool.name, connections, rounds, seconds }));
const engines = process.argv.length > 2 ? process.argv.slice(2) : ['sqlite', 'postgres'];
const folder = mkdtempSync(join(tmpdir(), 'muster-workers-'));
try {
  if (engines.includes('sqlite')) await measureEngine('SQLite', `sqlite:${join(folder, 'muster.db')}`);
  if (engines.includes('postgres')) {
    await using server = await startPostgres(folder);
    await measureEngine('PostgreSQL', await createDatabase(server.url, 'workers'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureEngine(engine: string, url: string): Promise<void> {
  const key = (await run(...nodeScript('children/fill.ts', JSON.stringify({ url, sizes })))).trim();
  console.log(
    `| ${engine} | workers | req/s | p50 | p99 | CPU per request | memory |\n|---|---|---|---|---|---|---|`,
  );
  for (const workload of workloads) await measureWorkload({ url, key }, workload);
}

async function measureWorkload(dataset: Dataset, workload: Workload): Promise<void> {
  const results = new Map<number, Result[]>(counts.map((workers) => [workers, []]));
  await using stack = new AsyncDisposableStack();
  const services = new Map<number, Server>();
  for (const workers of counts) {
    const environment = { ...workload.environment, MUSTER_WORKERS: String(workers) };
    const service = stack.use(await startService(dataset, environment));
    services.set(workers, service);
    // On a busy machine, the service may reject requests before it is warm.
    await measure(service, dataset, workload, warm).catch(() => {});
  }
  for (let round = 0; round < rounds; round++) {
    for (const [workers, service] of services) {
      results.get(workers)?.push(await measure(service, dataset, workload, seconds));
    }
  }
  for (const [workers, rounds] of results) {
    const middle = (read: (result: Result) => number) => median(rounds.map(read));
    const cells = [
      workload.name,
      workers,
      Math.round(middle(({ per_second }) => per_second)),
      `${middle(({ p50_ms }) => p50_ms).toFixed(1)} ms`,
      `${middle(({ p99_ms }) => p99_ms).toFixed(0)} ms`,
      `${Math.round(middle(({ cpu_us }) => cpu_us))} µs`,
      `${Math.round(middle(({ mb }) => mb))} MB`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

type Result = Load & { cpu_us: number; mb: number };

async function measure(
  service: Server,
  dataset: Dataset,
  workload: Workload,
  seconds: number,
): Promise<Result> {
  const { path, writes } = workload;
  const pids = processesOf(service.pid);
  const cpu = () => pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  const before = cpu();
  const load = await tool.send(
    {
      origins: [service.origin],
      connections,
      path,
      headers: authHeaders(dataset),
      ...(writes && { writes }),
    },
    seconds,
  );
  const cpu_us = ((cpu() - before) / load.requests) * 1e6;
  return { ...load, cpu_us, mb: pids.reduce((sum, pid) => sum + memoryOf(pid), 0) };
}

/** A process and its children. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}
