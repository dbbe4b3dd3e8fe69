import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawHistory, type HistoryRun } from './history.ts';
import { readWrk } from './load.ts';
import { median, percentile } from './measurement.ts';
import { readOptions } from './options.ts';
import { readLog } from './pgbench.ts';
import { type BenchmarkResult, compareResults, type Goal, type Round, summarizeRounds } from './results.ts';
import { formatComparison, formatResults } from './table.ts';

const wrkOutput = (counts: object) =>
  `Running 1s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
${JSON.stringify({ requests: 30_000, microseconds: 1_500_000, bytes: 3_000_000, failed: 0, errorStatuses: 0, p50: 1500, p99: 9250, ...counts })}
`;

test('wrk output is converted to requests per second and milliseconds', () => {
  const { per_second, p50_ms, p99_ms, requests, bytes } = readWrk(wrkOutput({}));
  assert.deepEqual([per_second, p50_ms, p99_ms], [20_000, 1.5, 9.25]);
  assert.deepEqual([requests, bytes], [30_000, 3_000_000]);
});

test('a failed request, an error status or no response at all fails the measurement', () => {
  assert.throws(
    () => readWrk(wrkOutput({ failed: 1 })),
    /of 30000 requests, 1 failed and 0 returned an error status/,
  );
  assert.throws(() => readWrk(wrkOutput({ errorStatuses: 2 })), /0 failed and 2 returned an error status/);
  assert.throws(() => readWrk(wrkOutput({ requests: 0 })), /no response was received/);
});

test('transaction durations are read from the pgbench log', () => {
  assert.deepEqual(readLog('0 1 1500 0 1763200000 1\n3 1 250 0 1763200000 2\n'), [1.5, 0.25]);
});

test('median averages the two middle values, and percentile uses the nearest rank', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.deepEqual([percentile(hundred, 50), percentile(hundred, 99), percentile([7], 99)], [50, 99, 7]);
});

const side = (per_second: number, p50_ms = 1) => ({ per_second, p50_ms, p99_ms: 2 });
const round = (work: number, baseline: number): Round => ({ work: side(work), baseline: side(baseline) });
const benchmark = (name: string, goal: Goal, ...rounds: Round[]) =>
  summarizeRounds({ name, work: `the ${name}`, baseline: 'bare', goal }, rounds);
const ratio: Goal = { judged_by: 'ratio', bound: 0.8 };

test('the value of a benchmark is the median of the ratios of its rounds', () => {
  const { value, values, is_met, measured } = benchmark(
    'page',
    ratio,
    round(90, 100),
    round(10, 100),
    round(17, 20),
  );
  assert.deepEqual(values, [0.9, 0.1, 0.85]);
  assert.deepEqual([value, is_met], [0.85, true]);
  assert.equal(measured.work.per_second, 17);
  assert.equal(benchmark('page', ratio, round(79, 100)).is_met, false);
});

test('a benchmark whose work or baseline finished nothing is an error, not a missed goal', () => {
  for (const nothing of [round(90, 0), round(90, Number.NaN), round(Number.NaN, 90)])
    assert.throws(() => benchmark('page', ratio, round(90, 100), nothing), /page measured nothing/);
});

test('slowdown and seconds_more goals are met by values up to the bound', () => {
  const slower = benchmark('ranked', { judged_by: 'slowdown', bound: 1.3 }, round(100, 150));
  assert.deepEqual([slower.value, slower.is_met], [1.5, false]);
  const goal: Goal = { judged_by: 'seconds_more', bound: 0.5 };
  const start = benchmark('start', goal, { work: side(1, 540), baseline: side(1, 40) });
  assert.deepEqual([start.value, start.is_met], [0.5, true]);
});

test('a benchmark that exceeds its memory growth limit misses its goal at any speed', () => {
  const goal = { ...ratio, growth_mb: 64 };
  const grown = (peak_mb: number) => ({ ...side(100), memory: { ready_mb: 100, peak_mb } });
  assert.equal(benchmark('list', goal, { work: grown(164), baseline: side(100) }).is_met, true);
  assert.equal(benchmark('list', goal, { work: grown(165), baseline: side(100) }).is_met, false);
});

test('a comparison reports a halved value for every kind of goal, but not noise', () => {
  const slowdown: Goal = { judged_by: 'slowdown', bound: 1.3 };
  const seconds: Goal = { judged_by: 'seconds_more', bound: 0.5 };
  const starts = (ms: number) => benchmark('start', seconds, { work: side(1, ms), baseline: side(1, 40) });
  const before = [
    benchmark('page', ratio, round(90, 100)),
    benchmark('ranked', slowdown, round(10, 10)),
    starts(440),
  ];
  const findWorse = (now: BenchmarkResult[]) =>
    compareResults(before, now)
      .filter(({ isWorse }) => isWorse)
      .map(({ name }) => name);

  // A machine that is twice as fast makes no difference.
  assert.deepEqual(
    findWorse([benchmark('page', ratio, round(180, 200)), benchmark('ranked', slowdown, round(20, 20))]),
    [],
  );
  assert.deepEqual(findWorse([benchmark('page', ratio, round(75, 100)), starts(540)]), []);
  assert.deepEqual(findWorse([benchmark('page', ratio, round(45, 100))]), ['page']);
  assert.deepEqual(findWorse([benchmark('ranked', slowdown, round(5, 10)), starts(840)]), [
    'ranked',
    'start',
  ]);
  assert.deepEqual(findWorse([benchmark('never measured before', ratio, round(1, 100))]), []);
});

test('the tables show missed, skipped, failed and worse benchmarks', () => {
  const before = benchmark('page', ratio, round(90, 100));
  const now = benchmark('page', ratio, round(4500, 10_000));
  const shown = formatResults({
    date: '',
    machine: {},
    versions: {},
    settings: { rounds: 1, seconds: 1, connections: 64, sizes: {} },
    minutes: 1,
    benchmarks: [now],
    skipped: [
      { name: 'ranked-10000000', work: 'ten million', reason: 'needs 17 GB of disk space; 3 GB is free' },
    ],
    failed: [{ name: 'list', work: 'everyone', reason: '1 failed' }],
  });
  assert.match(shown, /^the page +4,500 +1\.00 ms +2\.00 ms +bare +10,000 +0\.45 +≥ 0\.80 +MISSED$/m);
  assert.match(shown, /^ten million +skipped +needs 17 GB/m);
  assert.match(shown, /^everyone +FAILED +1 failed$/m);
  assert.match(
    formatComparison(compareResults([before], [now])),
    /^page +0\.90 +0\.45 +× 0\.50 +MUCH WORSE$/m,
  );
});

test('the chart shows every benchmark of the history, with a gap where a run did not measure it', () => {
  const run = (values: Record<string, number>): HistoryRun => ({
    date: '2026-11-15T12:00:00.000Z',
    commit: 'abc1234',
    machine: 'Neoverse-N1, 2 cores',
    risks: 1000,
    values,
  });
  const chart = drawHistory([run({ page: 0.5 }), run({ page: 1, start: 0.3 })]);
  assert.match(chart, /page <tspan class="value">1\.00<.*points="16\.0,62\.0 206\.0,34\.0"/);
  assert.match(chart, /start <tspan class="value">0\.30<.*points="206\.0,34\.0"/);
});

test('the chart in the repository is drawn from history.json', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
  const history: HistoryRun[] = JSON.parse(read('history.json'));
  assert.equal(read('history.svg'), drawHistory(history));
  assert.equal(read('history.json').trim().split('\n').length, history.length + 2, 'one line per run');
});

test('an unknown benchmark is an error that lists all of them, one per line', () => {
  const bench = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], { encoding: 'utf8' });
  const help = bench('--help');
  assert.equal(help.status, 0);
  for (const name of ['baselines', 'capacity', 'events', 'slow-clients'])
    assert.match(help.stdout, new RegExp(`^  ${name} +\\S`, 'm'));
  const unknown = bench('event');
  assert.equal(unknown.status, 1);
  assert.equal(unknown.stderr, `There is no benchmark event.\n\n${help.stdout}`);
  const capacity = bench('capacity', '--people', '1000', '--risks', '10000');
  assert.match(capacity.stdout, / people 1,000 · /);
});

test('options set the dataset sizes, and PostgreSQL gets a tenth of them', () => {
  assert.deepEqual(readOptions([]).sizes, {
    projects: 1000,
    people: 100_000,
    risks: 1_000_000,
    issues: 500_000,
  });
  const { sizes, postgres, rounds } = readOptions(['--quick', '--risks', '5000']);
  assert.deepEqual([sizes.risks, postgres.risks, rounds], [5000, 500, 1]);
  assert.ok(sizes.people < 100_000);
});
