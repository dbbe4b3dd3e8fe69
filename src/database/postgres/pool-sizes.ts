import type pg from 'pg';
import type { Report } from '../engine.ts';

type Pools = Record<'quick' | 'slow' | 'stream', pg.Pool>;

/** Divides the connections among the pools. Of the other two, one checks for changes and one listens for events. */
export function poolSizes(maxConnections: number): Record<keyof Pools, number> {
  const pooled = maxConnections - 2;
  const slow = Math.max(1, Math.floor((pooled * 2) / 11));
  const stream = Math.max(1, Math.floor((pooled * 4) / 11));
  return { quick: pooled - slow - stream, slow, stream };
}

const minConnections = 5;
/** How long the pools stay small after the last refusal. */
const growAfterMs = 60_000;
const reportAfterMs = 1_000;

/**
 * Returns a function to call when the server refuses a connection because it has no more. It divides the open ones among the
 * pools, so that none is left without any while another one has more than its share.
 */
export function createPoolShrinker(pools: Pools, report: Report, maxConnections: number): () => void {
  const resize = (sizes: Record<string, number>) => {
    for (const [name, pool] of Object.entries(pools)) pool.options.max = sizes[name] ?? 1;
  };
  const sum = (read: (pool: pg.Pool) => number) =>
    Object.values(pools).reduce((all, pool) => all + read(pool), 0);
  let growing: NodeJS.Timeout | undefined;
  return () => {
    // Those that are being opened count, and may be refused next.
    const open = Math.max(minConnections, sum(({ totalCount }) => totalCount) + 2);
    if (open < sum(({ options }) => options.max) + 2) resize(poolSizes(open));
    if (growing) return void growing.refresh();
    growing = setTimeout(() => {
      growing = undefined;
      resize(poolSizes(maxConnections));
    }, growAfterMs).unref();
    setTimeout(() => {
      const max = sum(({ options }) => options.max) + 2;
      report(
        'warn',
        `PostgreSQL refuses connections: it has fewer than the ${maxConnections} of MUSTER_DATABASE_POOL. This instance uses at most ${max} until it has had enough for a minute.`,
      );
    }, reportAfterMs).unref();
  };
}
