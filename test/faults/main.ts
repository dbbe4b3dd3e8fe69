import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { buildService } from '../../build.ts';
import { buildConsole } from '../../web/build.ts';
import { hasPassed } from './outcome.ts';
import { createRunner, type Result } from './run.ts';
import { scenarios } from './scenarios/all.ts';

type Flags = {
  quick?: true;
  only?: string[];
  rounds?: number;
  minutes?: number;
  seed: number;
  json?: string;
  soak?: number;
};

const names = scenarios.map(({ name }) => name);
const flags = new Command('test:faults')
  .description('Runs failure scenarios for the service, its database and its disk, and prints the results.')
  .option('--quick', 'run only the quick part, as npm test does')
  .option('--only <scenario...>', `run only these scenarios: ${names.join(', ')}`)
  .option('--rounds <number>', 'number of rounds per scenario', wholeNumber)
  .option('--minutes <number>', 'restart instances, or run mixed writers, for this long', wholeNumber)
  .option('--seed <number>', 'seed for all random choices', wholeNumber, Math.floor(Math.random() * 2 ** 31))
  .option('--json <file>', 'also write the results to this file as JSON')
  .option('--soak <minutes>', 'also run the soak scenario for this long and check memory', wholeNumber)
  .parse()
  .opts<Flags>();

/** `kill` stands for `kill-sqlite` and `kill-postgres`. */
const isNamed = (name: string, given: string) =>
  names.includes(given) ? name === given : name.startsWith(`${given}-`);
const unknown = (flags.only ?? []).filter((given) => !names.some((name) => isNamed(name, given)));
if (unknown.length > 0) {
  console.error(`Unknown scenario: ${unknown.join(', ')}. Choose from: ${names.join(', ')}.`);
  process.exit(2);
}
const chosen = scenarios.filter(({ name, isInQuickRun }) =>
  flags.only
    ? flags.only.some((given) => isNamed(name, given))
    : name === 'soak'
      ? flags.soak !== undefined
      : !flags.quick || isInQuickRun,
);

await buildConsole();
await buildService();
console.log(`seed ${flags.seed}`);
const runner = createRunner({
  isQuickRun: flags.quick ?? false,
  rounds: flags.rounds,
  seed: flags.seed,
  soakMinutes: flags.soak ?? 10,
  minutes: flags.minutes,
  log: console.log,
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await runner.stop();
    process.exit(1);
  });
}

const results: Result[] = [];
for (const scenario of chosen) {
  const result = await runner.run(scenario);
  results.push(result);
  console.log(`${scenario.name}: ${verdictOf(result)} after ${Math.round(result.seconds)} s`);
  for (const note of result.notes) console.log(`  ${note}`);
  for (const failure of result.failures) console.log(`  FAILED: ${failure}`);
}
await runner.stop();
console.table(results.map(toRow));
if (flags.json) writeFileSync(flags.json, `${JSON.stringify({ seed: flags.seed, results }, null, 2)}\n`);
process.exit(results.every(hasPassed) ? 0 : 1);

function verdictOf(result: Result): string {
  if (result.skipped !== undefined) return `skipped: ${result.skipped}`;
  return hasPassed(result) ? 'passed' : 'FAILED';
}

function toRow(result: Result) {
  const { scenario, rounds, acknowledged, lost, stale, maxStallMs, maxLivezMs } = result;
  return {
    scenario,
    rounds,
    acknowledged,
    lost,
    stale,
    '500s': result.responses500,
    'max stall': maxStallMs,
    'max /livez': maxLivezMs,
    seconds: Math.round(result.seconds),
    verdict: verdictOf(result),
  };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('Enter a whole number.');
  return Number(text);
}
