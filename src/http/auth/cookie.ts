import type { FastifyRequest } from 'fastify';

const name = 'muster_session';

/** Reads the key of a signed-in browser from its session cookie. */
export function sessionSecret(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [cookie, value] = pair.split('=').map((part) => part.trim());
    if (cookie === name) return value;
  }
  return undefined;
}

/** A session cookie, or one that expires with the key. Scripts cannot read it. */
export const sessionCookie = (baseUrl: string, secret: string, expires_at: string | null) =>
  cookie(baseUrl, secret, expires_at && `Expires=${new Date(expires_at).toUTCString()}`);

export const endedSession = (baseUrl: string) => cookie(baseUrl, '', 'Max-Age=0');

function cookie(baseUrl: string, value: string, lifetime: string | null): string {
  const { protocol, pathname } = new URL(baseUrl);
  const secure = protocol === 'https:' && 'Secure';
  return [`${name}=${value}`, `Path=${pathname}`, 'HttpOnly', 'SameSite=Strict', secure, lifetime]
    .filter(Boolean)
    .join('; ');
}

/**
 * Checks that a page of this service sent the request. Browsers send `Sec-Fetch-Site` only over HTTPS or to localhost;
 * otherwise the `Origin` header must match the service.
 */
export function isSameOrigin({ headers, server }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = URL.parse(headers.origin ?? '');
  return (
    origin !== null && (origin.host === headers.host || origin.origin === new URL(server.baseUrl).origin)
  );
}
