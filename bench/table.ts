import {
  type BenchmarkResult,
  type Comparison,
  type Goal,
  memoryGrowthMb,
  type NotMeasured,
  type Results,
  type Side,
} from './results.ts';

/** Formats the results of a run. A `>` before a title aligns its column to the right. */
export function formatResults({ benchmarks, skipped, failed }: Results): string {
  const titles = ['work', '>req/s', '>p50', '>p99', 'baseline', '>req/s', '>ratio', 'goal', '', '>memory'];
  return alignColumns(titles, [
    ...benchmarks.map(benchmarkLine),
    ...skipped.map(missingLine('skipped')),
    ...failed.map(missingLine('FAILED')),
  ]);
}

const benchmarkLine = ({ work, baseline, goal, value, is_met, measured }: BenchmarkResult) => [
  work,
  formatRate(measured.work.per_second),
  formatMs(measured.work.p50_ms),
  formatMs(measured.work.p99_ms),
  baseline,
  formatRate(measured.baseline.per_second),
  formatValue(goal, value),
  formatGoal(goal),
  is_met ? 'met' : 'MISSED',
  formatMemory(measured.work),
];

const missingLine =
  (word: string) =>
  ({ work, reason }: NotMeasured) => [work, word, '', '', reason];

/** Formats each benchmark next to its value in an earlier run. */
export function formatComparison(comparisons: Comparison[]): string {
  const lines = comparisons.map(({ name, before, now, change, isWorse }) => [
    name,
    before.toFixed(2),
    now.toFixed(2),
    `× ${change.toFixed(2)}`,
    isWorse ? 'MUCH WORSE' : '',
  ]);
  return alignColumns(['benchmark', '>before', '>now', '>change', ''], lines);
}

export function alignColumns(titles: string[], lines: string[][]): string {
  const all = [titles.map((title) => title.replace('>', '')), ...lines];
  const widths = titles.map((_, at) => Math.max(...all.map((line) => line[at]?.length ?? 0)));
  const cell = (text: string, at: number) =>
    titles[at]?.startsWith('>') ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  return all.map((line) => line.map(cell).join('  ').trimEnd()).join('\n');
}

const formatValue = ({ judged_by }: Goal, value: number) =>
  judged_by === 'seconds_more' ? `+${value.toFixed(2)} s` : value.toFixed(2);

const formatGoal = (goal: Goal) =>
  `${goal.judged_by === 'ratio' ? '≥' : '≤'} ${formatValue(goal, goal.bound)}${goal.growth_mb ? `, +${goal.growth_mb} MB` : ''}`;

const formatMemory = (side: Side) =>
  side.memory ? `${side.memory.peak_mb.toFixed(0)} MB (+${memoryGrowthMb(side).toFixed(0)})` : '';

const formatRate = (per_second: number) =>
  per_second.toLocaleString('en', { maximumFractionDigits: per_second < 100 ? 1 : 0 });

const formatMs = (ms: number) => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;
