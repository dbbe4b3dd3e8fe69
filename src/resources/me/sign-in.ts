import type { FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import { notFound } from '../../core/errors.ts';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { findAccess } from '../../store/access/access.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { withoutProjectScope } from '../../store/writes/tracker.ts';
import type { Access } from '../access/schema.ts';
import { listRoute } from '../list-route.ts';
import { deletePasskey, passkeyList, preparePasskey, registrationOptions } from '../passkeys/queries.ts';
import { Passkey, PasskeyOptions } from '../passkeys/schema.ts';
import { preparePassword, removePassword } from '../passwords/queries.ts';
import { PasskeyInput, PasswordInput } from './schema.ts';

const tags = ['sessions'];
const change = { access: 'person', requiresRecentSignIn: true } as const;

export function passwordRoute(app: App): void {
  app.put(
    '/v1/me/password',
    {
      config: { ...change, errors: ['storage_full'] },
      schema: {
        operationId: 'setMyPassword',
        summary: 'Choose a password',
        description: 'Your other sessions end. Needs a session that began within the last 15 minutes.',
        tags,
        body: PasswordInput,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const access = await ownAccess(app, request);
      const store = await preparePassword(app, request.body.password, access);
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

/** Access may end between the start of a request and its write: nothing may be left that works if it is given again. */
async function lockOwnAccess(db: Transaction<Tables>, { actor }: FastifyRequest): Promise<Access> {
  await lockTables(db, 'access');
  return getAccess(db, actor.id);
}

async function getAccess(db: Kysely<Tables>, user_id: string): Promise<Access> {
  const access = await findAccess(db, user_id);
  if (!access) throw notFound('access of', user_id);
  return access;
}
