import type { Config } from '../../config.ts';

/** Creates the headers of every response, errors included. */
export function responseHeaders(config: Config) {
  // Pages of these origins may read responses. They send a key themselves; cookies are never allowed.
  const corsHeaders = new Map(config.cors_origins.map((origin) => [origin, originHeaders(origin)]));
  const constantHeaders = {
    ...securityHeaders,
    ...(config.base_url?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
    vary: varyOn(config),
  };
  return (requestId: string, origin: string | undefined): Record<string, string> => ({
    ...constantHeaders,
    'x-request-id': requestId,
    ...(corsHeaders.get('*') ?? corsHeaders.get(origin ?? '')),
  });
}

/** Responses are data: browsers must not sniff their type, run them, frame them, or share them with other sites. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** The request headers that a response depends on. */
export const varyOn = ({ cors_origins }: Config, ...headers: string[]) =>
  [...headers, 'accept-encoding', ...(hasSpecificOrigins(cors_origins) ? ['origin'] : [])].join(', ');

const hasSpecificOrigins = (origins: readonly string[]) => origins.length > 0 && !origins.includes('*');

const originHeaders = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposedHeaders,
});

/** The headers of a response to a CORS preflight request. */
export const preflightHeaders = (methods: string[]) => ({
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers':
    'accept, authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, ' +
    'muster-session, traceparent, tracestate, x-request-id',
  'access-control-max-age': '7200',
});

const exposedHeaders =
  'accept-patch, allow, etag, idempotent-replayed, link, location, ratelimit, ratelimit-policy, retry-after, ' +
  'www-authenticate, x-request-id';
