import { Problem, unavailable } from '../core/errors.ts';

/** `isOverdue`: the time is over, so the transaction must not send its commit, nor start again. */
export type WriteProgress = { isCommitSent: boolean; isOverdue: boolean };

/** How long a commit may take that was sent at the end of the time of its write. */
const maxCommitMs = 1_000;

/**
 * Rejects a write with 503 when it has taken too long: it may wait for many locks in turn, and be retried. The transaction
 * is rolled back when its current statement ends. If the commit was sent, which may wait for a standby, the outcome is
 * unknown.
 */
export async function withinLimit<T>(
  maxMs: number | undefined,
  write: (progress: WriteProgress) => Promise<T>,
): Promise<T> {
  const progress: WriteProgress = { isCommitSent: false, isOverdue: false };
  if (maxMs === undefined) return write(progress);
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    progress.isOverdue = true;
    if (!progress.isCommitSent) reject(tooManyWrites());
  }, maxMs);
  const commitTimer = setTimeout(() => reject(unknownOutcome()), maxMs + maxCommitMs);
  try {
    return await Promise.race([write(progress), overdue]);
  } finally {
    clearTimeout(timer);
    clearTimeout(commitTimer);
  }
}

/** A retry could apply the change twice. Only a client that sends an `Idempotency-Key` can retry safely. */
export const unknownOutcome = (cause?: unknown) =>
  new Problem(
    'unavailable',
    'The database did not confirm the commit, so the change may or may not have been saved. ' +
      'Check whether it was saved before you try again, or retry with the same `Idempotency-Key`.',
    { cause, headers: { 'retry-after': '1' }, extra: { may_be_saved: true } },
  );

export const tooManyWrites = (cause?: unknown) =>
  unavailable('Too many requests are changing the same data. Try again shortly.', 1, cause);
