import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { findKeyBySecret } from '../keys/queries.ts';
import type { Key } from '../keys/schema.ts';
import { grants, insufficientScope, type Scope } from '../keys/scopes.ts';
import { looksLikeSecret } from '../keys/secret.ts';
import { keepKeyUsage } from '../keys/usage.ts';

/** What a route asks of a request: one scope, any valid key, or nothing. Each route declares it. */
export type Access = Scope | 'any key' | 'public';

export type Actor = Key;

/** Lets a request through only with a key that opens its route, and refuses to start with a route that names no access. */
export function guardAccess(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.access)
      throw new Error(`${method} ${url} declares no access: set config.access to its scope.`);
  });

  app.decorate(
    'keyUsage',
    keepKeyUsage(app.database, (error) => app.log.warn(error)),
  );
  // Hooks of closing run last one first: this one before the database is closed.
  app.addHook('onClose', () => app.keyUsage.flush());

  app.decorateRequest('actor');
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    // Answers depend on the key: no shared cache may keep them, and none may be used unasked.
    reply.headers({ 'cache-control': 'private, no-cache', vary: 'authorization, accept' });
    request.actor = await authenticate(request);
    app.keyUsage.noteUse(request.actor, request.moment);
    if (access !== 'any key' && !grants(request.actor.scopes, access)) throw lacksScope(access);
  });
}

async function authenticate(request: FastifyRequest): Promise<Actor> {
  const header = request.headers.authorization;
  if (header === undefined) {
    throw new Problem('unauthenticated', 'Send an API key: `Authorization: Bearer <API_KEY>`.', {
      headers: { 'www-authenticate': 'Bearer realm="muster"' },
    });
  }
  const [, secret = ''] = /^Bearer +([^ ]+) *$/i.exec(header) ?? [];
  if (!looksLikeSecret(secret))
    throw invalidToken('This is not an API key of Muster. Check it for typing errors.');
  const key = await findKeyBySecret(request.server.database.db, secret, request.moment);
  if (!key) throw invalidToken('This API key is unknown.');
  if (key.revoked_at !== null) throw invalidToken('This API key has been revoked. Ask for a new one.');
  if (key.expires_at !== null && key.expires_at <= request.moment.now) {
    throw invalidToken('This API key has expired. Ask for a new one.');
  }
  return key;
}

const invalidToken = (detail: string) =>
  new Problem('unauthenticated', detail, {
    headers: {
      'www-authenticate': `Bearer realm="muster", error="invalid_token", error_description="${detail}"`,
    },
  });

const lacksScope = (scope: Scope) =>
  insufficientScope(`This needs a key with the scope ${scope}. GET /v1/me shows what yours has.`, [scope]);
