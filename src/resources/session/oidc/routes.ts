import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Problem } from '../../../core/errors.ts';
import { optional, Strict } from '../../../core/schemas.ts';
import { limitAttempts } from '../../../http/auth/attempts.ts';
import { createCookie } from '../../../http/auth/cookie.ts';
import { clientOf, signIn } from '../../../http/auth/sign-in.ts';
import type { App } from '../../../http/fastify.ts';
import { findPerson } from '../../../store/access/actors.ts';
import { createChallenge, takeChallenge } from '../../../store/access/challenges.ts';
import { recordFailure } from '../../../store/access/sessions.ts';
import { bySystem } from '../../../store/writes/change.ts';
import { processLogout } from './logout.ts';
import { findByClaims, SignInRefused } from './people.ts';
import { callbackPath, openidClient, openProvider, readClaims } from './provider.ts';
import { oidcSettings } from './settings.ts';

const stateMinutes = 10;

/** A session whose access follows from a claim ends after a day, so that the claim is read again. */
const maxHoursOfClaim = 24;

type Attempt = { nonce: string; code_verifier: string; return_to: string };

/** People sign in at an identity provider: Authorization Code flow with PKCE (OpenID Connect Core, RFC 9700). */
export function oidcRoutes(app: App): void {
  const preHandler = limitAttempts(app);
  const tags = ['sessions'];
  const redirect = Type.Unsafe<undefined>({ type: 'null', description: 'To the next page.' });
  const stateCookie = () => createCookie(app.baseUrl, 'muster_oidc', 'Lax');

  app.get(
    '/v1/session/oidc/start',
    {
      config: { access: 'public', errors: ['rate_limited', 'not_found'] },
      preHandler,
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
          }),
        ),
        response: { 303: redirect },
      },
    },
    async (request, reply) => {
      const settings = requireSettings(app);
      const return_to = relativePath(app, request.query.return_to);
      try {
        const config = await openProvider(app, settings);
        const client = await openidClient();
        const [nonce, code_verifier] = [client.randomNonce(), client.randomPKCECodeVerifier()];
        const attempt: Attempt = { nonce, code_verifier, return_to };
        const { now } = request.moment;
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
        });
        const expires_at = new Date(Date.parse(now) + stateMinutes * 60_000).toISOString();
        return await noStore(reply)
          .header('set-cookie', stateCookie().set(state, expires_at))
          .redirect(url.href, 303);
      } catch (error) {
        return explain(app, request, reply, 'unavailable', error);
      }
    },
  );

  app.get(
    callbackPath,
    {
      config: { access: 'public', errors: ['rate_limited', 'not_found'] },
      preHandler,
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
        if (!isEqual(stateCookie().read(headers.cookie) ?? '', state)) throw new SignInRefused('expired');
        const attempt = await app.database.write((db) =>
          takeChallenge<Attempt>(db, 'oidc', state, moment.now),
        );
        if (!attempt) throw new SignInRefused('expired');
        if (url.searchParams.has('error')) throw new SignInRefused('refused');
        const config = await openProvider(app, settings);
        const { authorizationCodeGrant } = await openidClient();
        const tokens = await authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.code_verifier,
        });
        const claims = await readClaims(config, settings, tokens);
        const cookie = await app.database.write(async (db) => {
          const access = await findByClaims(db, settings, claims, moment);
          const actor = await findPerson(db, access.user_id);
          if (!actor) throw new SignInRefused('no_access');
          return signIn(request, db, actor, {
            way: 'oidc',
            ...(access.source === 'oidc' && { maxHours: maxHoursOfClaim }),
            provider_session: typeof claims.sid === 'string' ? claims.sid : null,
            id_token: tokens.id_token ?? null,
          });
        });
        return await noStore(reply)
          .header('set-cookie', [cookie, stateCookie().end()])
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
        preHandler,
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
  const url = /^\/(?![/\\])/.test(path) ? URL.parse(`${baseUrl}${path}`) : null;
  const isInside = url?.origin === base.origin && `${url.pathname}/`.startsWith(base.pathname);
  return isInside ? `${url.pathname}${url.search}`.slice(base.pathname.length - 1) || '/' : '/';
}

const isEqual = (one: string, other: string) =>
  one.length === other.length && one !== '' && timingSafeEqual(Buffer.from(one), Buffer.from(other));

const noStore = (reply: FastifyReply) => reply.header('cache-control', 'no-store');

/** Returns to the sign-in page, which explains what went wrong in words for people. */
async function explain(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  fallback: 'failed' | 'unavailable',
  error: unknown,
) {
  if (error instanceof Problem) throw error;
  const problem = error instanceof SignInRefused ? error.problem : fallback;
  if (!(error instanceof SignInRefused)) request.log.warn(error);
  const failed = { ...clientOf(request), user_id: null, way: 'oidc' as const };
  await app.database.write(async (db) => recordFailure(db, failed, bySystem(request.moment)));
  return noStore(reply).redirect(`${app.baseUrl}/sign-in?problem=${problem}`, 303);
}
