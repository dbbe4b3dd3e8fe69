import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { NoContent, Strict } from '../../core/schemas.ts';
import { assertSameOrigin } from '../../http/auth/auth.ts';
import { changeBy, signIn } from '../../http/auth/sign-in.ts';
import type { App } from '../../http/fastify.ts';
import { endWaysIn, findAccess } from '../../store/access/access.ts';
import { findPerson } from '../../store/access/actors.ts';
import { countValidKeys, revokeKeysOf } from '../../store/access/key-writes.ts';
import { findLink, takeLink } from '../../store/access/links.ts';
import { lockTables } from '../../store/writes/locks.ts';
import type { Access } from '../access/schema.ts';
import { preparePasskey, registrationOptions } from '../passkeys/queries.ts';
import { PasskeyOptions } from '../passkeys/schema.ts';
import { preparePassword } from '../passwords/queries.ts';
import { InvitationAcceptance, InvitationPreview, InvitationToken } from '../session/schema.ts';

/** The person who got an invitation chooses a password or a passkey. Reading it does not use it up. */
export function invitationRoutes(app: App): void {
  const config = { access: 'public', errors: ['unauthenticated', 'rate_limited', 'cross_origin'] } as const;
  const tags = ['sessions'];
  const TokenOnly = Strict({ token: InvitationToken }, { $id: 'InvitationTokenInput' });

  app.post(
    '/v1/invitations/check',
    {
      config,
      schema: {
        operationId: 'checkInvitation',
        summary: 'Get who is invited, without using the invitation up',
        tags,
        body: TokenOnly,
        response: { 200: InvitationPreview },
      },
    },
    async (request, reply) => {
      assertSameOrigin(request);
      const { access, expires_at } = await invitedBy(app, request, request.body.token);
      const { name, email, user_id } = access;
      const personal_keys = await countValidKeys(app.database.db, user_id, request.moment);
      return reply.header('cache-control', 'no-store').send({ name, email, expires_at, personal_keys });
    },
  );

  app.post(
    '/v1/invitations/passkey',
    {
      config,
      schema: {
        operationId: 'createInvitationChallenge',
        summary: 'Get the options to create a passkey for an invitation',
        tags,
        body: TokenOnly,
        response: { 200: PasskeyOptions },
      },
    },
    async (request, reply) => {
      assertSameOrigin(request);
      const { access } = await invitedBy(app, request, request.body.token);
      return reply
        .header('cache-control', 'no-store')
        .send(await registrationOptions(request, access, { isReset: true }));
    },
  );

  app.post(
    '/v1/invitations/accept',
    {
      config,
      schema: {
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation: choose a password or a passkey, and sign in',
        description:
          'Uses the invitation up. It becomes the only way in: all sessions of the person end, and an earlier password, ' +
          'passkeys and the link to an account at the identity provider are removed; a sign-in there links it again. With ' +
          '`revoke_keys`, personal keys are revoked too. A password has at least 15 characters, whatever they are, and is ' +
          'not one that is easy to guess.',
        tags,
        body: InvitationAcceptance,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      assertSameOrigin(request);
      const { token, password, passkey, revoke_keys = false } = request.body;
      const { access } = await invitedBy(app, request, token);
      const store = await prepare(app, request, access, {
        ...(password !== undefined && { password }),
        ...(passkey && { passkey }),
      });
      const cookie = await app.database.write(async (db) => {
        await lockTables(db, 'access', 'keys');
        const link = await takeLink(db, 'invitation', token, request.moment.now);
        const actor = await findPerson(db, access.user_id);
        if (!link || !actor) throw app.failedAttempts(request, invalidInvitation);
        const change = changeBy(request, actor);
        // Whoever asks for a new way in may have lost the others to somebody else.
        await endWaysIn(db, access.user_id, 'replaced', change);
        if (revoke_keys) await revokeKeysOf(db, access.user_id, change);
        await store(db, access, change);
        return signIn(request, db, async () => actor, { way: 'invitation' });
      });
      app.signIns.add({ way: 'invitation', result: 'succeeded' });
      return reply.code(204).headers({ 'set-cookie': cookie, 'cache-control': 'no-store' }).send();
    },
  );
}

const invalidInvitation =
  'This invitation has been used, replaced or has expired. Ask your administrator for a new link.';

/** Finds the access of the person who has the invitation, or throws. */
async function invitedBy(
  app: App,
  request: FastifyRequest,
  token: string,
): Promise<{ access: Access; expires_at: string }> {
  const { db } = app.database;
  const link = await findLink(db, 'invitation', token, request.moment.now);
  const actor = await findPerson(db, link?.user_id ?? '');
  const access = actor && (await findAccess(db, actor.id));
  if (!link || !access) throw app.failedAttempts(request, invalidInvitation);
  return { access, expires_at: link.expires_at };
}

async function prepare(
  app: App,
  request: FastifyRequest,
  access: Access,
  { password, passkey }: Pick<Static<typeof InvitationAcceptance>, 'password' | 'passkey'>,
) {
  if ((password === undefined) === (passkey === undefined))
    throw invalidBody([fieldError('password', 'required', 'Send either `password` or `passkey`.')]);
  if (passkey) return preparePasskey(request, access, passkey);
  if (!app.config.passwords) {
    const detail = 'Passwords are turned off here. Create a passkey instead.';
    throw invalidBody([fieldError('password', 'turned_off', detail)]);
  }
  return preparePassword(app, password ?? '', access);
}
