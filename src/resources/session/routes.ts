import type { FastifyRequest } from 'fastify';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { NoContent } from '../../core/schemas.ts';
import { limitAttempts, warnAboutProxy } from '../../http/auth/attempts.ts';
import { assertNamedSession, assertSameOrigin } from '../../http/auth/auth.ts';
import { changeBy, type FindActor, signIn } from '../../http/auth/sign-in.ts';
import type { App } from '../../http/fastify.ts';
import { sendWithContentEtag } from '../../http/response/resource.ts';
import { findActor, findActorBySession, findKey, findPerson } from '../../store/access/actors.ts';
import { findLink, takeLink } from '../../store/access/links.ts';
import { hashSecret, looksLikeSecret } from '../../store/access/secret.ts';
import { endSessions } from '../../store/access/sessions.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { authenticationOptions, findByPasskey, passkeyHost } from '../passkeys/queries.ts';
import { PasskeyOptions } from '../passkeys/schema.ts';
import { findByPassword } from '../passwords/queries.ts';
import type { SignInWay } from '../sessions/schema.ts';
import { signOutUrl } from './oidc/provider.ts';
import { oidcSettings } from './oidc/settings.ts';
import { SessionInput, SignedOut, SignInWays } from './schema.ts';

/** Browsers sign in with a cookie that scripts cannot read. */
export function sessionRoutes(app: App): void {
  const preHandler = warnAboutProxy(app);
  const signInErrors = ['unauthenticated', 'rate_limited', 'cross_origin'] as const;

  app.get(
    '/v1/session/ways',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getSignInWays',
        summary: 'Get the ways to sign in',
        description: 'An API key always works.',
        tags: ['sessions'],
        response: { 200: SignInWays },
      },
    },
    async (request, reply) => {
      const oidc = oidcSettings(app.config);
      return sendWithContentEtag(request, reply, {
        password: app.config.passwords,
        passkey: passkeyHost(app) !== undefined,
        oidc: oidc && { label: oidc.label, redirect: oidc.redirect },
      });
    },
  );

  app.post(
    '/v1/session/passkey',
    {
      config: { access: 'public', errors: signInErrors },
      preHandler: [preHandler, limitAttempts(app)],
      schema: {
        operationId: 'createPasskeyChallenge',
        summary: 'Get the options to sign in with a passkey',
        description: 'The challenge in it works once, for 5 minutes.',
        tags: ['sessions'],
        response: { 200: PasskeyOptions },
      },
    },
    async (request, reply) => {
      assertSameOrigin(request);
      return reply.header('cache-control', 'no-store').send(await authenticationOptions(request));
    },
  );

  app.post(
    '/v1/session',
    {
      config: { access: 'public', errors: signInErrors },
      preHandler,
      schema: {
        operationId: 'createSession',
        summary: 'Sign in a browser',
        description:
          'Sets a cookie that replaces the `Authorization` header for pages of this service; only they can sign in. ' +
          'Whatever was wrong, the response is the same 401. A session that was started with a key ends with it.',
        tags: ['sessions'],
        body: SessionInput,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      assertSameOrigin(request);
      const { way, find } = await identify(app, request, request.body);
      const cookie = await app.database.write((db) => signIn(request, db, find, { way }));
      app.signIns.add({ way, result: 'succeeded' });
      return reply.code(204).headers({ 'set-cookie': cookie, 'cache-control': 'no-store' }).send();
    },
  );

  app.delete(
    '/v1/session',
    {
      config: { access: 'public', errors: ['cross_origin', 'session_changed'] },
      schema: {
        operationId: 'deleteSession',
        summary: 'Sign out a browser',
        description:
          'Ends the session and deletes its cookie. A key that was used to sign in stays valid. 200 if the identity ' +
          'provider has a page that ends its session too.',
        tags: ['sessions'],
        response: { 200: SignedOut, 204: NoContent },
      },
    },
    async (request, reply) => {
      assertSameOrigin(request);
      const token = app.sessionCookie.read(request.headers.cookie);
      const redirect_to = token === undefined ? null : await signOut(app, request, hashSecret(token));
      reply.headers({ 'set-cookie': app.sessionCookie.end(), 'cache-control': 'no-store' });
      return redirect_to === null ? reply.code(204).send() : reply.send({ redirect_to });
    },
  );
}

/** Ends the session. Returns the page of the identity provider that ends its session, too. */
async function signOut(app: App, request: FastifyRequest, hash: string): Promise<string | null> {
  const actor = await findActorBySession(app.database.db, hash);
  if (!actor) return null;
  assertNamedSession(request, actor);
  const session = await app.database.db
    .selectFrom('sessions')
    .select('id_token')
    .where('hash', '=', hash)
    .executeTakeFirst();
  await app.database.write(async (db) => {
    await lockTables(db, 'access');
    await endSessions(db, { hash }, 'signed_out', changeBy(request, actor));
  });
  return session?.id_token ? signOutUrl(app, session.id_token) : null;
}

/** Finds who signs in, or throws the same error whatever is wrong. */
async function identify(
  app: App,
  request: FastifyRequest,
  { key, email, password, passkey, link, ...rest }: SessionInput,
): Promise<{ way: SignInWay; find: FindActor }> {
  const given = [key, password, passkey, link].filter((one) => one !== undefined).length;
  if (given !== 1 || (password === undefined) !== (email === undefined) || Object.keys(rest).length > 0) {
    const detail = 'Send exactly one of: `key`; `email` and `password`; `passkey`; `link`.';
    throw invalidBody([fieldError('', 'required', detail)]);
  }
  if (key !== undefined) {
    // A session token must not start another session.
    const secret = looksLikeSecret(key) ? key : '';
    await app.authenticate(request, secret);
    return { way: 'key', find: (db) => findActor(db, secret, request.moment.now) };
  }
  if (passkey) return { way: 'passkey', find: await findByPasskey(request, passkey) };
  // Here first, because a wrong one must not cost a write.
  if (link !== undefined && !(await findLink(app.database.db, 'sign_in', link, request.moment.now)))
    throw app.failedAttempts(request, usedLink);
  if (link !== undefined) return { way: 'link', find: useLink(app, request, link) };
  return { way: 'password', find: await findByPassword(request, email ?? '', password ?? '') };
}

const useLink =
  (app: App, request: FastifyRequest, token: string): FindActor =>
  async (db) => {
    const link = await takeLink(db, 'sign_in', token, request.moment.now);
    const actor =
      link && (link.key_id === null ? await findPerson(db, link.user_id) : await findKey(db, link.key_id));
    if (actor && actor.ended === null) return actor;
    throw app.failedAttempts(request, usedLink);
  };

const usedLink = 'That link has been used or has expired.';
