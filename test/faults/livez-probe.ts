import { Worker } from 'node:worker_threads';
import type { Cleanup } from './cleanup.ts';
import type { Tally } from './outcome.ts';
import type { Service } from './service.ts';

export type Stalls = {
  maxMs: number;
  /** Excludes the time in which the service or the probe waited for a CPU. */
  maxBusyMs: number;
  probes: number;
  unanswered: number;
};

export type LivezProbe = {
  /** Returns the measurements since the last call. A pending request counts with its time so far. */
  take(): Promise<Stalls>;
};

/** Probes `/livez` every 5 ms from a worker thread, so that work in the scenario does not count as a stall. */
export function probeLivez(cleanup: Cleanup, { origin, pid }: Service): LivezProbe {
  const thread = new Worker(new URL('./livez-probe-thread.ts', import.meta.url), {
    workerData: { origin, pid },
  });
  cleanup.after(() => thread.terminate());
  return {
    take: () =>
      new Promise((resolve) => {
        thread.once('message', resolve);
        thread.postMessage('take');
      }),
  };
}

/** The service's guarantee under any behavior of clients or the database. */
const stallLimitMs = 100;

/** Adds the measurements since the last call to the tally and returns the longest stall. */
export async function countStalls(
  tally: Tally,
  probe: LivezProbe,
  { isBound, during = '' }: { isBound: boolean; during?: string },
): Promise<number> {
  const { maxMs, maxBusyMs, unanswered } = await probe.take();
  tally.stall(maxMs);
  const sentence = `/livez stalled for ${Math.round(maxMs)} ms${during && ` during ${during}`}`;
  if (unanswered > 0) tally.fail(`/livez did not respond${during && ` during ${during}`}.`);
  if (isBound && maxBusyMs >= stallLimitMs) tally.fail(`${sentence}.`);
  else if (isBound && maxMs >= stallLimitMs) {
    tally.note(`${sentence}, of which the service itself ran for at most ${Math.round(maxBusyMs)} ms`);
  }
  return maxMs;
}
