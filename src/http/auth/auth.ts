import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyRequest, preHandlerHookHandler } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { keyLimited, Problem, unavailable } from '../../core/errors.ts';
import { networkReader } from '../../core/network/addresses.ts';
import { parameterScope } from '../../core/schemas.ts';
import { grants, insufficientScope, type Scope } from '../../core/scopes.ts';
import { inSnapshot } from '../../database/open.ts';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { versionOf } from '../../database/versions.ts';
import { type SignInWay, signInWays } from '../../resources/sessions/schema.ts';
import { type Actor, findActor } from '../../store/access/actors.ts';
import { looksLikeSecret } from '../../store/access/secret.ts';
import { scopeToProjects } from '../../store/project-scope.ts';
import type { Tables } from '../../store/tables.ts';
import { dataVersionAhead, requireVersion } from '../../store/writes/table-versions.ts';
import { Counts } from '../ops/request-histogram.ts';
import { varyOn } from '../response/headers.ts';
import { actorTables, createActorCache } from './actor-cache.ts';
import { isSameOrigin, isSessionToken, secretCookie } from './cookie.ts';
import { createFailedSignIns } from './failed-sign-ins.ts';
import { actorLimits, rateLimiter, tooManyRequests } from './rate-limits.ts';
import { createRejectionLog } from './rejection-log.ts';
import { createSignInQueue } from './sign-in-queue.ts';
import { createUsage } from './usage.ts';

/**
 * The permission a route requires: a scope, any valid key or session, a person who has signed in, or none. Every route
 * declares it.
 */
export type Access = Scope | 'any' | 'person' | 'public';

/** Requires a key or session with access to the route. A route that declares no access stops the service from starting. */
export function installAuth(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.access)
      throw new Error(`${method} ${url} declares no access: set config.access to its scope.`);
  });
  requireParameterScopes(app);

  app.decorate(
    'usage',
    createUsage(app.database, (error) => app.log.warn(error)),
  );
  // `onClose` hooks run in reverse order, so this one runs before the database is closed.
  app.addHook('onClose', () => app.usage.flush());

  app.decorate('sessionCookie', secretCookie(app, 'session', 'Strict'));
  // The identity provider sends the browser back from another site.
  app.decorate('deviceCookie', secretCookie(app, 'device', 'Lax'));
  app.decorate('secretOf', secretReader(app));
  app.decorate('actorCache', createActorCache(app.database));
  app.decorate('actorLimits', actorLimits(app.config));
  app.decorate('failedAttempts', createFailedAttempts(app));
  app.decorate(
    'signIns',
    new Counts<{ way: SignInWay; result: string }>([
      ...signInWays.map((way) => ({ way, result: 'succeeded' })),
      ...(['password', 'passkey', 'oidc'] as const).map((way) => ({ way, result: 'failed' })),
    ]),
  );
  app.decorate('failedSignIns', createFailedSignIns(app));
  app.decorate(
    'signInQueue',
    createSignInQueue(app.config, () => Date.parse(app.clock().now)),
  );
  app.decorate('authenticate', createAuthentication(app));
  // Responses depend on the actor, so shared caches must not store them and browsers must revalidate them.
  const privateHeaders = {
    'cache-control': 'private, no-cache',
    vary: varyOn(app.config, 'authorization', 'cookie', 'accept'),
  };

  app.decorateRequest('actor');
  app.decorateRequest('accessVersion');
  app.decorateRequest('database');
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    reply.headers(privateHeaders);
    rejectWithoutSecret(request);
    const actor = await app.authenticate(request, app.secretOf(request.headers) ?? '');
    request.actor = actor;
    request.database = scopeToProjects(app.database, actor.project_ids, reply.elapsedTime, (...args) =>
      assertUnchanged(request, ...args),
    );
    app.usage.recordUse(actor, request.moment);
    const charge = app.actorLimits.charge(actor, Date.parse(request.moment.now));
    if (!charge.isAllowed) throw tooManyRequests('You have sent too many requests.', charge);
    reply.headers(charge.headers);
    if (!isRead(request)) assertNamedSession(request, actor);
    assertAccess(request, actor, access);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 304 && request.actor) {
      reply.headers(app.actorLimits.refund(request.actor, Date.parse(request.moment.now)).headers);
    }
    done(null, payload);
  });
}

/** How long after signing in a person may change how they sign in, without signing in again. */
const recentMinutes = 15;

function assertAccess({ routeOptions, moment }: FastifyRequest, actor: Actor, access: Access): void {
  const { requiresUnrestrictedKey: why, requiresRecentSignIn } = routeOptions.config;
  if (access === 'person') assertPerson(actor);
  else if (!hasAccess(actor, access)) throw lacksScope(access as Scope);
  if (why !== undefined && actor.project_ids !== null) throw keyLimited(why);
  if (requiresRecentSignIn) assertRecentSignIn(actor, moment);
}

/** A browser may have signed in with a key, also with a personal one: it may do what the key may. */
function assertPerson({ session, user_id, key_id }: Actor): void {
  if (session !== null && user_id !== null && key_id === null) return;
  const detail = 'Only a person who has signed in can do this. A key cannot, whatever its scopes.';
  throw new Problem('person_required', detail);
}

/** Throws unless the person has signed in a short time ago. A browser that was left open must not be enough. */
export function assertRecentSignIn({ session }: Actor, { now }: Moment): void {
  const age = Date.parse(now) - Date.parse(session?.created_at ?? '');
  if (age <= recentMinutes * 60_000) return;
  const detail = `You signed in more than ${recentMinutes} minutes ago. Sign in again to continue.`;
  throw new Problem('sign_in_again', detail);
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

/** Rejects a request without a key or session, and a write with a session that a page on another site triggered (CSRF). */
function rejectWithoutSecret(request: FastifyRequest): void {
  const { authorization } = request.headers;
  const hasOtherScheme = authorization !== undefined && !/^Bearer\b/i.test(authorization);
  if (
    hasOtherScheme ||
    (authorization === undefined && request.server.secretOf(request.headers) === undefined)
  ) {
    const [scheme = ''] = /^(Basic|Digest|Negotiate|Token|ApiKey)\b/i.exec(authorization ?? '') ?? [];
    const advice = 'Send an API key: `Authorization: Bearer <API_KEY>`.';
    throw new Problem('unauthenticated', scheme ? `\`${scheme}\` is not supported. ${advice}` : advice, {
      headers: { 'www-authenticate': 'Bearer realm="muster"' },
    });
  }
  if (authorization !== undefined || isRead(request)) return;
  assertSameOrigin(request);
}

const isRead = ({ method }: FastifyRequest) => ['GET', 'HEAD'].includes(method);

/** Throws if a write names another session than it came with: all pages of a browser share one cookie. */
export function assertNamedSession({ headers }: FastifyRequest, { session, name }: Actor): void {
  const named = headers['muster-session'];
  if (named === undefined || named === session?.id) return;
  throw new Problem(
    'session_changed',
    `This page belongs to another session: ${name} is signed in now. Nothing was saved.`,
  );
}

/** Throws unless a page of this service sent the request. */
export function assertSameOrigin(request: FastifyRequest): void {
  if (isSameOrigin(request)) return;
  throw new Problem(
    'cross_origin',
    'Only pages of this service can sign in, sign out or make changes in a session. Programs send a key in a header.',
  );
}

/** Counts failed attempts by network and returns the error to send. */
function createFailedAttempts({ config }: FastifyInstance) {
  const failures = rateLimiter('address');
  const networkOfClient = networkReader(config.trust_proxy);
  return ({ raw, moment }: FastifyRequest, error: string): Problem => {
    const charge = failures.charge(networkOfClient(raw), config.failed_auth_limit, Date.parse(moment.now));
    return charge.isAllowed
      ? invalidToken(error, charge.headers)
      : tooManyRequests('Too many failed authentication attempts from your address.', charge);
  };
}

/**
 * Finds who has a key or session. A valid one always works from any address: many people may share an address, and one of
 * them must not lock out the rest.
 */
function createAuthentication(app: FastifyInstance) {
  const { config, database, organizationClock, actorCache, failedAttempts } = app;
  const idleMs = config.session_idle_days * dayMs;
  const logRejection = createRejectionLog(app);
  return async (request: FastifyRequest, secret: string): Promise<Actor> => {
    const isSession = isSessionToken(secret);
    if (!isSession && !looksLikeSecret(secret)) {
      logRejection(request, invalidKey);
      throw failedAttempts(request, `${invalidKey} Check it for typing errors.`);
    }
    const versions = await database.versions();
    request.accessVersion = versionOf(versions, actorTables);
    if (!organizationClock.isCurrent(versions)) {
      await organizationClock.refresh(versions);
      request.moment = organizationClock.clock();
    }
    const find = (isAgain?: boolean) => actorCache.find(secret, versions, request.moment, isAgain);
    let actor = await find();
    // Another instance may have seen the session since it was cached.
    if (actor?.session && actorError(actor, request.moment, idleMs) !== undefined) actor = await find(true);
    const error = errorOf(actor, request.moment, secret, idleMs);
    if (actor && error === undefined) return actor;
    // A session that has ended is no news: its browser asks again after every pause.
    if (!isSession) logRejection(request, error ?? invalidKey, actor?.id);
    throw failedAttempts(request, error ?? signedOut);
  };
}

const invalidKey = "That key isn't valid.";
export const signedOut = 'You are signed out. Sign in again.';

/**
 * Throws if the actor may no longer make this change: the body of a request may arrive long after its head, and a write may
 * wait. Compares one number, and reads the actor again only if the access of anybody has changed since. What gives access
 * holds the lock on `access` at its end, as what ends it does, so nothing can come between.
 */
async function assertUnchanged(
  request: FastifyRequest,
  db: Transaction<Tables>,
  seen = request.accessVersion,
  mayStartAgain = false,
): Promise<number> {
  const { actor, server, headers } = request;
  if (mayStartAgain) return requireVersion(db, actorTables, seen);
  const version = await dataVersionAhead(db, actorTables);
  if (version === seen) return version;
  const secret = server.secretOf(headers) ?? '';
  const moment = server.clock();
  const find = (db: Kysely<Tables>) => findActor(db, secret, moment.now);
  // Not in the transaction, which may change the access itself, nor on a connection that transactions may have used up.
  const current = await (hasSingleWriter(db) ? find(server.database.db) : inSnapshot(server.database, find));
  const error = errorOf(current, moment, secret, server.config.session_idle_days * dayMs);
  if (error !== undefined || !current) throw server.failedAttempts(request, error ?? invalidKey);
  const accessOf = ({ scopes, project_ids, expires_at }: Actor) => ({ scopes, project_ids, expires_at });
  if (isDeepStrictEqual(accessOf(current), accessOf(actor))) return version;
  assertAccess(request, current, request.routeOptions.config.access ?? 'public');
  throw unavailable('Your access has changed since the request began. Nothing was saved. Send it again.', 1);
}

/** The reason why a secret does not work now; undefined if it does. */
const errorOf = (actor: Actor | undefined, moment: Moment, secret: string, idleMs: number) =>
  actor ? actorError(actor, moment, idleMs) : isSessionToken(secret) ? signedOut : invalidKey;

const dayMs = 86_400_000;

/**
 * Reads the key from the `Authorization` header or, in a browser that is signed in, the token from its cookie. Neither
 * works in the place of the other: a token in a header could be sent by scripts, a key in a cookie would outlive a session.
 */
const secretReader =
  ({ sessionCookie }: FastifyInstance) =>
  ({ authorization, cookie }: IncomingHttpHeaders): string | undefined => {
    if (authorization === undefined) return sessionCookie.read(cookie);
    const secret = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
    return secret?.startsWith('mss_') ? '' : secret;
  };

/** The reason why a key or session does not work now; undefined if it does. */
export function actorError(actor: Actor, { now, today }: Moment, idleMs: number): string | undefined {
  const { ended, expires_at, end_on, session } = actor;
  if (ended !== null) return ended;
  if (expires_at !== null && expires_at <= now) return 'That key has expired. Ask for a new one.';
  if (end_on !== null && end_on < today) return `Your access ended on ${end_on}, your last day.`;
  if (session === null) return undefined;
  const isIdle = session.last_seen_at < now && Date.parse(now) - Date.parse(session.last_seen_at) >= idleMs;
  return session.expires_at <= now || isIdle ? signedOut : undefined;
}

export const hasAccess = ({ scopes }: Pick<Actor, 'scopes'>, access: Access): boolean =>
  access === 'any' || access === 'public' || (access !== 'person' && grants(scopes, access));

const invalidToken = (detail: string, headers: Record<string, string>) =>
  new Problem('unauthenticated', detail, {
    headers: {
      ...headers,
      'www-authenticate': `Bearer realm="muster", error="invalid_token", error_description="${detail}"`,
    },
  });

const lacksScope = (scope: Scope) =>
  insufficientScope(`This requires the scope ${scope}. GET /v1/me shows the scopes that you have.`, [scope]);
