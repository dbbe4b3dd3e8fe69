import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Problem, problems } from '../../../core/errors.ts';
import { optional, Strict } from '../../../core/schemas.ts';
import { limitAttempts, warnAboutProxy } from '../../../http/auth/attempts.ts';
import { createCookie } from '../../../http/auth/cookie.ts';
import { signIn } from '../../../http/auth/sign-in.ts';
import type { App } from '../../../http/fastify.ts';
import { findPerson } from '../../../store/access/actors.ts';
import { createChallenge, takeChallenge } from '../../../store/access/challenges.ts';
import { hashSecret } from '../../../store/access/secret.ts';
import { describeFailure, isUnavailable } from './failures.ts';
import { processLogout } from './logout.ts';
import { findByClaims, SignInRefused } from './people.ts';
import { callbackPath, clockToleranceSeconds, openidClient, openProvider, readClaims } from './provider.ts';
import { oidcSettings } from './settings.ts';

const stateMinutes = 10;

type Attempt = {
  nonce: string;
  code_verifier: string;
  return_to: string;
  /** The hash of the secret in the cookie of the browser that has to come back. */
  browser: string;
  /** The hash of the token of the session that the new one replaces: its cookie does not come back from another site. */
  previous: string | null;
  /** The time after which the person has to enter a password or the like at the provider; null if its session is enough. */
  again_since: string | null;
};

/** People sign in at an identity provider: Authorization Code flow with PKCE (OpenID Connect Core, RFC 9700). */
export function oidcRoutes(app: App): void {
  const tags = ['sessions'];
  const redirect = Type.Unsafe<undefined>({ type: 'null', description: 'To the next page.' });
  // All tabs of a browser share its secret, so that several can sign in at the same time.
  const browserCookie = () => createCookie(app.baseUrl, 'muster_oidc', 'Lax');

  app.get(
    '/v1/session/oidc/start',
    {
      config: { access: 'public', errors: ['rate_limited', 'not_found'] },
      preHandler: [warnAboutProxy(app), limitAttempts(app)],
      schema: {
        operationId: 'startOidcSignIn',
        summary: 'Sign in at the identity provider',
        tags,
        querystring: Strict(
          optional({
            return_to: Type.String({
              maxLength: 2000,
              description: 'The path of the page to return to, relative to the service.',
              examples: ['/risks'],
            }),
            again: Type.Boolean({
              description:
                'Ask the person to sign in at the provider even if they are signed in there. For what needs a recent sign-in.',
            }),
          }),
        ),
        response: { 303: redirect },
      },
    },
    async (request, reply) => {
      const settings = requireSettings(app);
      const { again = false } = request.query;
      const return_to = relativePath(app, request.query.return_to);
      try {
        const config = await openProvider(app, settings);
        const client = await openidClient();
        const [nonce, code_verifier] = [client.randomNonce(), client.randomPKCECodeVerifier()];
        const { headers, moment } = request;
        const browser = findSecret(browserCookie().read(headers.cookie)) ?? newBrowserSecret();
        const session = app.sessionCookie.read(headers.cookie);
        const attempt: Attempt = {
          nonce,
          code_verifier,
          return_to,
          browser: hashSecret(browser),
          previous: session === undefined ? null : hashSecret(session),
          again_since: again ? moment.now : null,
        };
        const { now } = moment;
        const state = await app.database.write((db) =>
          createChallenge(db, 'oidc', attempt, { now, minutes: stateMinutes }),
        );
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: `${app.baseUrl}${callbackPath}`,
          scope: settings.scope,
          response_mode: 'query',
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
          code_challenge_method: 'S256',
          // Some providers know only one of the two. With `max_age`, the ID token must say when the person signed in.
          ...(again && { prompt: 'login', max_age: '0' }),
        });
        const expires_at = new Date(Date.parse(now) + stateMinutes * 60_000).toISOString();
        return await noStore(reply)
          .header('set-cookie', browserCookie().set(browser, expires_at))
          .redirect(url.href, 303);
      } catch (error) {
        return explain(app, request, reply, 'unavailable', error);
      }
    },
  );

  app.get(
    callbackPath,
    {
      config: { access: 'public', errors: ['not_found'] },
      schema: {
        operationId: 'finishOidcSignIn',
        summary: 'Return from the identity provider',
        description: 'The redirect URI to register at the provider.',
        tags,
        // The provider may add parameters of its own.
        querystring: Type.Object({}, { additionalProperties: Type.Unknown() }),
        response: { 303: redirect },
      },
    },
    async (request, reply) => {
      const settings = requireSettings(app);
      try {
        const { headers, raw, moment } = request;
        const url = new URL(`${app.baseUrl}${callbackPath}${new URL(raw.url ?? '', app.baseUrl).search}`);
        const state = url.searchParams.get('state') ?? '';
        const browser = findSecret(browserCookie().read(headers.cookie));
        const attempt = browser && (await takeChallenge<Attempt>(app.database, 'oidc', state, moment.now));
        if (!attempt || !isEqual(attempt.browser, hashSecret(browser))) throw new SignInRefused('expired');
        const config = await openProvider(app, settings);
        const { authorizationCodeGrant } = await openidClient();
        const tokens = await authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.code_verifier,
        });
        if (attempt.again_since && !isSignedInSince(tokens.claims(), attempt.again_since))
          throw new SignInRefused('not_recent');
        const claims = await readClaims(config, settings, tokens);
        const { user_id, cookie } = await app.database.write(async (db) => {
          const { user_id, access } = await findByClaims(db, settings, claims, request);
          const actor = access && (await findPerson(db, user_id));
          if (!actor) return { user_id };
          const cookie = await signIn(request, db, async () => actor, {
            way: 'oidc',
            previous: attempt.previous,
            provider_session: typeof claims.sid === 'string' ? claims.sid : null,
            id_token: tokens.id_token ?? null,
          });
          return { user_id, cookie };
        });
        if (cookie === undefined) throw new SignInRefused('no_access', user_id);
        app.signIns.add({ way: 'oidc', result: 'succeeded' });
        return await noStore(reply)
          .header('set-cookie', cookie)
          .redirect(`${app.baseUrl}${attempt.return_to}`, 303);
      } catch (error) {
        return explain(app, request, reply, 'failed', error);
      }
    },
  );

  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
    );
    scope.post(
      '/v1/session/oidc/backchannel-logout',
      {
        config: { access: 'public', errors: ['rate_limited', 'not_found'] },
        preHandler: limitAttempts(app),
        schema: {
          operationId: 'endOidcSessions',
          summary: 'End the sessions of a person who signed out at the identity provider',
          description: 'For the provider, which sends a form with a signed `logout_token`.',
          tags,
          consumes: ['application/x-www-form-urlencoded'],
          body: Strict({ logout_token: Type.String({ maxLength: 10_000 }) }),
          response: { 200: Strict({ ended: Type.Boolean() }) },
        },
      },
      async (request, reply) => {
        const settings = requireSettings(app);
        const { logout_token } = request.body as { logout_token: string };
        noStore(reply);
        await processLogout(app, settings, logout_token);
        return reply.send({ ended: true });
      },
    );
  });
}

function requireSettings(app: App) {
  const settings = oidcSettings(app.config);
  if (settings) return settings;
  throw new Problem('not_found', 'No identity provider is configured here. Sign in in another way.');
}

/** Anything but a path of this service becomes its start page, so that a link cannot lead to another site after the sign-in. */
function relativePath({ baseUrl }: App, path = '/'): string {
  const base = new URL(`${baseUrl}/`);
  const url = path.startsWith('/') ? URL.parse(`${baseUrl}${path}`) : null;
  if (url?.origin !== base.origin || !`${url.pathname}/`.startsWith(base.pathname)) return '/';
  const relative = `${url.pathname}${url.search}`.slice(base.pathname.length - 1);
  // A path that begins with two slashes would be the name of a host where it is used without the base URL.
  return /^\/(?!\/)/.test(relative) ? relative : '/';
}

/** Whether the person has signed in at the provider since this time, and not just continued a session there. */
const isSignedInSince = (claims: { auth_time?: number } = {}, time: string) =>
  claims.auth_time !== undefined && (claims.auth_time + clockToleranceSeconds) * 1000 >= Date.parse(time);

const newBrowserSecret = () => randomBytes(32).toString('base64url');

const findSecret = (text: string | undefined) => (/^[\w-]{43}$/.test(text ?? '') ? text : undefined);

const isEqual = (hash: string, other: string) => timingSafeEqual(Buffer.from(hash), Buffer.from(other));

const noStore = (reply: FastifyReply) => reply.header('cache-control', 'no-store');

/** Returns to the sign-in page, which explains what went wrong in words for people. */
async function explain(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  fallback: 'failed' | 'unavailable',
  error: unknown,
) {
  // An overloaded service, or its database.
  if (error instanceof Problem && problems[error.code].status >= 500) throw error;
  const refused = error instanceof SignInRefused ? error : undefined;
  if (!refused) request.log.warn(describeFailure(error));
  const problem = refused?.problem ?? problemOf(error) ?? fallback;
  await app.failedSignIns.record(request, { user_id: refused?.user_id ?? null, way: 'oidc', problem });
  return noStore(reply).redirect(`${app.baseUrl}/sign-in?problem=${problem}`, 303);
}

const problemOf = (error: unknown) =>
  isUnavailable(error)
    ? 'unavailable'
    : error instanceof Error && 'error' in error && error.error === 'access_denied'
      ? 'refused'
      : undefined;
