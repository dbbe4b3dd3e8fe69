import { parseArgs } from 'node:util';
import { createCleanup } from '../cleanup.ts';
import type { Engine } from '../service.ts';
import { type Failure, fuzz, type Outcome } from './run.ts';
import { startTarget, steppingClock } from './services.ts';
import type { Target } from './target.ts';

/** `npm run fuzz -- --requests 20000 --seed 42`: exits with 1 when a response violates the contract. */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    engine: { type: 'string', default: 'both' },
    'at-once': { type: 'string', default: '8' },
  },
});
const requests = parseWholeNumber('requests', values.requests);
const seed = parseWholeNumber('seed', values.seed);
const atOnce = parseWholeNumber('at-once', values['at-once']);
const engines: Engine[] = values.engine === 'both' ? ['sqlite', 'postgres'] : [values.engine as Engine];
if (!engines.every((engine) => ['sqlite', 'postgres'].includes(engine))) {
  throw new Error(`--engine is “${values.engine}” but must be sqlite, postgres or both.`);
}

const cleanup = createCleanup();

console.log(
  `Seed ${seed}: ${requests} sequential requests, then ${requests} requests, ${atOnce} at a time, on ${engines.join(' and ')}.`,
);
const failures: Failure[] = [...(await run(1)), ...(atOnce > 1 ? await run(atOnce) : [])];
await cleanup.run();
if (failures.length > 0)
  console.log(`\nTo repeat: npm run fuzz -- --seed ${seed} --requests ${requests} --engine ${values.engine}`);
process.exit(failures.length > 0 ? 1 : 0);

async function run(atOnce: number): Promise<Failure[]> {
  const { clock, tick } = steppingClock();
  const targets: Target[] = [];
  for (const engine of engines) targets.push(await startTarget(cleanup, engine, clock));
  const started = performance.now();
  const outcome = await fuzz(targets as [Target, ...Target[]], {
    seed,
    requests,
    atOnce,
    tick,
    onProgress: showProgress,
  });
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
  const seconds = (performance.now() - started) / 1000;
  console.log(formatTable(outcome));
  console.log(
    `${outcome.requests} requests on each engine, ${atOnce} at a time, in ${seconds.toFixed(1)} s (${Math.round(outcome.requests / seconds)} per second).`,
  );
  for (const failure of outcome.failures) console.log(formatFailure(failure));
  return outcome.failures;
}

/** Updates one line on a terminal; prints ten lines elsewhere. */
function showProgress(done: number): void {
  if (process.stdout.isTTY && done % 50 === 0) process.stdout.write(`\r${done} of ${requests} requests`);
  else if (!process.stdout.isTTY && done % Math.ceil(requests / 10) === 0)
    console.log(`${done} of ${requests} requests`);
}

function formatFailure({ error, request, curl, response }: Failure): string {
  return `\nFailed at request ${request} of seed ${seed}:\n  ${error}\n  ${curl}\n  → ${response}`;
}

/** One line per operation, one column per status. */
function formatTable({ statuses }: Outcome): string {
  const columns = [...new Set([...statuses.values()].flatMap((counts) => [...counts.keys()]))].sort();
  const width = Math.max(...[...statuses.keys()].map((name) => name.length));
  const line = (name: string, cells: (string | number)[]) =>
    name.padEnd(width) + cells.map((cell) => String(cell).padStart(6)).join('');
  return [
    line('', columns),
    ...[...statuses]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, counts]) =>
        line(
          name,
          columns.map((status) => counts.get(status) ?? ''),
        ),
      ),
  ].join('\n');
}

function parseWholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is “${text}” but must be a whole number.`);
  return Number(text);
}
