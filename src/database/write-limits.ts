import { unavailable } from '../core/errors.ts';

/** `isOverdue`: the caller was told that nothing was changed, so the transaction must not commit. */
export type WriteProgress = { isCommitSent: boolean; isOverdue: boolean };

/**
 * Rejects a write with 503 when it has taken too long, unless its commit was sent: it may wait for many locks in turn, and
 * be retried. The transaction is rolled back when its current statement ends.
 */
export async function withinLimit<T>(
  maxMs: number | undefined,
  write: (progress: WriteProgress) => Promise<T>,
): Promise<T> {
  const progress: WriteProgress = { isCommitSent: false, isOverdue: false };
  if (maxMs === undefined) return write(progress);
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    if (progress.isCommitSent) return;
    progress.isOverdue = true;
    reject(tooManyWrites());
  }, maxMs);
  try {
    return await Promise.race([write(progress), overdue]);
  } finally {
    clearTimeout(timer);
  }
}

export const tooManyWrites = (cause?: unknown) =>
  unavailable('Too many requests are changing the same data. Try again shortly.', 1, cause);
