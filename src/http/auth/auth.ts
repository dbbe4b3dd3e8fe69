import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkReader } from '../../core/addresses.ts';
import type { Moment } from '../../core/clock.ts';
import { keyLimited, Problem } from '../../core/errors.ts';
import { scopeToProjects } from '../../database/project-scope.ts';
import type { Key, Scope } from '../../resources/keys/schema.ts';
import { varyOn } from '../response/headers.ts';
import { isSameOrigin, sessionSecret } from './cookie.ts';
import { createKeyCache } from './key-cache.ts';
import { createKeyUsage } from './key-usage.ts';
import { keyLimits, rateLimiter, tooManyRequests } from './rate-limits.ts';
import { grants, insufficientScope } from './scopes.ts';
import { looksLikeSecret } from './secret.ts';

/** What a route asks of a request: one scope, any valid key, or nothing. Each route declares it. */
export type Access = Scope | 'any key' | 'public';

export type Actor = Key;

/** Lets a request through only with a key that opens its route, and refuses to start with a route that names no access. */
export function installAuth(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.access)
      throw new Error(`${method} ${url} declares no access: set config.access to its scope.`);
  });

  app.decorate(
    'keyUsage',
    createKeyUsage(app.database, (error) => app.log.warn(error)),
  );
  // Hooks of closing run last one first: this one before the database is closed.
  app.addHook('onClose', () => app.keyUsage.flush());

  app.decorate('keyCache', createKeyCache(app.database));
  app.decorate('keyLimits', keyLimits(app.config));
  const rejectKey = createKeyRejection(app);
  app.decorate('authenticate', async (request, secret) => {
    const key = await findKey(request, secret);
    if ('error' in key) throw rejectKey(request, key.error);
    return key;
  });
  // Answers depend on the key: no shared cache may keep them, and none may be used unasked.
  const personal = {
    'cache-control': 'private, no-cache',
    vary: varyOn(app.config, 'authorization', 'cookie', 'accept'),
  };

  app.decorateRequest('actor');
  app.decorateRequest('database');
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    reply.headers(personal);
    rejectWithoutKey(request);
    const key = await app.authenticate(request, bearerToken(request.headers) ?? '');
    request.actor = key;
    request.database = scopeToProjects(app.database, key.project_ids);
    app.keyUsage.recordUse(key, request.moment);
    const charge = app.keyLimits.charge(key, Date.parse(request.moment.now));
    if (!charge.isAllowed) throw tooManyRequests('This key has sent too many requests.', charge);
    reply.headers(charge.headers);
    if (access !== 'any key' && !hasAccess(key, access)) throw lacksScope(access);
    const { requiresUnrestrictedKey: why } = request.routeOptions.config;
    if (why !== undefined && key.project_ids !== null) throw keyLimited(why);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 304 && request.actor) {
      reply.headers(app.keyLimits.refund(request.actor, Date.parse(request.moment.now)).headers);
    }
    done(null, payload);
  });
}

/** Refuses a request without a key, and a change that another site makes a browser send its cookie with. */
function rejectWithoutKey(request: FastifyRequest): void {
  if (request.headers.authorization !== undefined) return;
  if (bearerToken(request.headers) === undefined) {
    throw new Problem('unauthenticated', 'Send an API key: `Authorization: Bearer <API_KEY>`.', {
      headers: { 'www-authenticate': 'Bearer realm="muster"' },
    });
  }
  if (!['GET', 'HEAD'].includes(request.method) && !isSameOrigin(request)) {
    const detail =
      'Only pages of this service may change something with its cookie. Send the key in a header.';
    throw new Problem('cross_origin', detail);
  }
}

/** The key with this secret, or what is wrong with it. */
async function findKey(request: FastifyRequest, secret: string): Promise<Actor | { error: string }> {
  if (!looksLikeSecret(secret))
    return { error: 'This is not an API key of Muster. Check it for typing errors.' };
  const key = await request.server.keyCache.find(secret, request.moment);
  if (!key) return { error: 'This API key is unknown.' };
  const error = keyError(key, request.moment);
  return error === undefined ? key : { error };
}

/** The secret that came with a request: in a header, or, from a browser that has signed in, in its cookie. */
export const bearerToken = ({ authorization, cookie }: IncomingHttpHeaders): string | undefined =>
  authorization === undefined ? sessionSecret(cookie) : /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];

/** Why a key is of no use any more, if it is not. */
export function keyError({ revoked_at, expires_at }: Key, { now }: Moment): string | undefined {
  if (revoked_at !== null) return 'This API key has been revoked. Ask for a new one.';
  if (expires_at !== null && expires_at <= now) return 'This API key has expired. Ask for a new one.';
  return undefined;
}

/** Whether a key opens what asks for this. */
export const hasAccess = ({ scopes }: Key, access: Access): boolean =>
  access === 'any key' || access === 'public' || grants(scopes, access);

/**
 * Refused keys are counted by address. A good key works from any address at any time: many people may share one, and
 * one of them must not lock out the others.
 */
function createKeyRejection({ config }: FastifyInstance) {
  const failures = rateLimiter('address');
  const networkOfClient = networkReader(config.trust_proxy);
  return ({ raw, moment }: FastifyRequest, error: string): Problem => {
    const charge = failures.charge(networkOfClient(raw), config.failed_auth_limit, Date.parse(moment.now));
    return charge.isAllowed
      ? invalidToken(error, charge.headers)
      : tooManyRequests('Too many keys from your address were refused.', charge);
  };
}

const invalidToken = (detail: string, headers: Record<string, string>) =>
  new Problem('unauthenticated', detail, {
    headers: {
      ...headers,
      'www-authenticate': `Bearer realm="muster", error="invalid_token", error_description="${detail}"`,
    },
  });

const lacksScope = (scope: Scope) =>
  insufficientScope(`This needs a key with the scope ${scope}. GET /v1/me shows what yours has.`, [scope]);
