import { Problem } from '../../core/errors.ts';
import { NoContent } from '../../core/schemas.ts';
import { endedSession, isSameOrigin, sessionCookie } from '../../http/auth/cookie.ts';
import type { App } from '../../http/fastify.ts';
import { SessionInput } from './schema.ts';

/** For browsers, which should not keep a key where a script can read it. */
export function sessionRoutes(app: App): void {
  app.post(
    '/v1/session',
    {
      config: { access: 'public', errors: ['unauthenticated', 'rate_limited'] },
      schema: {
        operationId: 'createSession',
        summary: 'Sign a browser in with a key',
        description:
          'Sets a cookie that stands for `Authorization` in what the pages of this service send. It lasts until the browser is closed, or the key expires or is revoked.',
        tags: ['service'],
        body: SessionInput,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      // Nobody may be signed in by a page of someone else's.
      if (request.headers.origin !== undefined && !isSameOrigin(request)) {
        throw new Problem('cross_origin', 'Sign in from the pages of this service.');
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
        summary: 'Sign a browser out',
        description: 'Takes the cookie away. The key stays valid: revoke it to end it everywhere.',
        tags: ['service'],
        response: { 204: NoContent },
      },
    },
    async (_, reply) => reply.code(204).header('set-cookie', endedSession(app.baseUrl)).send(),
  );
}
