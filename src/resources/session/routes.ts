import { Problem } from '../../core/errors.ts';
import { NoContent } from '../../core/schemas.ts';
import { endedSession, isSameOrigin, sessionCookie } from '../../http/auth/cookie.ts';
import type { App } from '../../http/fastify.ts';
import { SessionInput } from './schema.ts';

/** Browsers sign in with an HttpOnly cookie, so that scripts cannot read the key. */
export function sessionRoutes(app: App): void {
  app.post(
    '/v1/session',
    {
      config: { access: 'public', errors: ['unauthenticated', 'rate_limited'] },
      schema: {
        operationId: 'createSession',
        summary: 'Sign in a browser with a key',
        description:
          'Sets a cookie that replaces the `Authorization` header for pages of this service. The session ends when the browser closes or when the key expires or is revoked.',
        tags: ['service'],
        body: SessionInput,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      // Prevents login CSRF: another site must not sign the browser in.
      if (request.headers.origin !== undefined && !isSameOrigin(request)) {
        throw new Problem(
          'cross_origin',
          'This sign-in came from another site. Sign in on a page of this service.',
        );
      }
      const { key } = request.body;
      const { expires_at } = await app.authenticate(request, key);
      return reply
        .code(204)
        .headers({ 'set-cookie': sessionCookie(app.baseUrl, key, expires_at), 'cache-control': 'no-store' })
        .send();
    },
  );

  app.delete(
    '/v1/session',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'deleteSession',
        summary: 'Sign out a browser',
        description: 'Deletes the cookie. The key stays valid; revoke it to sign out everywhere.',
        tags: ['service'],
        response: { 204: NoContent },
      },
    },
    async (_, reply) => reply.code(204).header('set-cookie', endedSession(app.baseUrl)).send(),
  );
}
