import { parseArgs } from 'node:util';
import { createCleanup } from '../cleanup.ts';
import { type Failure, fuzz } from './run.ts';
import { startTarget, steppingClock } from './services.ts';

/** `npm run fuzz -- --requests 20000 --seed 42`: exits with 1 when a response violates the contract. */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
  },
});
const requests = parseWholeNumber('requests', values.requests);
const seed = parseWholeNumber('seed', values.seed);
const cleanup = createCleanup();

console.log(`Seed ${seed}: ${requests} sequential requests, then ${requests} requests, 8 at a time.`);
const failures = [...(await run(1)), ...(await run(8))];
await cleanup.run();
if (failures.length > 0) console.log(`\nTo repeat: npm run fuzz -- --seed ${seed} --requests ${requests}`);
process.exit(failures.length > 0 ? 1 : 0);

async function run(atOnce: number): Promise<Failure[]> {
  const { clock, tick } = steppingClock();
  const sqlite = await startTarget(cleanup, 'sqlite', clock);
  const postgres = await startTarget(cleanup, 'postgres', clock);
  const onProgress = (done: number) => {
    if (done % Math.ceil(requests / 10) === 0) console.log(`${done} of ${requests} requests`);
  };
  const outcome = await fuzz([sqlite, postgres], { seed, requests, atOnce, tick, onProgress });
  const statuses = [...outcome.statuses].sort(([a], [b]) => (a < b ? -1 : 1));
  console.table(Object.fromEntries(statuses.map(([name, counts]) => [name, Object.fromEntries(counts)])));
  for (const { error, request, curl, response } of outcome.failures)
    console.log(`\nFailed at request ${request} of seed ${seed}:\n  ${error}\n  ${curl}\n  → ${response}`);
  return outcome.failures;
}

function parseWholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is “${text}” but must be a whole number.`);
  return Number(text);
}
