import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import { networkReader } from '../../core/network/addresses.ts';
import { isKnownBrowser } from '../../store/access/known-clients.ts';
import { rateLimiter, tooManyRequests } from './rate-limits.ts';
import { placeOf } from './sign-in.ts';

/** Many people of one network may sign in at the same time of day. */
const attemptsPerFailure = 10;

/**
 * Limits from one network what stores a row for everybody who asks, which is the start of a sign-in with a passkey or at
 * the identity provider. The other ways in cost a write only if they are right, so nobody can use them up for others.
 */
export function limitAttempts({ config, database }: FastifyInstance): preHandlerAsyncHookHandler {
  const attempts = rateLimiter('address');
  const networkOfClient = networkReader(config.trust_proxy);
  return async (request) => {
    const { raw, moment } = request;
    const limit = config.failed_auth_limit * attemptsPerFailure;
    const charge = attempts.charge(networkOfClient(raw), limit, Date.parse(moment.now));
    // Somebody in the same network must not keep out those who have signed in before.
    if (!charge.isAllowed && !(await isKnownBrowser(database.db, placeOf(request), moment.now)))
      throw tooManyRequests('Too many attempts to sign in from your address.', charge);
  };
}

/** Warns once if all people seem to come from one network. */
export function warnAboutProxy({ config, log }: FastifyInstance): preHandlerAsyncHookHandler {
  let hasWarned = config.trust_proxy.length > 0;
  return async ({ raw, headers }) => {
    if (hasWarned || headers['x-forwarded-for'] === undefined) return;
    hasWarned = true;
    log.warn(
      `Somebody signs in through a proxy at ${raw.socket.remoteAddress}, and MUSTER_TRUST_PROXY is not set: all people ` +
        'behind it count as one address. If the proxy is yours, set MUSTER_TRUST_PROXY to its address.',
    );
  };
}
