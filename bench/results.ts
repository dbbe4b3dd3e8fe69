import type { Sizes } from './dataset.ts';
import { type Measurement, median } from './measurement.ts';
import type { Memory } from './memory.ts';

export type Side = Measurement & { memory?: Memory };

/** One measurement of a benchmark: the workload and its baseline. */
export type Round = { work: Side; baseline: Side };

/**
 * The value that a benchmark must reach: `ratio` is its throughput divided by the baseline's, `slowdown` is the inverse,
 * and `seconds_more` is its median latency minus the baseline's.
 */
export type Goal = {
  judged_by: 'ratio' | 'slowdown' | 'seconds_more';
  bound: number;
  /** Maximum growth of the service's memory, in MB. */
  growth_mb?: number;
};

export type BenchmarkResult = {
  name: string;
  work: string;
  baseline: string;
  goal: Goal;
  /** The median of the rounds, followed by the value of each round. */
  value: number;
  values: number[];
  is_met: boolean;
  measured: Round;
};

export type NotMeasured = { name: string; work: string; reason: string };

export type Results = {
  date: string;
  machine: Record<string, string | number>;
  versions: Record<string, string>;
  settings: { rounds: number; seconds: number; connections: number; sizes: Record<string, Sizes> };
  minutes: number;
  benchmarks: BenchmarkResult[];
  /** A benchmark is skipped if its data does not fit on the disk, and failed if a check fails. */
  skipped: NotMeasured[];
  failed: NotMeasured[];
};

type Description = Pick<BenchmarkResult, 'name' | 'work' | 'baseline' | 'goal'>;

/** Takes the median of each round's ratio, because both sides of a round are measured within seconds of each other. */
export function summarizeRounds(
  { name, work, baseline, goal }: Description,
  rounds: Round[],
): BenchmarkResult {
  const values = rounds.map((round) => computeValue(goal, round));
  // Such as a side that finished nothing: neither a goal nor a comparison would notice.
  if (!values.every(Number.isFinite)) throw new Error(`${name} measured nothing`);
  const measured = {
    work: medianSide(rounds.map((round) => round.work)),
    baseline: medianSide(rounds.map((round) => round.baseline)),
  };
  const value = median(values);
  return { name, work, baseline, goal, value, values, is_met: isMet(goal, value, measured), measured };
}

function computeValue({ judged_by }: Goal, { work, baseline }: Round): number {
  switch (judged_by) {
    case 'ratio':
      return work.per_second / baseline.per_second;
    case 'slowdown':
      return baseline.per_second / work.per_second;
    case 'seconds_more':
      return (work.p50_ms - baseline.p50_ms) / 1000;
  }
}

const isMet = (goal: Goal, value: number, { work }: Round) =>
  (goal.judged_by === 'ratio' ? value >= goal.bound : value <= goal.bound) &&
  (goal.growth_mb === undefined || memoryGrowthMb(work) <= goal.growth_mb);

export const memoryGrowthMb = ({ memory }: Side) => (memory ? memory.peak_mb - memory.ready_mb : 0);

function medianSide(sides: Side[]): Side {
  const medianBy = (value: (side: Side) => number) => median(sides.map(value));
  const memories = sides.flatMap(({ memory }) => memory ?? []);
  return {
    per_second: medianBy((side) => side.per_second),
    p50_ms: medianBy((side) => side.p50_ms),
    p99_ms: medianBy((side) => side.p99_ms),
    ...(memories.length > 0 && {
      memory: {
        ready_mb: median(memories.map(({ ready_mb }) => ready_mb)),
        peak_mb: median(memories.map(({ peak_mb }) => peak_mb)),
      },
    }),
  };
}

/** Noise stays above this factor; a benchmark at half its earlier value falls below it. */
const minChange = 0.7;

export type Comparison = { name: string; before: number; now: number; change: number; isWorse: boolean };

/** Compares each benchmark with the same one in an earlier run. `change` is a factor: 0.5 is half as good. */
export function compareResults(before: BenchmarkResult[], now: BenchmarkResult[]): Comparison[] {
  return now.flatMap(({ name, goal, value }) => {
    const earlier = before.find((benchmark) => benchmark.name === name);
    if (!earlier) return [];
    const change =
      goal.judged_by === 'ratio' ? value / earlier.value : clampToMin(earlier.value) / clampToMin(value);
    return [{ name, before: earlier.value, now: value, change, isWorse: change < minChange }];
  });
}

/** Avoids large factors between two values that are both close to zero. */
const clampToMin = (value: number) => Math.max(value, 0.05);
