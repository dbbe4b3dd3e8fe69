import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import { networkReader } from '../../core/network/addresses.ts';
import { isKnownBrowser } from '../../store/access/known-clients.ts';
import { rateLimiter, tooManyRequests } from './rate-limits.ts';
import { placeOf } from './sign-in.ts';

/** An attempt stores a row, and many people of one network may sign in at the same time of day. */
const attemptsPerFailure = 10;

/** Limits the attempts to sign in from one network, whether or not they fail. */
export function limitAttempts({ config, database }: FastifyInstance): preHandlerAsyncHookHandler {
  const attempts = rateLimiter('address');
  const networkOfClient = networkReader(config.trust_proxy);
  let hasWarned = config.trust_proxy.length > 0;
  return async (request) => {
    const { raw, moment, headers, server } = request;
    if (!hasWarned && headers['x-forwarded-for'] !== undefined) {
      hasWarned = true;
      server.log.warn(
        `Somebody signs in through a proxy at ${raw.socket.remoteAddress}, and MUSTER_TRUST_PROXY is not set: all people ` +
          'behind it count as one address. If the proxy is yours, set MUSTER_TRUST_PROXY to its address.',
      );
    }
    const limit = config.failed_auth_limit * attemptsPerFailure;
    const charge = attempts.charge(networkOfClient(raw), limit, Date.parse(moment.now));
    // Somebody in the same network must not keep out those who have signed in before.
    if (!charge.isAllowed && !(await isKnownBrowser(database.db, placeOf(request))))
      throw tooManyRequests('Too many attempts to sign in from your address.', charge);
  };
}
