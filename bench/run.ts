import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { UsageError } from '../src/core/errors.ts';
import { type Benchmark, benchmarksOf } from './benchmarks.ts';
import { createDatasets } from './datasets.ts';
import { chooseTool } from './load.ts';
import { describeMachine, describeVersions } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { endAll } from './processes.ts';
import { compareResults, type Missing, type Results, type Round, resultOf } from './results.ts';
import { type Stage, usualConnections } from './runner.ts';
import { startPostgres } from './servers.ts';
import { comparisonTable, tableOf } from './table.ts';

const begin = performance.now();
const options = readOptions(process.argv.slice(2));
const parent = options.folder ?? tmpdir();
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, 'muster-bench-'));
// PostgreSQL may run as another user, who must get to its data.
chmodSync(folder, 0o755);

let stoppedBy: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stoppedBy = signal;
    // What waits for one of them fails now, and so does the run.
    void endAll();
  });
}

try {
  // Read before anything is written: it may be the same file.
  const earlier = options.compare === undefined ? undefined : readResults(options.compare);
  const results = await measureAll(options);
  console.log(`\n${tableOf(results)}\n`);
  const isFine = report(results, earlier);
  if (!isFine) process.exitCode = 1;
} catch (error) {
  if (stoppedBy) say(`stopped by ${stoppedBy}`);
  else if (error instanceof UsageError) say(error.message);
  else throw error;
  process.exitCode = 1;
} finally {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll(options: Options): Promise<Results> {
  const { rounds, seconds, warm } = options;
  const wanted = chooseArms(options);
  const tool = chooseTool(options.load);
  const machine = describeMachine();
  say(`${tool.name} on ${machine.cpu}, ${machine.cores} cores; data in ${folder}`);
  if (machine.load_at_start > machine.cores / 2) {
    say(`this machine is busy (a load of ${machine.load_at_start}): expect noise`);
  }

  await buildService();
  await using postgres = await startPostgres(folder);
  const isNeeded = (risks: number) => wanted.some(({ name }) => name === `ranked-${risks}`);
  const ranks = options.ranks.filter((risks, at) => at === 0 || isNeeded(risks));
  const { datasets, sizes, lacking } = await createDatasets(folder, postgres.url, { ...options, ranks }, say);
  const stage: Stage = { ...datasets, folder, tool, warm, seconds, people: options.sizes.people };

  const possible = wanted.filter(({ name }) => !lacking.has(name));
  const skipped = wanted.flatMap(({ name, work }) => {
    const why = lacking.get(name);
    return why ? [{ name, work, why }] : [];
  });
  const { benchmarks, failed } = await takeTurns(possible, stage, rounds);
  return {
    date: new Date().toISOString(),
    machine,
    versions: await describeVersions(tool, postgres.url),
    settings: { rounds, seconds, connections: usualConnections, sizes },
    minutes: (performance.now() - begin) / 60_000,
    benchmarks,
    skipped,
    failed,
  };
}

function chooseArms(options: Options): Benchmark[] {
  const benchmarks = benchmarksOf(options);
  const { only = benchmarks.map(({ name }) => name) } = options;
  const unknown = only.filter((wanted) => !benchmarks.some(({ name }) => name === wanted));
  if (unknown.length > 0) {
    throw new UsageError(
      `There is no arm ${unknown.join(', ')}. There are ${benchmarks.map(({ name }) => name).join(', ')}.`,
    );
  }
  return benchmarks.filter(({ name }) => only.includes(name));
}

/** Round by round, so that what disturbs the machine for a while disturbs one round of an arm, not all of them. */
async function takeTurns(benchmarks: Benchmark[], stage: Stage, rounds: number) {
  const taken = new Map<Benchmark, Round[]>(benchmarks.map((benchmark) => [benchmark, []]));
  const failed: Missing[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [benchmark, measured] of taken) {
      try {
        if (stoppedBy) throw new Error(`stopped by ${stoppedBy}`);
        const result = await benchmark.run(stage);
        measured.push(result);
        say(`round ${round}, ${benchmark.name}: ${resultOf(benchmark, [result]).value.toFixed(2)}`);
      } catch (error) {
        if (stoppedBy) throw error;
        const why = error instanceof Error ? error.message : String(error);
        say(`round ${round}, ${benchmark.name} FAILED: ${why}`);
        failed.push({ name: benchmark.name, work: benchmark.work, why });
        taken.delete(benchmark);
      }
    }
  }
  return { benchmarks: [...taken].map(([benchmark, measured]) => resultOf(benchmark, measured)), failed };
}

/** Says what became of the goals, and writes the results or compares them. False when something is wrong. */
function report(results: Results, earlier: Results | undefined): boolean {
  const missed = results.benchmarks.filter(({ is_met }) => !is_met);
  if (missed.length > 0) say(`goals missed: ${missed.map(({ name }) => name).join(', ')}`);

  const comparisons = earlier ? compareResults(earlier.benchmarks, results.benchmarks) : [];
  const worse = comparisons.filter(({ isWorse }) => isWorse);
  if (earlier) {
    console.log(`Beside ${options.compare}, of ${earlier.date}:\n${comparisonTable(comparisons)}\n`);
    if (JSON.stringify(earlier.settings) !== JSON.stringify(results.settings)) {
      say('the earlier run had other sizes or lengths, so that smaller differences mean nothing');
    }
    if (worse.length > 0) say(`much worse than before: ${worse.map(({ name }) => name).join(', ')}`);
  }

  // A part of a run, or one that is judged by an earlier one, takes the place of no other unless told to.
  const usual = options.only || earlier ? undefined : join(import.meta.dirname, 'results.json');
  const output = options.output ?? usual;
  if (output) {
    writeFileSync(output, `${JSON.stringify(results, rounded, 2)}\n`);
    say(`written to ${output}`);
  }
  return worse.length === 0 && results.failed.length === 0;
}

function readResults(file: string): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(
      `${file} holds no results of a bench: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
