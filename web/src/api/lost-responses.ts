import type { Middleware } from 'openapi-fetch';

/** A write whose response has not arrived. `dialog` is the one that it was sent from. */
type Unanswered = { key: string; at: number; dialog: object | undefined };

/** By method, URL and body. Whether they took effect is unknown. */
const unanswered = new Map<string, Unanswered>();

/** The open dialogs, the one on top last. */
const dialogs: object[] = [];

/** Without a dialog, the same write is meant once more after that. */
const maxAgeMs = 60_000;

/** Called when a dialog opens. The same write is another attempt until the returned function is called. */
export function rememberLost(): () => void {
  const dialog = {};
  dialogs.push(dialog);
  return () => {
    dialogs.splice(dialogs.indexOf(dialog), 1);
    forget((one) => one.dialog === dialog);
  };
}

function forget(isOver: (one: Unanswered) => boolean): void {
  for (const [write, one] of unanswered) if (isOver(one)) unanswered.delete(write);
}

let reportReplay = () => {};

/** Sets what says that nothing was changed now, because an earlier attempt had been saved. */
export const onReplay = (report: () => void) => {
  reportReplay = report;
};

/** Reports a stored response to an earlier request with the same idempotency key. */
export function watchReplay(headers: { get(name: string): string | null }): void {
  if (headers.get('idempotent-replayed') === 'true') reportReplay();
}

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
    forget(({ dialog, at }) => !dialog && Date.now() - at > maxAgeMs);
    const former = unanswered.get(write);
    const key = former?.key ?? newIdempotencyKey();
    inFlight.set(id, { write, body, isRepeated: former !== undefined });
    unanswered.set(write, { key, at: Date.now(), dialog: dialogs.at(-1) });
    if (request.method === 'POST') request.headers.set('idempotency-key', key);
    return request;
  },

  async onResponse({ request, response, id }) {
    const current = inFlight.get(id);
    inFlight.delete(id);
    // A proxy reports a lost response with such a status too.
    if (!current || response.status >= 500) return undefined;
    const saved =
      current.isRepeated && request.method === 'DELETE' && response.status === 404
        ? new Response(null, { status: 204 })
        : current.isRepeated && request.method === 'PATCH' && response.status === 412
          ? await readIfSaved(request.url, current.body)
          : undefined;
    // A repetition can be refused before it is known that the first attempt was saved, such as by a limit of requests.
    if (response.ok || saved || !current.isRepeated) unanswered.delete(current.write);
    if (saved) reportReplay();
    return saved;
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
