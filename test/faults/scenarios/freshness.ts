import { setTimeout } from 'node:timers/promises';
import { type Client, createClient, expectJson } from '../client.ts';
import type { Options, Outcome, Scenario, Tally } from '../outcome.ts';
import { type Engine, emptyDatabase, startService } from '../service.ts';

const risks = 4;
const readersPerPath = 2;

/** Two processes share a database: a read that begins after an acknowledged write must include it, also with a 304. */
const freshnessScenario = (engine: Engine): Scenario => ({
  name: `freshness-${engine}`,
  limitMs: 30 * 60_000,
  isInQuickRun: true,
  run: (options) => checkFreshness(options, engine, options.rounds(100_000, 600)),
});

export const freshnessSqlite = freshnessScenario('sqlite');
export const freshnessPostgres = freshnessScenario('postgres');

async function checkFreshness(options: Options, engine: Engine, checks: number): Promise<Outcome> {
  const { cleanup, random } = options;
  const { tally } = options;
  const url = await emptyDatabase(options, engine);
  const first = await startService(cleanup, url);
  const second = await startService(cleanup, url);
  const writing = createClient(first.origin, { key: first.key, tally });
  const reading = createClient(second.origin, { key: first.key, connections: 16, tally });
  await expectJson(writing, 'POST', '/v1/projects', { name: 'Apollo', key: 'APOLLO' });
  const keys = await Promise.all(
    Array.from({ length: risks }, async () => {
      const body = { title: 'R0', probability: 3, impact: 3 };
      return (await expectJson(writing, 'POST', '/v1/projects/APOLLO/risks', body)).key as string;
    }),
  );
  /** The number in the last acknowledged title of each risk. */
  const acknowledged: Record<string, number> = Object.fromEntries(keys.map((key) => [key, 0]));
  let notModified = 0;

  async function write(key: string): Promise<void> {
    for (let number = 1; tally.rounds < checks; number++) {
      await expectJson(writing, 'PATCH', `/v1/projects/APOLLO/risks/${key}`, { title: `R${number}` });
      acknowledged[key] = number;
      tally.acknowledged++;
      // Leaves time to cache and revalidate responses between writes.
      await setTimeout(random.integer(0, 30));
    }
  }

  /** Reads with a cache of one response, revalidated with `If-None-Match`. */
  async function read(path: string): Promise<void> {
    let cached: { etag: string; seen: Map<string, number> } | undefined;
    while (tally.rounds < checks) {
      const before = { ...acknowledged };
      const headers: Record<string, string> = cached ? { 'if-none-match': cached.etag } : {};
      const response = await reading.send('GET', path, undefined, headers);
      tally.rounds++;
      if (response.status === 304) notModified++;
      else if (response.status === 200)
        cached = { etag: String(response.headers.etag), seen: numbersIn(response.json()) };
      else tally.fail(`GET ${path} returned ${response.status}.`);
      countStale(tally, path, response.status, before, cached?.seen);
    }
  }

  const paths = [
    '/v1/risks?limit=10',
    '/v1/risks',
    '/v1/projects/APOLLO/risks?limit=10',
    `/v1/projects/APOLLO/risks/${keys[0]}`,
  ];
  const readers = paths.flatMap((path) => Array.from({ length: readersPerPath }, () => read(path)));
  await Promise.all([...keys.map(write), ...readers]);
  tally.note(`${notModified} of ${tally.rounds} reads were 304`);
  if (notModified === 0) tally.fail('No read returned 304, so revalidation was not checked.');
  closeAll(writing, reading);
  await Promise.all([first.kill9(), second.kill9()]);
  return tally;
}

export function countStale(
  tally: Tally,
  path: string,
  status: number,
  before: Record<string, number>,
  seen: Map<string, number> = new Map(),
): void {
  for (const [key, number] of seen) {
    if (number >= (before[key] ?? 0)) continue;
    tally.stale++;
    tally.fail(`GET ${path} (${status}) showed ${key} as R${number} after R${before[key]} was acknowledged.`);
  }
}

type Risk = { key: string; title: string };

export const numbersIn = (body: Risk | { data: Risk[] }) =>
  new Map(('data' in body ? body.data : [body]).map(({ key, title }) => [key, Number(title.slice(1))]));

function closeAll(...clients: Client[]): void {
  for (const client of clients) client.close();
}
