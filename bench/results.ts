import type { Sizes } from './dataset.ts';
import { type Measurement, median } from './measurement.ts';
import type { Memory } from './memory.ts';

export type Side = Measurement & { memory?: Memory };

/** One measurement of an arm: the work, and beside it what it is compared with. */
export type Round = { work: Side; baseline: Side };

/**
 * How an arm is judged: by its requests a second over the baseline's; by how many times slower it is; or by how many
 * seconds more it takes.
 */
export type Goal = {
  judged_by: 'ratio' | 'slowdown' | 'seconds_more';
  bound: number;
  /** By how many MB the service may grow meanwhile. */
  growth_mb?: number;
};

export type BenchmarkResult = {
  name: string;
  work: string;
  baseline: string;
  goal: Goal;
  /** The medians of all rounds, and what each round came to. */
  value: number;
  values: number[];
  is_met: boolean;
  measured: Round;
};

export type Missing = { name: string; work: string; why: string };

export type Results = {
  date: string;
  machine: Record<string, string | number>;
  versions: Record<string, string>;
  settings: { rounds: number; seconds: number; connections: number; sizes: Record<string, Sizes> };
  minutes: number;
  benchmarks: BenchmarkResult[];
  /** What could not be measured here, and what went wrong. */
  skipped: Missing[];
  failed: Missing[];
};

type Named = Pick<BenchmarkResult, 'name' | 'work' | 'baseline' | 'goal'>;

/** The median of the rounds' own ratios: both sides of a round were measured within seconds of each other. */
export function resultOf({ name, work, baseline, goal }: Named, rounds: Round[]): BenchmarkResult {
  const values = rounds.map((round) => judged(goal, round));
  const measured = {
    work: medianOf(rounds.map((round) => round.work)),
    baseline: medianOf(rounds.map((round) => round.baseline)),
  };
  const value = median(values);
  return { name, work, baseline, goal, value, values, is_met: isMet(goal, value, measured), measured };
}

function judged({ judged_by }: Goal, { work, baseline }: Round): number {
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
  (goal.growth_mb === undefined || growthOf(work) <= goal.growth_mb);

export const growthOf = ({ memory }: Side) => (memory ? memory.peak_mb - memory.ready_mb : 0);

function medianOf(sides: Side[]): Side {
  const of = (number: (side: Side) => number) => median(sides.map(number));
  const memories = sides.flatMap(({ memory }) => memory ?? []);
  return {
    per_second: of((side) => side.per_second),
    p50_ms: of((side) => side.p50_ms),
    p99_ms: of((side) => side.p99_ms),
    ...(memories.length > 0 && {
      memory: {
        ready_mb: median(memories.map(({ ready_mb }) => ready_mb)),
        peak_mb: median(memories.map(({ peak_mb }) => peak_mb)),
      },
    }),
  };
}

/** Between what noise does and what halves an arm. */
const tolerated = 0.7;

export type Comparison = { name: string; before: number; now: number; change: number; isWorse: boolean };

/** Each arm beside itself in an earlier run. A change is how many times as good it is: 0.5 is half as good. */
export function compareResults(before: BenchmarkResult[], now: BenchmarkResult[]): Comparison[] {
  return now.flatMap(({ name, goal, value }) => {
    const earlier = before.find((benchmark) => benchmark.name === name);
    if (!earlier) return [];
    const change =
      goal.judged_by === 'ratio'
        ? value / earlier.value
        : atLeastALittle(earlier.value) / atLeastALittle(value);
    return [{ name, before: earlier.value, now: value, change, isWorse: change < tolerated }];
  });
}

/** A start that takes hardly more than nothing may take twice that without anybody noticing. */
const atLeastALittle = (value: number) => Math.max(value, 0.05);
