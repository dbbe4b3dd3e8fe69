import { setTimeout } from 'node:timers/promises';
import type { MetricValues } from '../../http/ops/peers.ts';

/** A worker that does not respond in time counts as at the last scrape. */
const maxWaitMs = 1000;

/** Adds up the metrics of all workers. `ask` asks a worker for its metrics, which `receive` gets. */
export function createMetricsCollector(ask: (workerId: number, number: number) => void) {
  const latest = new Map<number, MetricValues>();
  /** The sums of workers that have ended: a counter must not decrease when a worker is replaced. */
  let ended: MetricValues = [];
  const pending = new Map<string, () => void>();
  let lastNumber = 0;
  // Loaded by the first scrape.
  let registries: typeof import('../../http/ops/metric-registry.ts') | undefined;

  return {
    async collect(workerIds: readonly number[]) {
      registries ??= await import('../../http/ops/metric-registry.ts');
      const number = ++lastNumber;
      const received = workerIds.map((id) => {
        ask(id, number);
        return new Promise<void>((resolve) => pending.set(`${id} ${number}`, resolve));
      });
      const timer = new AbortController();
      const timeout = setTimeout(maxWaitMs, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([Promise.all(received), timeout]);
      timer.abort();
      for (const id of workerIds) pending.delete(`${id} ${number}`);
      const own = await registries.createProcessRegistry().getMetricsAsJSON();
      const sums = registries.sumUp([...latest.values(), ended, own]);
      return { text: await sums.metrics(), contentType: sums.contentType };
    },

    receive(workerId: number, number: number, values: MetricValues): void {
      latest.set(workerId, values);
      pending.get(`${workerId} ${number}`)?.();
    },

    /** Keeps the counts of a worker that has ended. */
    retire(workerId: number): void {
      const counts = latest.get(workerId)?.filter(({ type }) => String(type) !== 'gauge');
      latest.delete(workerId);
      if (!counts || !registries) return;
      ended = registries.sumUp([ended, counts]).getMetricsAsArray() as unknown as MetricValues;
    },
  };
}
