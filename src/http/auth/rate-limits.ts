import type { Config } from '../../config.ts';
import { Problem } from '../../core/errors.ts';
import type { Key } from '../../resources/keys/schema.ts';

/** What became of one request: whether it may go on, and what the answer tells of the limit either way. */
export type RateLimitResult = { isAllowed: boolean; headers: Readonly<Record<string, string>> };

export type RateLimiter = {
  /** Takes one off what `id` may send, `perMinute` being its limit; 0 is none. A request that is refused costs nothing. */
  charge(id: string, perMinute: number, now: number): RateLimitResult;
  /** Gives one back, and says what is left then: an answer the client has already is free. */
  refund(id: string, perMinute: number, now: number): RateLimitResult;
};

/**
 * `used` counts the requests of a minute, which began with the first of them. `spent` is what of the burst was spent at
 * `spent_at`; it comes back evenly, at the pace of the limit.
 */
type Bucket = { began_at: number; used: number; spent: number; spent_at: number };

const minute = 60_000;
const unlimited: RateLimitResult = { isAllowed: true, headers: {} };

/** How many requests may come at once; what comes after them is let in evenly. */
export const burstOf = (perMinute: number) => Math.min(perMinute, Math.max(200, Math.ceil(perMinute / 3)));

/**
 * Counts requests in memory, for at most `maxTracked` ids: of more, those whose minute began first are forgotten, and
 * begin anew. `name` is the policy's in the headers (draft-ietf-httpapi-ratelimit-headers).
 */
export function rateLimiter(name: string, maxTracked = 10_000): RateLimiter {
  // In the order in which the minutes began.
  const buckets = new Map<string, Bucket>();

  function bucketFor(id: string, now: number): Bucket {
    const known = buckets.get(id);
    // Requests under way together come here in any order; far in the future is a clock that was set back.
    if (known && Math.abs(now - known.began_at) < minute) return known;
    buckets.delete(id);
    if (buckets.size >= maxTracked) buckets.delete(buckets.keys().next().value as string);
    const isLater = known !== undefined && known.began_at < now;
    const { spent, spent_at } = isLater ? known : { spent: 0, spent_at: now };
    const bucket = { began_at: now, used: 0, spent, spent_at };
    buckets.set(id, bucket);
    return bucket;
  }

  // Most keys have the same limit.
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
    charge(id, perMinute, now) {
      if (perMinute === 0) return unlimited;
      const bucket = bucketFor(id, now);
      const share = minute / perMinute;
      const burst = burstOf(perMinute);
      const spent = Math.max(0, bucket.spent - Math.max(0, now - bucket.spent_at) / share) + 1;
      const minuteEnds = bucket.used < perMinute ? 0 : bucket.began_at + minute - now;
      const burstComesBack = (spent - burst) * share;
      // What comes back are fractions: less than a millisecond is no time to wait.
      if (minuteEnds <= 0 && burstComesBack < 1) {
        bucket.used++;
        bucket.spent = spent;
        bucket.spent_at = Math.max(now, bucket.spent_at);
        return { isAllowed: true, headers: rateLimitHeaders(bucket, perMinute, now) };
      }
      const headers = rateLimitHeaders(bucket, perMinute, now);
      headers['retry-after'] = String(seconds(Math.max(minuteEnds, burstComesBack)));
      if (minuteEnds <= 0) {
        headers['ratelimit-policy'] += `, "burst";q=${burst};w=${seconds(burst * share)}`;
        headers.ratelimit += `, "burst";r=0;t=${seconds(burstComesBack)}`;
      }
      return { isAllowed: false, headers };
    },

    refund(id, perMinute, now) {
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

/** The limits of keys: each has its own, or the service's. */
export function keyLimits({ rate_limit }: Config) {
  const limiter = rateLimiter('key');
  return {
    charge: (key: Key, now: number) => limiter.charge(key.id, limitOf(key, rate_limit), now),
    refund: (key: Key, now: number) => limiter.refund(key.id, limitOf(key, rate_limit), now),
  };
}

export const limitOf = (key: Key, ofTheService: number) => key.rate_limit ?? ofTheService;

export const tooManyRequests = (what: string, { headers }: RateLimitResult) =>
  new Problem('rate_limited', `${what} Try again in ${headers['retry-after']} s.`, { headers });

const seconds = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));
