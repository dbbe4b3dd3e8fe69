import { Worker } from 'node:worker_threads';
import type { Cleanup } from '../cleanup.ts';
import { takeStallMs } from '../loop-stall.ts';
import type { Tally } from './outcome.ts';
import type { Service } from './service.ts';

export type Measurements = {
  /** The longest time that `/livez` took, which includes waiting for a CPU. */
  maxMs: number;
  unanswered: number;
};

export type LivezProbe = {
  /** Returns the measurements since the last call. A pending request counts with its time so far. */
  take(): Promise<Measurements & { stallMs: number }>;
};

/** Probes `/livez` every 5 ms from a worker thread, so that work in the scenario does not count. */
export function probeLivez(cleanup: Cleanup, service: Service): LivezProbe {
  const thread = new Worker(new URL('./livez-probe-thread.ts', import.meta.url), {
    workerData: service.origin,
  });
  cleanup.after(() => thread.terminate());
  const takeServiceStallMs = async () => (service.isRunning() ? takeStallMs(service) : 0);
  // The start of the service does not count.
  const started = takeServiceStallMs();
  return {
    async take() {
      await started;
      const measurements = await new Promise<Measurements>((resolve) => {
        thread.once('message', resolve);
        thread.postMessage('take');
      });
      return { ...measurements, stallMs: await takeServiceStallMs() };
    },
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
  const { maxMs, stallMs, unanswered } = await probe.take();
  tally.stall(stallMs, maxMs);
  const suffix = during && ` during ${during}`;
  if (unanswered > 0) tally.fail(`/livez did not respond${suffix}.`);
  if (isBound && stallMs >= stallLimitMs) {
    tally.fail(`The event loop stalled for ${Math.round(stallMs)} ms${suffix}.`);
  }
  return stallMs;
}
