import type { Config } from '../../config.ts';
import { Problem } from '../../core/errors.ts';
import type { Actor } from '../../store/access/actors.ts';

/** The decision about one request, and the rate limit headers of its response. */
type RateLimitResult = { isAllowed: boolean; headers: Readonly<Record<string, string>> };

/**
 * Two limits in one: `used` counts requests in the one-minute window that began at `began_at`. `spent` is the used part
 * of the burst at `spent_at`; it is refilled evenly, at the rate of the limit.
 */
type Bucket = { began_at: number; used: number; spent: number; spent_at: number };

const minute = 60_000;
const unlimited: RateLimitResult = { isAllowed: true, headers: {} };

/** The number of requests allowed at once; requests beyond the burst are allowed at an even rate. */
export const burstOf = (perMinute: number) => Math.min(perMinute, Math.max(200, Math.ceil(perMinute / 3)));

/**
 * Counts requests in memory, for at most `maxTracked` ids. When there are more, the ids with the oldest window are
 * evicted. `name` is the policy name in the headers (draft-ietf-httpapi-ratelimit-headers).
 */
export function rateLimiter(name: string, maxTracked = 10_000) {
  // Ordered by the start of the window.
  const buckets = new Map<string, Bucket>();

  function bucketFor(id: string, now: number): Bucket {
    const known = buckets.get(id);
    // Concurrent requests may arrive here out of order. A start far in the future means that the clock was set back.
    if (known && Math.abs(now - known.began_at) < minute) return known;
    buckets.delete(id);
    if (buckets.size >= maxTracked) buckets.delete(buckets.keys().next().value as string);
    const isLater = known !== undefined && known.began_at < now;
    const { spent, spent_at } = isLater ? known : { spent: 0, spent_at: now };
    const bucket = { began_at: now, used: 0, spent, spent_at };
    buckets.set(id, bucket);
    return bucket;
  }

  // The last policy text, cached because most keys have the same limit.
  let policy = { perMinute: 0, text: '' };
  function policyOf(perMinute: number): string {
    if (policy.perMinute !== perMinute) policy = { perMinute, text: `"${name}";q=${perMinute};w=60` };
    return policy.text;
  }
  const rateLimitHeaders = (
    { began_at, used }: Bucket,
    perMinute: number,
    now: number,
  ): Record<string, string> => ({
    'ratelimit-policy': policyOf(perMinute),
    ratelimit: `"${name}";r=${Math.max(0, perMinute - used)};t=${seconds(Math.min(began_at - now, 0) + minute)}`,
  });

  return {
    /** Charges `id` one request; a `perMinute` of 0 means no limit. A rejected request costs nothing. */
    charge(id: string, perMinute: number, now: number): RateLimitResult {
      if (perMinute === 0) return unlimited;
      const bucket = bucketFor(id, now);
      const refillMs = minute / perMinute;
      const burst = burstOf(perMinute);
      const spent = spentAt(bucket, refillMs, now) + 1;
      const windowWaitMs = bucket.used < perMinute ? 0 : bucket.began_at + minute - now;
      const burstWaitMs = (spent - burst) * refillMs;
      // Refills are fractions, so less than a millisecond counts as no wait.
      if (windowWaitMs <= 0 && burstWaitMs < 1) {
        bucket.used++;
        bucket.spent = spent;
        bucket.spent_at = Math.max(now, bucket.spent_at);
        return { isAllowed: true, headers: rateLimitHeaders(bucket, perMinute, now) };
      }
      const headers = rateLimitHeaders(bucket, perMinute, now);
      headers['retry-after'] = String(seconds(Math.max(windowWaitMs, burstWaitMs)));
      if (windowWaitMs <= 0) {
        headers['ratelimit-policy'] += `, "burst";q=${burst};w=${seconds(burst * refillMs)}`;
        headers.ratelimit += `, "burst";r=0;t=${seconds(burstWaitMs)}`;
      }
      return { isAllowed: false, headers };
    },

    /** Returns one request to `id`, because a 304 is free. */
    refund(id: string, perMinute: number, now: number): RateLimitResult {
      if (perMinute === 0) return unlimited;
      const bucket = bucketFor(id, now);
      if (bucket.used > 0 && now >= bucket.began_at) {
        bucket.used--;
        bucket.spent--;
      }
      return { isAllowed: true, headers: rateLimitHeaders(bucket, perMinute, now) };
    },
  };
}

const spentAt = ({ spent, spent_at }: Bucket, refillMs: number, now: number) =>
  Math.max(0, spent - Math.max(0, now - spent_at) / refillMs);

/**
 * Rate limits per key or person: the key's own limit or the default of the service. A person and their personal keys share
 * one limit, which a limit of such a key can only narrow.
 */
export function actorLimits({ rate_limit }: Config) {
  const limiter = rateLimiter('key');
  const countOf = ({ id, user_id, rate_limit: own }: Actor) =>
    user_id === null || user_id === id
      ? { id, limit: own ?? rate_limit }
      : { id: user_id, limit: rate_limit, narrower: own && (rate_limit === 0 || own < rate_limit) ? own : 0 };
  return {
    charge(actor: Actor, now: number): RateLimitResult {
      const { id, limit, narrower = 0 } = countOf(actor);
      const shared = limiter.charge(id, limit, now);
      if (narrower === 0 || !shared.isAllowed) return shared;
      const own = limiter.charge(actor.id, narrower, now);
      if (!own.isAllowed) limiter.refund(id, limit, now);
      return own;
    },
    refund(actor: Actor, now: number): RateLimitResult {
      const { id, limit, narrower = 0 } = countOf(actor);
      const shared = limiter.refund(id, limit, now);
      return narrower === 0 ? shared : limiter.refund(actor.id, narrower, now);
    },
  };
}

/** Requests per minute; 0 means no limit. */
export function limitOf(
  { rate_limit, user_id }: Pick<Actor, 'rate_limit' | 'user_id'>,
  defaultLimit: number,
) {
  if (user_id === null || rate_limit === null) return rate_limit ?? defaultLimit;
  const limit = Math.min(rate_limit || Infinity, defaultLimit || Infinity);
  return limit === Infinity ? 0 : limit;
}

export const tooManyRequests = (what: string, { headers }: RateLimitResult) =>
  new Problem('rate_limited', `${what} Try again in ${headers['retry-after']} s.`, { headers });

const seconds = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));
