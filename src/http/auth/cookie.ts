import type { FastifyRequest } from 'fastify';

const name = 'muster_session';

/** The key that a browser has signed in with: the value of its cookie. */
export function sessionSecret(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [cookie, value] = pair.split('=').map((part) => part.trim());
    if (cookie === name) return value;
  }
  return undefined;
}

/** Kept by the browser until it is closed, or until the key expires; no script can read it. */
export const sessionCookie = (baseUrl: string, secret: string, expires_at: string | null) =>
  cookie(baseUrl, secret, expires_at && `Expires=${new Date(expires_at).toUTCString()}`);

export const endedSession = (baseUrl: string) => cookie(baseUrl, '', 'Max-Age=0');

function cookie(baseUrl: string, value: string, life: string | null): string {
  const { protocol, pathname } = new URL(baseUrl);
  const secure = protocol === 'https:' && 'Secure';
  return [`${name}=${value}`, `Path=${pathname}`, 'HttpOnly', 'SameSite=Strict', secure, life]
    .filter(Boolean)
    .join('; ');
}

/**
 * Whether a page of this service sent the request. Browsers say so themselves, but for plain HTTP on another host;
 * there it is the origin that must be that of the service.
 */
export function isSameOrigin({ headers, server }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = URL.parse(headers.origin ?? '');
  return (
    origin !== null && (origin.host === headers.host || origin.origin === new URL(server.baseUrl).origin)
  );
}
