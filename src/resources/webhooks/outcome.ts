import type { Attempt } from './send.ts';

const minute = 60;
const hour = 60 * minute;

/** Seconds from a failed attempt to the next one. */
export const retryDelays = [
  5,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;

const maxRetryAfter = 24 * hour;
/** A retry comes later by up to this part of its delay, so that many retries do not come at once. */
const maxJitter = 0.1;

export type Outcome =
  | { status: 'delivered' }
  | { status: 'failed'; isGone: boolean }
  | { status: 'pending'; next_attempt_at: string; throttled_until: string | null };

/** Decides what follows from an attempt: the number of attempts includes it. */
export function outcomeOf(attempt: Attempt, attempts: number, now: string, canRetry: boolean): Outcome {
  const { response_status: status } = attempt;
  if (status !== null && status >= 200 && status < 300) return { status: 'delivered' };
  const delay = retryDelays[attempts - 1];
  if (status === 410 || delay === undefined || !canRetry) return { status: 'failed', isGone: status === 410 };
  const retryAfter = secondsUntil(attempt.retry_after, now);
  const seconds = Math.max(delay * (1 + Math.random() * maxJitter), retryAfter);
  return {
    status: 'pending',
    next_attempt_at: later(now, seconds),
    // The receiver asks to wait, so no other delivery of the webhook is sent before that either.
    throttled_until: retryAfter > 0 ? later(now, retryAfter) : null,
  };
}

/** `Retry-After` is a number of seconds or a date. */
function secondsUntil(header: string | null, now: string): number {
  if (header === null) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.parse(now)) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(0, seconds), maxRetryAfter);
}

export const later = (now: string, seconds: number) =>
  new Date(Date.parse(now) + seconds * 1000).toISOString();
