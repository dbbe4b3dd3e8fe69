import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildService } from '../../build.ts';
import { postgresPids } from '../database-costs.ts';
import type { Sizes } from '../dataset.ts';
import { authHeaders, createDataset, type Dataset } from '../datasets.ts';
import { memoryOf } from '../memory.ts';
import { fetchResponse } from '../responses.ts';
import { createDatabase, type Server, startPostgres, startService, withoutCache } from '../servers.ts';
import { alignColumns } from '../table.ts';
import { isFilteredSummary, sweep } from './requests.ts';

/**
 * Sends each request that `openapi.json` offers and prints what it costs: the CPU time of the service and of the database
 * for one response that is not cached, worst first. CPU time, because other work on the machine changes it little.
 */
const { values: options } = parseArgs({
  options: {
    risks: { type: 'string', default: '300000' },
    engine: { type: 'string', multiple: true, default: ['sqlite', 'postgres'] },
    only: { type: 'string', default: '' },
    folder: { type: 'string', default: tmpdir() },
    rows: { type: 'string', default: '40' },
    quick: { type: 'boolean', default: false },
  },
});

const risks = options.quick ? 30_000 : Number(options.risks);
const sizes: Sizes = {
  projects: Math.ceil(risks / 300),
  people: Math.ceil(risks / 3),
  risks,
  issues: Math.ceil(risks / 3),
  tasks: Math.ceil(risks / 3),
};
const slowMs = 100;
const repetitions = 3;

type Cost = { request: string; ms: number; database: number; bytes: number };

await buildService();
const folder = mkdtempSync(join(options.folder, 'muster-requests-'));
try {
  if (options.engine.includes('sqlite')) await measureEngine('SQLite', `sqlite:${join(folder, 'muster.db')}`);
  if (options.engine.includes('postgres')) {
    await using server = await startPostgres(folder);
    await measureEngine('PostgreSQL', await createDatabase(server.url, 'requests'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureEngine(name: string, url: string): Promise<void> {
  const dataset = await createDataset({ url, sizes });
  await using service = await startService(dataset, withoutCache);
  const pids = await postgresPids(url);
  const costs: Cost[] = [];
  for (const request of sweep().filter((request) => new RegExp(options.only).test(request)))
    costs.push(await measure(service, dataset, request, pids));
  print(name, costs, memoryOf(service.pid));
}

/** The least of a few repetitions: the first one compiles the statement. */
async function measure(
  { origin, pid }: Server,
  dataset: Dataset,
  request: string,
  databasePids: () => number[],
): Promise<Cost> {
  let least: Cost | undefined;
  for (let repetition = 0; repetition <= repetitions; repetition++) {
    const before = [cpuMs([pid]), cpuMs(databasePids())] as const;
    const { status, body } = await fetchResponse(origin + request, authHeaders(dataset));
    if (status !== 200) throw new Error(`${request} returned ${status}: ${body}`);
    const database = cpuMs(databasePids()) - before[1];
    const cost = { request, ms: cpuMs([pid]) - before[0] + database, database, bytes: body.byteLength };
    if (!least || cost.ms < least.ms) least = cost;
    // More repetitions change little for a request that takes long.
    if (repetition > 0 && cost.ms > 300) break;
  }
  return least as Cost;
}

/** CPU time of all threads of these processes. A thread that has ended meanwhile counts nothing. */
function cpuMs(pids: readonly number[]): number {
  const files = pids.flatMap((pid) => {
    try {
      return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`);
    } catch {
      return [];
    }
  });
  const nanoseconds = files.map((file) => {
    try {
      return Number(readFileSync(file, 'utf8').split(' ')[0]);
    } catch {
      return 0;
    }
  });
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

function print(name: string, costs: readonly Cost[], memory: number): void {
  const sorted = costs.toSorted((a, b) => b.ms - a.ms);
  const [plain, filtered] = [false, true].map((is) =>
    sorted.filter(({ request }) => isFilteredSummary(request) === is),
  );
  const shown = sorted.slice(0, Number(options.rows));
  console.log(`\n${name}, ${risks} risks, ${costs.length} requests, ${memory.toFixed(0)} MB after them`);
  console.log(
    alignColumns(
      ['request', '>CPU', '>database', '>bytes'],
      shown.map(({ request, ms, database, bytes }) => [
        request,
        ms.toFixed(1),
        database.toFixed(1),
        String(bytes),
      ]),
    ),
  );
  for (const [text, some = []] of [
    ['lists, and summaries without filters', plain],
    ['summaries with filters', filtered],
  ] as const) {
    const over = (ms: number) => some.filter((cost) => cost.ms > ms).length;
    console.log(
      `${text}: ${some.length}, over ${slowMs} ms ${over(slowMs)}, over 300 ms ${over(300)}, over 600 ms ${over(600)}`,
    );
  }
  const largest = sorted.filter(({ request }) => /\/summary/.test(request)).map(({ bytes }) => bytes);
  if (largest.length > 0) console.log(`largest summary: ${Math.max(...largest)} bytes`);
}
