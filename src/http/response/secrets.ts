import type { preSerializationHookHandler } from 'fastify';

/** Secrets of responses that are being sent. They are held separately so that idempotency stores no secret. */
const secrets = new WeakMap<object, { field: string; secret: string }>();

/** The response without its secret, which `showSecret` adds when the response is sent, in this field. */
export function withoutSecret<R extends { secret: string }>({ secret, ...resource }: R, field = 'secret') {
  const response = { ...resource, [field]: null };
  secrets.set(response, { field, secret });
  return response;
}

export async function showSecret(
  ...[, reply, payload]: Parameters<preSerializationHookHandler>
): Promise<unknown> {
  const response = payload as object;
  const hidden = secrets.get(response);
  if (hidden === undefined) return payload;
  reply.header('cache-control', 'no-store');
  return { ...response, [hidden.field]: hidden.secret };
}
