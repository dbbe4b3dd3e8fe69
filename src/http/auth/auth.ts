import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest, preHandlerHookHandler } from 'fastify';
import { networkReader } from '../../core/addresses.ts';
import type { Moment } from '../../core/clock.ts';
import { keyLimited, Problem } from '../../core/errors.ts';
import { parameterScope } from '../../core/schemas.ts';
import type { Key, Scope } from '../../resources/keys/schema.ts';
import { grants, insufficientScope } from '../../store/keys/scopes.ts';
import { looksLikeSecret } from '../../store/keys/secret.ts';
import { scopeToProjects } from '../../store/project-scope.ts';
import { varyOn } from '../response/headers.ts';
import { isSameOrigin, sessionSecret } from './cookie.ts';
import { createKeyCache } from './key-cache.ts';
import { createKeyUsage } from './key-usage.ts';
import { keyLimits, rateLimiter, tooManyRequests } from './rate-limits.ts';

/** The permission a route requires: a scope, any valid key, or none. Every route declares it. */
export type Access = Scope | 'any key' | 'public';

/** Requires a key with access to the route. A route that declares no access stops the service from starting. */
export function installAuth(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.access)
      throw new Error(`${method} ${url} declares no access: set config.access to its scope.`);
  });
  requireParameterScopes(app);

  app.decorate(
    'keyUsage',
    createKeyUsage(app.database, (error) => app.log.warn(error)),
  );
  // `onClose` hooks run in reverse order, so this one runs before the database is closed.
  app.addHook('onClose', () => app.keyUsage.flush());

  app.decorate('keyCache', createKeyCache(app.database));
  app.decorate('keyLimits', keyLimits(app.config));
  app.decorate('authenticate', createAuthentication(app));
  // Responses depend on the key, so shared caches must not store them and browsers must revalidate them.
  const privateHeaders = {
    'cache-control': 'private, no-cache',
    vary: varyOn(app.config, 'authorization', 'cookie', 'accept'),
  };

  app.decorateRequest('actor');
  app.decorateRequest('database');
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    reply.headers(privateHeaders);
    rejectWithoutKey(request);
    const key = await app.authenticate(request, bearerToken(request.headers) ?? '');
    request.actor = key;
    request.database = scopeToProjects(app.database, key.project_ids, reply.elapsedTime);
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

/** Query parameters with a scope in their schema reveal data of another area, so they need it as well. */
function requireParameterScopes(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { properties = {} } = (route.schema?.querystring ?? {}) as { properties?: Record<string, object> };
    const scoped = Object.entries(properties).flatMap(([name, schema]) =>
      parameterScope in schema ? [{ name, scope: schema[parameterScope] as Scope }] : [],
    );
    if (scoped.length === 0) return;
    const check: preHandlerHookHandler = ({ query, actor, routeOptions }, _, done) => {
      const used = scoped.filter(({ name }) => (query as Record<string, unknown>)[name]);
      const missing = used.find(({ scope }) => !grants(actor.scopes, scope));
      if (!missing) return done();
      const { access } = routeOptions.config;
      const detail = `\`${missing.name}\` requires the scope ${missing.scope} as well. Leave it out, or use a key that has the scope.`;
      done(insufficientScope(detail, [access as Scope, missing.scope]));
    };
    route.preHandler = [check, ...[route.preHandler ?? []].flat()];
  });
}

/** Rejects a request without a key, and a write with a session cookie that a page on another site triggered (CSRF). */
function rejectWithoutKey(request: FastifyRequest): void {
  const { authorization } = request.headers;
  const hasOtherScheme = authorization !== undefined && !/^Bearer\b/i.test(authorization);
  if (hasOtherScheme || (authorization === undefined && bearerToken(request.headers) === undefined)) {
    const [scheme = ''] = /^(Basic|Digest|Negotiate|Token|ApiKey)\b/i.exec(authorization ?? '') ?? [];
    const advice = 'Send an API key: `Authorization: Bearer <API_KEY>`.';
    throw new Problem('unauthenticated', scheme ? `\`${scheme}\` is not supported. ${advice}` : advice, {
      headers: { 'www-authenticate': 'Bearer realm="muster"' },
    });
  }
  if (authorization !== undefined) return;
  if (!['GET', 'HEAD'].includes(request.method) && !isSameOrigin(request)) {
    const detail =
      'Only pages of this service can make changes with the session cookie. Send the key in a header.';
    throw new Problem('cross_origin', detail);
  }
}

/**
 * Finds the valid key with a secret, and counts failed authentications by network. A valid key always works from any
 * address: many people may share an address, and one of them must not lock out the rest.
 */
function createAuthentication({ config, database, organizationClock, keyCache }: FastifyInstance) {
  const failures = rateLimiter('address');
  const networkOfClient = networkReader(config.trust_proxy);
  const reject = ({ raw, moment }: FastifyRequest, error: string): Problem => {
    const charge = failures.charge(networkOfClient(raw), config.failed_auth_limit, Date.parse(moment.now));
    return charge.isAllowed
      ? invalidToken(error, charge.headers)
      : tooManyRequests('Too many failed authentication attempts from your address.', charge);
  };
  return async (request: FastifyRequest, secret: string): Promise<Key> => {
    if (!looksLikeSecret(secret)) throw reject(request, "That key isn't valid. Check it for typing errors.");
    const versions = await database.versions();
    if (!organizationClock.isCurrent(versions)) {
      await organizationClock.refresh(versions);
      request.moment = organizationClock.clock();
    }
    const key = await keyCache.find(secret, versions, request.moment);
    if (!key) throw reject(request, "That key isn't valid.");
    const error = keyError(key, request.moment);
    if (error !== undefined) throw reject(request, error);
    return key;
  };
}

/** Reads the secret from the `Authorization` header or, in a signed-in browser, from the session cookie. */
export const bearerToken = ({ authorization, cookie }: IncomingHttpHeaders): string | undefined =>
  authorization === undefined ? sessionSecret(cookie) : /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];

/** The reason why a key no longer works; undefined while it does. */
export function keyError({ revoked_at, expires_at }: Key, { now }: Moment): string | undefined {
  if (revoked_at !== null) return 'That key has been revoked. Ask for a new one.';
  if (expires_at !== null && expires_at <= now) return 'That key has expired. Ask for a new one.';
  return undefined;
}

export const hasAccess = ({ scopes }: Key, access: Access): boolean =>
  access === 'any key' || access === 'public' || grants(scopes, access);

const invalidToken = (detail: string, headers: Record<string, string>) =>
  new Problem('unauthenticated', detail, {
    headers: {
      ...headers,
      'www-authenticate': `Bearer realm="muster", error="invalid_token", error_description="${detail}"`,
    },
  });

const lacksScope = (scope: Scope) =>
  insufficientScope(`This requires the scope ${scope}. GET /v1/me shows the scopes of your key.`, [scope]);
