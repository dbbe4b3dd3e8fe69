import type { FastifyInstance, FastifyRequest } from 'fastify';
import { rateLimiter } from './rate-limits.ts';

/** Lines per minute: of one client, so that its guesses do not hide those of others, and in total. */
const maxLines = { client: 5, total: 60 };

/** Returns a function that logs a rejected key or sign-in, with the address of the client and never with a secret. */
export function createRejectionLog(
  { addressOf }: Pick<FastifyInstance, 'addressOf'>,
  message = 'A key was rejected.',
  whose: 'key' | 'user_id' = 'key',
) {
  const byClient = rateLimiter('client');
  const all = rateLimiter('all');
  let leftOut = 0;
  return ({ log, method, routeOptions, raw, moment }: FastifyRequest, reason: string, id?: string): void => {
    const address = addressOf(raw);
    const now = Date.parse(moment.now);
    if (
      !byClient.charge(address, maxLines.client, now).isAllowed ||
      !all.charge('', maxLines.total, now).isAllowed
    ) {
      leftOut++;
      return;
    }
    const route = routeOptions.url ?? 'none';
    log.warn({ address, method, route, [whose]: id, reason, left_out: leftOut || undefined }, message);
    leftOut = 0;
  };
}
