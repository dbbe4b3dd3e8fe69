import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { UsageError } from '../src/core/errors.ts';
import { type Benchmark, listBenchmarks } from './benchmarks.ts';
import { createDatasets } from './datasets.ts';
import { recordRun } from './history.ts';
import { chooseTool, NoResponse } from './load.ts';
import { describeMachine, describeVersions } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { stopAll } from './processes.ts';
import { compareResults, type NotMeasured, type Results, type Round, summarizeRounds } from './results.ts';
import { type BenchmarkContext, defaultConnections } from './runner.ts';
import { startPostgres } from './servers.ts';
import { formatComparison, formatResults } from './table.ts';

const begin = performance.now();
const options = readOptions(process.argv.slice(2));
const parent = options.folder ?? tmpdir();
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, 'muster-bench-'));
// PostgreSQL may run as another user, which needs access to its data.
chmodSync(folder, 0o755);

let stoppedBy: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stoppedBy = signal;
    // Stopping the child processes fails every pending wait, which ends the run.
    void stopAll();
  });
}

try {
  // Read first: --compare and --output may name the same file.
  const earlier = options.compare === undefined ? undefined : readResults(options.compare);
  const results = await measureAll(options);
  console.log(`\n${formatResults(results)}\n`);
  const isSuccess = report(results, earlier);
  if (!isSuccess) process.exitCode = 1;
} catch (error) {
  if (stoppedBy) log(`stopped by ${stoppedBy}`);
  else if (error instanceof UsageError) log(error.message);
  else throw error;
  process.exitCode = 1;
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll(options: Options): Promise<Results> {
  const { rounds, seconds, warm } = options;
  const selected = selectBenchmarks(options);
  const tool = chooseTool(options.load);
  const machine = describeMachine();
  log(`${tool.name} on ${machine.cpu}, ${machine.cores} cores; data in ${folder}`);
  if (machine.load_at_start > machine.cores / 2) {
    log(`this machine is busy (load average ${machine.load_at_start}): expect noise`);
  }

  await buildService();
  await using postgres = await startPostgres(folder);
  const isNeeded = (risks: number) => selected.some(({ name }) => name === `ranked-${risks}`);
  const ranks = options.ranks.filter((risks, at) => at === 0 || isNeeded(risks));
  const { datasets, sizes, skipReasons } = await createDatasets(
    folder,
    postgres.url,
    { ...options, ranks },
    log,
  );
  const context: BenchmarkContext = {
    ...datasets,
    folder,
    tool,
    warm,
    seconds,
    people: options.sizes.people,
  };

  const runnable = selected.filter(({ name }) => !skipReasons.has(name));
  const skipped = selected.flatMap(({ name, work }) => {
    const reason = skipReasons.get(name);
    return reason ? [{ name, work, reason }] : [];
  });
  const { benchmarks, failed } = await runRounds(runnable, context, rounds);
  return {
    date: new Date().toISOString(),
    machine,
    versions: await describeVersions(tool, postgres.url),
    settings: { rounds, seconds, connections: defaultConnections, sizes },
    minutes: (performance.now() - begin) / 60_000,
    benchmarks,
    skipped,
    failed,
  };
}

function selectBenchmarks(options: Options): Benchmark[] {
  const benchmarks = listBenchmarks(options);
  const { only = benchmarks.map(({ name }) => name) } = options;
  const unknown = only.filter((selected) => !benchmarks.some(({ name }) => name === selected));
  if (unknown.length > 0) {
    throw new UsageError(
      `Unknown benchmark: ${unknown.join(', ')}. Choose from ${benchmarks.map(({ name }) => name).join(', ')}.`,
    );
  }
  return benchmarks.filter(({ name }) => only.includes(name));
}

/** Runs all benchmarks once per round, so that a short disturbance affects one round of a benchmark, not all of them. */
async function runRounds(benchmarks: Benchmark[], context: BenchmarkContext, rounds: number) {
  const roundsByBenchmark = new Map<Benchmark, Round[]>(benchmarks.map((benchmark) => [benchmark, []]));
  const failed: NotMeasured[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [benchmark, finished] of roundsByBenchmark) {
      try {
        if (stoppedBy) throw new Error(`stopped by ${stoppedBy}`);
        const result = await benchmark.run(context).catch((error) => {
          // On a busy machine, a second may be too short for any response. That is slow, but measured.
          if (!(error instanceof NoResponse)) throw error;
          return benchmark.run({ ...context, seconds: context.seconds * 10 });
        });
        finished.push(result);
        log(`round ${round}, ${benchmark.name}: ${summarizeRounds(benchmark, [result]).value.toFixed(2)}`);
      } catch (error) {
        if (stoppedBy) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        log(`round ${round}, ${benchmark.name} FAILED: ${reason}`);
        failed.push({ name: benchmark.name, work: benchmark.work, reason });
        roundsByBenchmark.delete(benchmark);
      }
    }
  }
  return {
    benchmarks: [...roundsByBenchmark].map(([benchmark, finished]) => summarizeRounds(benchmark, finished)),
    failed,
  };
}

/** Reports missed goals, compares with an earlier run and writes the results. Returns false if the run must fail. */
function report(results: Results, earlier: Results | undefined): boolean {
  const missed = results.benchmarks.filter(({ is_met }) => !is_met);
  if (missed.length > 0) log(`goals missed: ${missed.map(({ name }) => name).join(', ')}`);

  const comparisons = earlier ? compareResults(earlier.benchmarks, results.benchmarks) : [];
  const worse = comparisons.filter(({ isWorse }) => isWorse);
  if (earlier) {
    console.log(`Compared with ${options.compare} (${earlier.date}):\n${formatComparison(comparisons)}\n`);
    if (JSON.stringify(earlier.settings) !== JSON.stringify(results.settings)) {
      log('the earlier run used other sizes or durations, so ignore small differences');
    }
    if (worse.length > 0) log(`much worse than before: ${worse.map(({ name }) => name).join(', ')}`);
  }

  // A partial, quick or comparing run does not replace results.json unless --output is given.
  const isPartial = options.only !== undefined || options.isQuick || earlier !== undefined;
  const defaultOutput = isPartial ? undefined : join(import.meta.dirname, 'results.json');
  const output = options.output ?? defaultOutput;
  if (output) {
    writeFileSync(output, `${JSON.stringify(results, roundNumber, 2)}\n`);
    log(`results written to ${output}`);
    if (output === defaultOutput && options.rounds > 1) recordRun(results);
  }
  // What a quick run skips, nothing measures.
  const isComplete = !options.isQuick || results.skipped.length === 0;
  return worse.length === 0 && results.failed.length === 0 && isComplete;
}

function readResults(file: string): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(
      `${file} is not a benchmark results file: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function roundNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}
