import {
  type BenchmarkResult,
  type Comparison,
  type Goal,
  growthOf,
  type Missing,
  type Results,
  type Side,
} from './results.ts';

/** The table of a run, as people read it. A `>` before a title puts its column to the right. */
export function tableOf({ benchmarks, skipped, failed }: Results): string {
  const titles = ['work', '>req/s', '>p50', '>p99', 'baseline', '>req/s', '>ratio', 'goal', '', '>memory'];
  return table(titles, [
    ...benchmarks.map(armLine),
    ...skipped.map(missingLine('skipped')),
    ...failed.map(missingLine('FAILED')),
  ]);
}

const armLine = ({ work, baseline, goal, value, is_met, measured }: BenchmarkResult) => [
  work,
  rate(measured.work.per_second),
  milliseconds(measured.work.p50_ms),
  milliseconds(measured.work.p99_ms),
  baseline,
  rate(measured.baseline.per_second),
  inWords(goal, value),
  boundOf(goal),
  is_met ? 'met' : 'MISSED',
  memoryOf(measured.work),
];

const missingLine =
  (word: string) =>
  ({ work, why }: Missing) => [work, word, '', '', why];

/** Each arm beside itself in an earlier run. */
export function comparisonTable(comparisons: Comparison[]): string {
  const lines = comparisons.map(({ name, before, now, change, isWorse }) => [
    name,
    before.toFixed(2),
    now.toFixed(2),
    `× ${change.toFixed(2)}`,
    isWorse ? 'MUCH WORSE' : '',
  ]);
  return table(['arm', '>before', '>now', '>as good', ''], lines);
}

function table(titles: string[], lines: string[][]): string {
  const all = [titles.map((title) => title.replace('>', '')), ...lines];
  const widths = titles.map((_, at) => Math.max(...all.map((line) => line[at]?.length ?? 0)));
  const cell = (text: string, at: number) =>
    titles[at]?.startsWith('>') ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  return all.map((line) => line.map(cell).join('  ').trimEnd()).join('\n');
}

const inWords = ({ judged_by }: Goal, value: number) =>
  judged_by === 'seconds_more' ? `+${value.toFixed(2)} s` : value.toFixed(2);

const boundOf = (goal: Goal) =>
  `${goal.judged_by === 'ratio' ? '≥' : '≤'} ${inWords(goal, goal.bound)}${goal.growth_mb ? `, +${goal.growth_mb} MB` : ''}`;

const memoryOf = (side: Side) =>
  side.memory ? `${side.memory.peak_mb.toFixed(0)} MB (+${growthOf(side).toFixed(0)})` : '';

const rate = (per_second: number) =>
  per_second.toLocaleString('en', { maximumFractionDigits: per_second < 100 ? 1 : 0 });

const milliseconds = (ms: number) => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
