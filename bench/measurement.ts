/** One side of a benchmark in one round. */
export type Measurement = { per_second: number; p50_ms: number; p99_ms: number };

/** Summarizes the durations of operations that took `seconds` in total. */
export function summarizeDurations(durations_ms: number[], seconds: number): Measurement {
  return {
    per_second: durations_ms.length / seconds,
    p50_ms: percentile(durations_ms, 50),
    p99_ms: percentile(durations_ms, 99),
  };
}

export const median = (numbers: number[]) => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
};

/** Nearest-rank percentile. */
export function percentile(numbers: number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** Repeats synchronous work for `seconds`. */
export function repeat(seconds: number, work: () => unknown): Measurement {
  const durations: number[] = [];
  const begin = performance.now();
  for (let last = begin; last < begin + seconds * 1000; ) {
    work();
    const now = performance.now();
    durations.push(now - last);
    last = now;
  }
  return summarizeDurations(durations, (performance.now() - begin) / 1000);
}

/** Repeats asynchronous work for `seconds` on each connection. */
export async function repeatAsync(
  seconds: number,
  work: () => Promise<unknown>,
  connections = 1,
): Promise<Measurement> {
  const durations: number[] = [];
  const begin = performance.now();
  const runConnection = async () => {
    for (let last = begin; last < begin + seconds * 1000; ) {
      await work();
      const now = performance.now();
      durations.push(now - last);
      last = now;
    }
  };
  await Promise.all(Array.from({ length: connections }, runConnection));
  return summarizeDurations(durations, (performance.now() - begin) / 1000);
}
