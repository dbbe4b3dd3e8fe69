import type { FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import { notFound } from '../../core/errors.ts';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import { signedOut } from '../../http/auth/auth.ts';
import type { App } from '../../http/fastify.ts';
import { sendResource } from '../../http/response/resource.ts';
import { findAccess } from '../../store/access/access.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { withoutProjectScope } from '../../store/writes/tracker.ts';
import { Access } from '../access/schema.ts';
import { accountEvents } from '../events/queries.ts';
import { AccountEvent } from '../events/schema.ts';
import { listRoute } from '../list-route.ts';
import { deletePasskey, passkeyList, preparePasskey, registrationOptions } from '../passkeys/queries.ts';
import { Passkey, PasskeyOptions } from '../passkeys/schema.ts';
import { confirmPassword, preparePassword, removePassword } from '../passwords/queries.ts';
import { PasskeyInput, PasswordInput } from './schema.ts';

const tags = ['sessions'];
const change = { access: 'person', requiresRecentSignIn: true } as const;

/** What a person sees of their own account, so that they notice what somebody else did to it. */
export function accountRoutes(app: App): void {
  app.get(
    '/v1/me/access',
    {
      config: { access: 'person' },
      schema: {
        operationId: 'getMyAccess',
        summary: 'Get your access, with your ways to sign in and a pending invitation',
        tags,
        response: { 200: Access },
      },
    },
    async (request, reply) => sendResource(request, reply, await ownAccess(app, request)),
  );

  listRoute(app, {
    url: '/v1/me/activity',
    access: 'person',
    operationId: 'listMyActivity',
    summary: 'List what happened to your account in the last 30 days, newest first',
    description:
      'New sessions, links to choose a new password, and changes of your access, password and passkeys.',
    tag: 'sessions',
    row: AccountEvent,
    filters: {},
    list: (request) => {
      // Also for a person who is limited to projects.
      request.database = { ...app.database, isFiltered: () => false };
      return accountEvents(request.actor.id, request.moment);
    },
  });
}

export function passwordRoute(app: App): void {
  app.put(
    '/v1/me/password',
    {
      config: { ...change, errors: ['rate_limited', 'storage_full'] },
      schema: {
        operationId: 'setMyPassword',
        summary: 'Choose a password',
        description:
          'Your other sessions end. Needs a session that began within the last 15 minutes, and the current password or a ' +
          'session that began with a passkey. Wrong ones cause the same delay as at signing in.',
        tags,
        body: PasswordInput,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const access = await ownAccess(app, request);
      const { password, current_password } = request.body;
      await confirmPassword(request, access, current_password);
      const store = await preparePassword(app, password, access);
      await writeUnlimited(request, async (db) =>
        store(db, await lockOwnAccess(db, request), request.change, request.actor.session?.id),
      );
      return reply.code(204).send();
    },
  );

  app.delete(
    '/v1/me/password',
    {
      config: { ...change, errors: ['in_use', 'storage_full'] },
      schema: {
        operationId: 'deleteMyPassword',
        summary: 'Remove your password',
        description:
          'Your other sessions that began with it end. It must not be your only way to sign in. Needs a session that ' +
          'began within the last 15 minutes.',
        tags,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await writeUnlimited(request, async (db) =>
        removePassword(db, await lockOwnAccess(db, request), request.change, request.actor.session?.id),
      );
      return reply.code(204).send();
    },
  );
}

export function passkeyRoutes(app: App): void {
  listRoute(app, {
    url: '/v1/me/passkeys',
    access: 'person',
    operationId: 'listMyPasskeys',
    summary: 'List your passkeys, oldest first',
    tag: 'sessions',
    row: Passkey,
    filters: {},
    list: ({ actor }) => passkeyList(actor.id),
  });

  app.post(
    '/v1/me/passkeys/challenge',
    {
      config: change,
      schema: {
        operationId: 'createMyPasskeyChallenge',
        summary: 'Get the options to create a passkey',
        tags,
        response: { 200: PasskeyOptions },
      },
    },
    async (request) => registrationOptions(request, await ownAccess(app, request)),
  );

  app.post(
    '/v1/me/passkeys',
    {
      config: { ...change, errors: ['storage_full'] },
      schema: {
        operationId: 'createMyPasskey',
        summary: 'Add a passkey',
        tags,
        body: PasskeyInput,
        response: { 201: Passkey },
      },
    },
    async (request, reply) => {
      const access = await ownAccess(app, request);
      const store = await preparePasskey(request, access, request.body.passkey);
      const passkey = await writeUnlimited(request, async (db) =>
        store(db, await lockOwnAccess(db, request), request.change),
      );
      return reply.code(201).send(passkey);
    },
  );

  app.delete(
    '/v1/me/passkeys/:id',
    {
      config: { ...change, errors: ['in_use', 'storage_full'] },
      schema: {
        operationId: 'deleteMyPasskey',
        summary: 'Remove a passkey',
        tags,
        params: Strict({ id: Id('passkey') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await writeUnlimited(request, async (db) =>
        deletePasskey(
          db,
          await lockOwnAccess(db, request),
          request.params.id,
          request.change,
          request.actor.session?.id,
        ),
      );
      return reply.code(204).send();
    },
  );
}

const ownAccess = (app: App, { actor }: FastifyRequest) => getAccess(app.database.db, actor.id);

/** A project limit of the person does not apply to their own way to sign in, so these routes use the whole database. */
const writeUnlimited = <T>({ database }: FastifyRequest, work: (db: Transaction<Tables>) => Promise<T>) =>
  database.write((db) => work(withoutProjectScope(db)));

/**
 * Access and session may end between the start of a request and its write, as by a reset: nothing may be left that works
 * without them.
 */
export async function lockOwnAccess(db: Transaction<Tables>, request: FastifyRequest): Promise<Access> {
  const { actor, server } = request;
  await lockTables(db, 'access');
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', actor.session?.id ?? '')
    .executeTakeFirst();
  if (!session) throw server.failedAttempts(request, signedOut);
  return getAccess(db, actor.id);
}

async function getAccess(db: Kysely<Tables>, user_id: string): Promise<Access> {
  const access = await findAccess(db, user_id);
  if (!access) throw notFound('access of', user_id);
  return access;
}
