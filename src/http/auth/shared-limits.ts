import type { Charge, Peers } from '../ops/peers.ts';
import { type RateLimiter, rateLimiter } from './rate-limits.ts';

/** How long a worker collects its charges before it reports them. */
const reportAfterMs = 50;

/**
 * A rate limiter that all workers of the service share. A worker counts its own requests at once, and those of other
 * workers when they are reported. So it may admit what others have already admitted, but only for that short time.
 */
export function sharedRateLimiter(name: string, peers: Peers | undefined): RateLimiter {
  const limiter = rateLimiter(name);
  if (!peers) return limiter;

  const unreported = new Map<string, Charge>();
  function report(): void {
    const charges = [...unreported.values()].filter(({ count }) => count !== 0);
    unreported.clear();
    if (charges.length > 0) peers?.send({ type: 'charges', limiter: name, charges });
  }
  function record(id: string, perMinute: number, count: number, at: number): void {
    if (perMinute === 0) return;
    if (unreported.size === 0) setTimeout(report, reportAfterMs).unref();
    const charge = unreported.get(id);
    if (!charge) unreported.set(id, { id, perMinute, count, at });
    else Object.assign(charge, { perMinute, count: charge.count + count, at });
  }
  peers.on('charges', (message) => {
    if (message.limiter === name) message.charges.forEach(limiter.add);
  });

  return {
    ...limiter,
    charge(id, perMinute, now) {
      const result = limiter.charge(id, perMinute, now);
      if (result.isAllowed) record(id, perMinute, 1, now);
      return result;
    },
    refund(id, perMinute, now) {
      record(id, perMinute, -1, now);
      return limiter.refund(id, perMinute, now);
    },
  };
}
