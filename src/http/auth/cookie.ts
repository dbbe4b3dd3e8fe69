import type { FastifyRequest } from 'fastify';
import { looksLikeSecret, prefixes } from '../../store/access/secret.ts';

/**
 * The name of a cookie. The prefixes let browsers reject one that was set by another host, or without https. A cookie of
 * one path cannot have the stricter prefix.
 */
const nameOf = (name: string, { protocol, pathname }: URL) =>
  protocol === 'https:' ? `${pathname === '/' ? '__Host-' : '__Secure-'}${name}` : name;

/** A cookie that scripts cannot read, of the host and path of the service. */
export function createCookie(baseUrl: string, base: string, sameSite: 'Strict' | 'Lax') {
  const url = new URL(baseUrl);
  const name = nameOf(base, url);
  const attributes = [`Path=${url.pathname}`, 'HttpOnly', `SameSite=${sameSite}`];
  if (url.protocol === 'https:') attributes.push('Secure');
  const set = (value: string, lifetime: string) => [`${name}=${value}`, ...attributes, lifetime].join('; ');
  return {
    /** The value in the `Cookie` header. */
    read(header: string | undefined): string | undefined {
      for (const pair of header?.split(';') ?? []) {
        const at = pair.indexOf('=');
        if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
      }
      return undefined;
    },
    /** The `Set-Cookie` header that sets it until a time. */
    set: (value: string, expires_at: string) => set(value, `Expires=${new Date(expires_at).toUTCString()}`),
    /** The `Set-Cookie` header that deletes it. */
    end: () => set('', 'Max-Age=0'),
  };
}

type Cookie = ReturnType<typeof createCookie>;

/** A cookie with a secret of one purpose; anything else in it is ignored. The URL of the service is known only after it listens. */
export function secretCookie(
  app: { baseUrl: string },
  purpose: 'session' | 'device',
  sameSite: 'Strict' | 'Lax',
): Cookie {
  let cached: { baseUrl: string; cookie: Cookie } | undefined;
  const current = () => {
    const { baseUrl } = app;
    if (cached?.baseUrl !== baseUrl)
      cached = { baseUrl, cookie: createCookie(baseUrl, `muster_${purpose}`, sameSite) };
    return cached.cookie;
  };
  return {
    read(header) {
      const value = header === undefined ? undefined : current().read(header);
      return value?.startsWith(prefixes[purpose]) ? value : undefined;
    },
    set: (token, expires_at) => current().set(token, expires_at),
    end: () => current().end(),
  };
}

/** Whether a token can be that of a session. */
export const isSessionToken = (token: string) => looksLikeSecret(token, 'session');

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
