import type { Config } from '../../config.ts';

/** What every answer carries, whatever it is an answer to. */
export function responseHeaders(config: Config) {
  const headersFor = corsHeaders(config);
  const always = {
    ...safetyHeaders,
    ...(config.base_url?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
    vary: varyOn(config),
  };
  return (requestId: string, origin: string | undefined): Record<string, string> => ({
    ...always,
    'x-request-id': requestId,
    ...headersFor(origin),
  });
}

/** An answer is data: no browser shall guess its type, run it, frame it, or hand it to another site. */
const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** What an answer depends on, apart from its address. */
export const varyOn = ({ cors_origins }: Config, ...headers: string[]) =>
  [...headers, 'accept-encoding', ...(namesOrigins(cors_origins) ? ['origin'] : [])].join(', ');

/** Lets pages of other sites read answers, if they are among `cors_origins`; a key is sent by them, never by the browser. */
function corsHeaders({ cors_origins }: Config) {
  const known = new Map(cors_origins.map((origin) => [origin, allowed(origin)]));
  const forAll = known.get('*');
  return (origin: string | undefined) => forAll ?? (origin === undefined ? undefined : known.get(origin));
}

const namesOrigins = (origins: readonly string[]) => origins.length > 0 && !origins.includes('*');

const allowed = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposed,
});

/** What a browser asks for before it sends a request of another site. */
export const preflightHeaders = (methods: string[]) => ({
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers':
    'accept, authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, traceparent, ' +
    'tracestate, x-request-id',
  'access-control-max-age': '7200',
});

const exposed =
  'accept-patch, allow, etag, idempotent-replayed, link, location, ratelimit, ratelimit-policy, retry-after, ' +
  'www-authenticate, x-request-id';
