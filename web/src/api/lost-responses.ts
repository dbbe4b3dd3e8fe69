import type { Middleware } from 'openapi-fetch';

/** Writes whose response has not arrived, with their idempotency keys. Whether they took effect is unknown. */
const unanswered = new Map<string, string>();

/** The writes in flight by the id of their request, and whether an earlier attempt got no response. */
const inFlight = new Map<string, { write: string; body: string; isRepeated: boolean }>();

const isSignIn = /\/v1\/(session(\/passkey)?|invitations\/\w+|me\/password)$/;

/**
 * Makes it safe to repeat a write after its response was lost: a POST has the idempotency key of the first attempt, a
 * PATCH whose values are already saved succeeds, and so does a DELETE of what is already deleted.
 */
export const repeatSafely: Middleware = {
  async onRequest({ request, id }) {
    // Signing in has a secret in its body and nothing to repeat.
    if (request.method === 'GET' || isSignIn.test(request.url)) return undefined;
    const body = await request.clone().text();
    const write = `${request.method} ${request.url} ${body}`;
    const key = unanswered.get(write) ?? newIdempotencyKey();
    inFlight.set(id, { write, body, isRepeated: unanswered.has(write) });
    unanswered.set(write, key);
    if (request.method === 'POST') request.headers.set('idempotency-key', key);
    return request;
  },

  async onResponse({ request, response, id }) {
    const current = inFlight.get(id);
    inFlight.delete(id);
    // A proxy reports a lost response with such a status too.
    if (!current || response.status >= 500) return undefined;
    unanswered.delete(current.write);
    if (!current.isRepeated) return undefined;
    if (request.method === 'DELETE' && response.status === 404) return new Response(null, { status: 204 });
    if (request.method === 'PATCH' && response.status === 412) return readIfSaved(request.url, current.body);
    return undefined;
  },

  onError({ id }) {
    inFlight.delete(id);
  },
};

/** The item, if it has the values of an earlier attempt. */
async function readIfSaved(url: string, body: string): Promise<Response | undefined> {
  const latest = await fetch(url);
  if (!latest.ok) return undefined;
  const item = (await latest.clone().json()) as Record<string, unknown>;
  const isSaved = Object.entries(JSON.parse(body) as object).every(
    ([name, value]) => JSON.stringify(item[name]) === JSON.stringify(value),
  );
  return isSaved ? latest : undefined;
}

/** `crypto.randomUUID` exists only under https. */
export const newIdempotencyKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
