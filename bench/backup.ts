import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { buildService } from '../build.ts';
import { freePort } from '../test/ports.ts';
import { authHeaders, type Dataset, sqliteFile } from './datasets.ts';
import { muster, nodeScript, run } from './processes.ts';
import { createDatabase, type Server, startPostgres, startService } from './servers.ts';
import { quantile } from './tested-service.ts';

/**
 * Moves an organization from SQLite to PostgreSQL and back, by backups. It reports the CPU time and the peak memory of each
 * command, checks both copies, compares the CSV exports of all three databases, and then measures the latency of a page and
 * of a write while a backup runs.
 */
const risks = Number(process.argv[2] ?? 1_000_000);
const sizes = { projects: 1000, people: 20_000, risks, issues: 0 };
const baselineMs = 20_000;
const pauseMs = 20;

/** Prints what the process itself reports at its end. Its `maxRSS` would be that of this process, if that has more memory. */
const reportUsage = `data:text/javascript,import{isMainThread}from"node:worker_threads";import{readFileSync}from"node:fs";
  if(isMainThread)process.on("exit",()=>console.log("\\nusage "+JSON.stringify({...process.resourceUsage(),
  peakKb:Number(/VmHWM:.*?(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1])})))`;

/** Exports have links to the console, which must be equal. */
const port = String(await freePort());

await buildService();
const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'));
try {
  await using server = await startPostgres(folder);
  const original = await createOriginal(`sqlite:${join(folder, 'original.db')}`);
  const postgres = { ...original, url: await createDatabase(server.url, 'copy') };
  const copy = { ...original, url: `sqlite:${join(folder, 'copy.db')}` };

  await transfer(original, postgres, join(folder, 'sqlite.backup'));
  await transfer(postgres, copy, join(folder, 'postgres.backup'));
  const exports = [await exportOf(original), await exportOf(postgres), await exportOf(copy)];
  console.log(`CSV exports: ${[...new Set(exports)].join(' and ')}`);
  if (new Set(exports).size > 1) throw new Error('The copies differ.');

  await measureLatency('SQLite', original);
  await measureLatency('PostgreSQL', postgres);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Each risk and project has a history entry, as if the service had created it and nobody had changed it. */
async function createOriginal(url: string): Promise<Dataset> {
  const key = await run(...nodeScript('children/fill.ts', JSON.stringify({ url, sizes })));
  const dataset = { url, key: key.trim() };
  const database = new Sqlite(sqliteFile(dataset));
  database.exec(`
    update risks set updated_at = created_at;
    insert into history (id, subject_id, at, key_name, field, "from", "to")
    select 'hst' || substr(id, 4), id, created_at, 'bench', 'created', 'null', json_quote(title) from risks order by id;
    insert into history (id, subject_id, at, key_name, field, "from", "to")
    select 'hst' || substr(id, 4), id, created_at, 'bench', 'created', 'null', json_quote(name) from projects order by id`);
  database.close();
  return dataset;
}

async function transfer(from: Dataset, to: Dataset, file: string): Promise<void> {
  await runCommand(from, 'backup', '--output', file);
  console.log(`  ${(statSync(file).size / 1e6).toFixed(0)} MB`);
  await runCommand(to, 'restore', file);
  await runCommand(to, 'check');
}

async function runCommand({ url }: Dataset, command: string, ...args: string[]): Promise<void> {
  const started = performance.now();
  const [node, [options = '', main = '']] = muster('serve');
  const output = await run(node, [options, '--import', reportUsage, main, command, ...args], {
    MUSTER_DATABASE_URL: url,
  });
  const seconds = (performance.now() - started) / 1000;
  const [report = '', usage = ''] = output.split('\nusage ');
  const { userCPUTime, systemCPUTime, peakKb } = JSON.parse(usage) as NodeJS.ResourceUsage & {
    peakKb: number;
  };
  console.log(
    `${command} ${url.split(':')[0]}: ${((userCPUTime + systemCPUTime) / 1e6).toFixed(1)} s of CPU time, ` +
      `${seconds.toFixed(0)} s, peak ${(peakKb / 1024).toFixed(0)} MB\n  ${report.trim()}`,
  );
}

/** The number of lines and the checksum of all risks, people and projects as CSV. */
async function exportOf(dataset: Dataset): Promise<string> {
  await using service = await startService(dataset, { MUSTER_PORT: port });
  const checksum = createHash('sha256');
  let lines = 0;
  for (const path of ['/v1/risks?status=all&archived=any', '/v1/personnel', '/v1/projects']) {
    const headers = { ...authHeaders(dataset), accept: 'text/csv' };
    const response = await fetch(service.origin + path, { headers });
    if (!response.ok || !response.body) throw new Error(`${path} returned ${response.status}.`);
    for await (const chunk of response.body) {
      checksum.update(chunk);
      for (const byte of chunk) if (byte === 10) lines++;
    }
  }
  return `${lines} lines, SHA-256 ${checksum.digest('hex').slice(0, 16)}…`;
}

async function measureLatency(engine: string, dataset: Dataset): Promise<void> {
  await using service = await startService(dataset);
  // The first requests compile code.
  await probe(service, dataset, setTimeout(3000));
  await report(`${engine}, before a backup`, probe(service, dataset, setTimeout(baselineMs)));
  const backup = runCommand(dataset, 'backup', '--output', join(folder, 'during.backup'));
  await report(`${engine}, during a backup`, probe(service, dataset, backup));
  // Compared with the values before, it shows how much other work on the machine has changed.
  await report(`${engine}, after a backup`, probe(service, dataset, setTimeout(baselineMs)));
}

type Latencies = { page: number[]; write: number[] };

/** Reads a page and adds a risk again and again, side by side, until `end`. */
async function probe({ origin }: Server, dataset: Dataset, end: Promise<unknown>): Promise<Latencies> {
  let hasEnded = false;
  const ending = end.finally(() => {
    hasEnded = true;
  });
  const headers = { ...authHeaders(dataset), 'content-type': 'application/json' };
  const body = JSON.stringify({ title: 'A risk of the bench', probability: 3, impact: 3 });
  const repeat = async (path: string, init: RequestInit): Promise<number[]> => {
    const times: number[] = [];
    while (!hasEnded) {
      const started = performance.now();
      const response = await fetch(origin + path, { ...init, headers });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
      times.push(performance.now() - started);
      await setTimeout(pauseMs);
    }
    return times;
  };
  const [page, write] = await Promise.all([
    repeat('/v1/risks?limit=50', {}),
    repeat('/v1/projects/P100001/risks', { method: 'POST', body }),
    ending,
  ]);
  return { page, write };
}

async function report(title: string, measuring: Promise<Latencies>): Promise<void> {
  console.log(`${title} (load average ${loadavg()[0]?.toFixed(1)})`);
  for (const [kind, times] of Object.entries(await measuring)) {
    const [p50, p99, max] = [0.5, 0.99, 1].map((fraction) => quantile(times, fraction).toFixed(1));
    console.log(`  ${kind}: ${times.length} requests, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`);
  }
}
