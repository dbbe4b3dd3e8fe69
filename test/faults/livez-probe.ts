import { Worker } from 'node:worker_threads';
import type { Cleanup } from './cleanup.ts';
import type { Tally } from './outcome.ts';
import type { Service } from './service.ts';

export type Stalls = {
  longestMs: number;
  /** Of that, without the time in which other processes kept the service, or the probe, from running. */
  longestHeldMs: number;
  probes: number;
  unanswered: number;
};

export type LivezProbe = {
  /** What was measured since the last call; a request that is still waiting counts with its time so far. */
  take(): Promise<Stalls>;
};

/** Probes `/livez` every 5 ms from a thread of its own, so that what a scenario computes is not taken for a stall. */
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

/** What the service promises whatever a client, or the database, does. */
const maxStallMs = 100;

/** Adds what was measured since the last call to the table; gives the longest stall. */
export async function countStalls(
  tally: Tally,
  probe: LivezProbe,
  { isBound, during = '' }: { isBound: boolean; during?: string },
): Promise<number> {
  const { longestMs, longestHeldMs, unanswered } = await probe.take();
  tally.stall(longestMs);
  const sentence = `/livez stalled for ${Math.round(longestMs)} ms${during && ` during ${during}`}`;
  if (unanswered > 0) tally.fail(`/livez was not answered${during && ` during ${during}`}.`);
  if (isBound && longestHeldMs >= maxStallMs) tally.fail(`${sentence}.`);
  else if (isBound && longestMs >= maxStallMs) {
    tally.note(`${sentence}, of which the service itself ran for at most ${Math.round(longestHeldMs)} ms`);
  }
  return longestMs;
}
