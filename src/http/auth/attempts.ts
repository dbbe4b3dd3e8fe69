import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify';
import { networkReader } from '../../core/network/addresses.ts';
import { rateLimiter, tooManyRequests } from '../../http/auth/rate-limits.ts';

/** An attempt stores a row, and many people of one network may sign in at the same time of day. */
const attemptsPerFailure = 10;

/** Limits the attempts to sign in from one network, whether or not they fail. */
export function limitAttempts({ config }: FastifyInstance): preHandlerAsyncHookHandler {
  const attempts = rateLimiter('address');
  const networkOfClient = networkReader(config.trust_proxy);
  return async ({ raw, moment }) => {
    const limit = config.failed_auth_limit * attemptsPerFailure;
    const charge = attempts.charge(networkOfClient(raw), limit, Date.parse(moment.now));
    if (!charge.isAllowed) throw tooManyRequests('Too many attempts to sign in from your address.', charge);
  };
}
