import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { buildService } from '../build.ts';
import { systemClock } from '../src/core/clock.ts';
import { newId } from '../src/core/ids.ts';
import { personRow } from '../src/resources/personnel/queries.ts';
import { openDatabase } from '../src/store/open.ts';
import type { BackgroundLoad } from './children/background-load.ts';
import { cpuSecondsOf, peakMemoryOf } from './memory.ts';
import { muster, nodeScript, start } from './processes.ts';
import { createDatabase, startPostgres } from './servers.ts';

/**
 * Compares the import of people from CSV over HTTP with a raw loop of prepared inserts of the same rows, with the same
 * durability but without parsing, validation and matching. Both run in turn, and the best run of each counts. It reports
 * wall-clock time and the CPU time of the writing process, which is the better measure on a busy machine. It also reports
 * the latency of a background load during the import.
 */
const rows = Number(process.argv[2] ?? 100_000);
const repetitions = 3;
/** About the number of rows that the import writes per transaction. */
const batchRows = 250;

const people = Array.from({ length: rows }, (_, i) => ({
  name: `${['Ada', 'Grace', 'Zoë', 'Jürgen', 'Mary'][i % 5]} ${['Lovelace', 'Hopper', 'Müller'][i % 3]} ${(i * 7919) % rows}`,
  email: `person.${i}@example.com`,
  title: `Engineer ${i % 40}`,
  department: `Department ${i % 60}`,
  location: `Site ${i % 12}`,
  phone: '+44 20 7946 0000',
  time_zone: 'Europe/London',
  skills: ['planning', 'first aid'],
  start_on: '2020-01-31',
  external_id: `hr-${i}`,
}));

const csv = Buffer.from(
  [
    'Name,E-mail,Job title,Department,Location,Phone,Time zone,Skills,Start date,Employee id',
    ...people.map(({ skills, ...person }) =>
      Object.values(person).toSpliced(7, 0, skills.join('; ')).join(','),
    ),
  ].join('\r\n'),
);

/** The stored rows: a person and the history entry of their creation. They are built before the measurement. */
const stored = people.map((person) => {
  const moment = systemClock();
  const row = personRow(newId('person'), person, moment);
  const entry = {
    id: newId('history'),
    subject_id: row.user_id,
    at: moment.now,
    key_id: null,
    key_name: 'raw',
    field: 'created',
    from: 'null',
    to: JSON.stringify(row.name),
    reason: null,
  };
  return { row, entry, values: Object.values(row), entryValues: Object.values(entry) };
});

await buildService();
const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'));
try {
  console.log(`${rows} people, ${(csv.length / 1024 / 1024).toFixed(1)} MiB of CSV, best of ${repetitions}`);
  await measure('SQLite', async (name) => `sqlite:${join(folder, `${name}.db`)}`, rawSqlite);
  await using postgres = await startPostgres(folder);
  await measure('PostgreSQL', (name) => createDatabase(postgres.url, name), rawPostgres);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(
  engine: string,
  createDatabase: (name: string) => Promise<string>,
  raw: (url: string) => Promise<void>,
): Promise<void> {
  const rawRuns: { seconds: number; cpu: number }[] = [];
  const importRuns: { seconds: number; cpu: number; peak: number; times: number[] }[] = [];
  for (let run = 1; run <= repetitions; run++) {
    const url = await createDatabase(`raw${run}`);
    const database = openDatabase(url);
    await database.migrate();
    await database.close();
    const before = process.cpuUsage();
    const seconds = await measureSeconds(() => raw(url));
    const { user, system } = process.cpuUsage(before);
    rawRuns.push({ seconds, cpu: (user + system) / 1e6 });
    importRuns.push(await measureImport(await createDatabase(`import${run}`)));
  }
  const best = (runs: { seconds: number; cpu: number }[], by: 'seconds' | 'cpu') =>
    rows / Math.min(...runs.map((run) => run[by]));
  const compare = (by: 'seconds' | 'cpu') =>
    `${best(importRuns, by).toFixed(0)} rows/s imported, ${best(rawRuns, by).toFixed(0)} in a raw loop, ratio ${(best(importRuns, by) / best(rawRuns, by)).toFixed(2)}`;
  const calmRun =
    importRuns.toSorted((a, b) => (a.times.at(-1) ?? 0) - (b.times.at(-1) ?? 0))[0]?.times ?? [];
  const latency = (fraction: number) => `${calmRun[Math.ceil(calmRun.length * fraction) - 1]?.toFixed(0)} ms`;
  console.log(
    `${engine}\n  wall-clock time: ${compare('seconds')}\n  CPU time: ${compare('cpu')}\n` +
      `  peak memory: ${Math.max(...importRuns.map(({ peak }) => peak))} MB\n` +
      `  background load, run with the lowest maximum latency: median ${latency(0.5)}, ` +
      `99th percentile ${latency(0.99)}, maximum of ${calmRun.length} requests ${latency(1)}`,
  );
}

/** Imports the file over HTTP into a new service that is under a background load. */
async function measureImport(url: string) {
  await using service = start(...muster('serve'), {
    MUSTER_DATABASE_URL: url,
    MUSTER_PORT: '0',
    MUSTER_RATE_LIMIT: '0',
  });
  const [, origin, key] = await service.waitForOutput(/ is ready at (\S+)[\s\S]*(mst_\w+)/);
  await using background = start(
    ...nodeScript('children/background-load.ts', JSON.stringify({ origin, key } as BackgroundLoad)),
  );
  await background.waitForOutput(/ready/);
  const cpuBefore = cpuSecondsOf(service.pid);
  let responseBody = new ArrayBuffer();
  const seconds = await measureSeconds(async () => {
    const response = await fetch(`${origin}/v1/personnel/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv' },
      body: csv,
    });
    responseBody = await response.arrayBuffer();
  });
  const cpu = cpuSecondsOf(service.pid) - cpuBefore;
  process.kill(background.pid, 'SIGUSR2');
  const [times] = await background.waitForOutput(/\[.*\]/);
  const { summary } = JSON.parse(Buffer.from(responseBody).toString()) as { summary?: { created: number } };
  if (summary?.created !== rows) throw new Error(`imported ${summary?.created} of ${rows} people`);
  const peak = Math.round(peakMemoryOf(service.pid));
  return { seconds, cpu, peak, times: (JSON.parse(times) as number[]).sort((a, b) => a - b) };
}

async function measureSeconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function insertInto(table: string, row: object, placeholder: (i: number) => string): string {
  const columns = Object.keys(row);
  return `insert into ${table} (${columns.map((column) => `"${column}"`)}) values (${columns.map((_, i) => placeholder(i))})`;
}

async function rawSqlite(url: string): Promise<void> {
  const database = new Sqlite(url.slice('sqlite:'.length));
  for (const pragma of ['foreign_keys = on', 'journal_mode = wal', 'synchronous = full'])
    database.pragma(pragma);
  const [first] = stored;
  const person = database.prepare(insertInto('people', first?.row ?? {}, () => '?'));
  const entry = database.prepare(insertInto('history', first?.entry ?? {}, () => '?'));
  for (let at = 0; at < rows; at += batchRows) {
    database.exec('begin immediate');
    for (const { values, entryValues } of stored.slice(at, at + batchRows)) {
      person.run(values);
      entry.run(entryValues);
    }
    database.exec('commit');
  }
  database.close();
}

async function rawPostgres(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  const [first] = stored;
  const person = { name: 'person', text: insertInto('people', first?.row ?? {}, (i) => `$${i + 1}`) };
  const entry = { name: 'entry', text: insertInto('history', first?.entry ?? {}, (i) => `$${i + 1}`) };
  for (let at = 0; at < rows; at += batchRows) {
    await client.query('begin');
    for (const { values, entryValues } of stored.slice(at, at + batchRows)) {
      await client.query({ ...person, values });
      await client.query({ ...entry, values: entryValues });
    }
    await client.query('commit');
  }
  await client.end();
}
