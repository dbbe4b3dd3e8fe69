import type { preSerializationHookHandler } from 'fastify';

/** Secrets of responses that are being sent. They are held separately so that idempotency stores no secret. */
const secrets = new WeakMap<object, string>();

/** The response without its secret, which `showSecret` adds when the response is sent. */
export function withoutSecret<R extends { secret: string }>({ secret, ...resource }: R) {
  const response = { ...resource, secret: null };
  secrets.set(response, secret);
  return response;
}

export async function showSecret(
  ...[, reply, payload]: Parameters<preSerializationHookHandler>
): Promise<unknown> {
  const response = payload as object;
  const secret = secrets.get(response);
  if (secret === undefined) return payload;
  reply.header('cache-control', 'no-store');
  return { ...response, secret };
}
