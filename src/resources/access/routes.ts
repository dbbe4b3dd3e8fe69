import { sql } from 'kysely';
import { fieldError, invalidBody, notFound, Problem } from '../../core/errors.ts';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import { isWider } from '../../core/scopes.ts';
import type { App } from '../../http/fastify.ts';
import { done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import type { List } from '../../lists/list.ts';
import {
  accessJson,
  accessRows,
  addAccessEvent,
  endAccess,
  findAccess,
  setAccess,
} from '../../store/access/access.ts';
import { createLink } from '../../store/access/links.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { assertHoldsAtLeast, assertLasts, withProjectIds } from '../keys/queries.ts';
import { listRoute } from '../list-route.ts';
import { getPerson } from '../personnel/queries.ts';
import type { Person } from '../personnel/schema.ts';
import { Access, AccessInput, Invitation } from './schema.ts';

const invitationHours = 7 * 24;

const onePerson = Strict({ user_id: Id('person') });
const requiresUnrestrictedKey = 'The access of a person concerns the whole organization.';
const read = { access: 'keys.read', requiresUnrestrictedKey } as const;
const manage = { access: 'keys.manage', requiresUnrestrictedKey } as const;

export function accessRoutes(app: App): void {
  const tags = ['access'];

  listRoute(app, {
    url: '/v1/access',
    ...read,
    operationId: 'listAccess',
    summary: 'List who has access, by name',
    tag: 'access',
    row: Access,
    filters: {},
    list: () => accessList,
  });

  app.get(
    '/v1/personnel/:user_id/access',
    {
      config: read,
      schema: {
        operationId: 'getAccess',
        summary: 'Get the access of a person',
        tags,
        params: onePerson,
        response: { 200: Access },
      },
    },
    async (request, reply) => {
      const { user_id } = request.params;
      const access = await findAccess(request.database.db, user_id);
      if (!access) throw notFound('access of', user_id);
      return sendResource(request, reply, access);
    },
  );

  listRoute(app, {
    url: '/v1/personnel/:user_id/access/history',
    ...read,
    operationId: 'listAccessHistory',
    summary: 'List the changes of the access of a person, oldest first',
    tag: 'access',
    params: onePerson,
    row: HistoryEntry,
    filters: {},
    list: async ({ params, database }) => {
      const access = await findAccess(database.db, params.user_id);
      if (!access) throw notFound('access of', params.user_id);
      return historyList(access.id);
    },
  });

  app.put(
    '/v1/personnel/:user_id/access',
    {
      config: { ...manage, errors: ['in_use', 'stale', 'storage_full'] },
      schema: {
        operationId: 'setAccess',
        summary: 'Give a person access, or change it',
        description:
          'Active humans and external people can have access. Nobody can give more than they have, or change somebody ' +
          'who has more, and a key that expires cannot give access, which has no end. Sessions of the person have the new ' +
          'access from the next request on. More scopes or projects end a pending invitation, which may be in the hands of ' +
          'somebody who has less. Somebody must keep ' +
          '`keys.manage` for all projects.',
        tags,
        params: onePerson,
        body: AccessInput,
        response: { 200: Access },
      },
    },
    async (request, reply) => {
      const { params, body, actor, change, database } = request;
      const access = await database.write(async (db) => {
        await lockTables(db, 'access');
        const person = await getPerson(db, params.user_id, change);
        const current = await findAccess(db, params.user_id);
        assertIfMatch(request, current);
        assertEligible(person);
        const { scopes, project_ids = null } = await withProjectIds(db, body);
        assertHoldsAtLeast(actor, { scopes: [...scopes, ...(current?.scopes ?? [])], project_ids });
        if (!current || isWider(current, { scopes, project_ids })) assertLasts(actor);
        return setAccess(db, person, { scopes, project_ids, source: 'manual' }, change);
      });
      return sendResource(request, reply, access);
    },
  );

  app.delete(
    '/v1/personnel/:user_id/access',
    {
      config: { ...manage, errors: ['in_use', 'stale', 'storage_full'] },
      schema: {
        operationId: 'deleteAccess',
        summary: 'End the access of a person',
        description:
          'Sessions and invitations end at once, the password, the passkeys and the link to an account at the identity ' +
          'provider are deleted, and personal keys are revoked. The person stays on the roster.',
        tags,
        params: onePerson,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { params, actor, change, database } = request;
      await database.write(async (db) => {
        await lockTables(db, 'access');
        const current = await findAccess(db, params.user_id);
        if (!current) throw notFound('access of', params.user_id);
        assertIfMatch(request, current);
        assertHoldsAtLeast(actor, { scopes: current.scopes });
        await endAccess(db, current, change);
      });
      return reply.code(204).send();
    },
  );

  app.post(
    '/v1/personnel/:user_id/invitation',
    {
      config: {
        ...manage,
        errors: ['access_required', 'idempotency_mismatch', 'storage_full'],
      },
      preSerialization: showSecret,
      schema: {
        operationId: 'invitePerson',
        summary: 'Create a link with which a person chooses a password or a passkey',
        description:
          'For a person who has access, with at most the access of the key or person in use. The link works once, for 7 ' +
          'days, and replaces an earlier one. It also resets a password: the old one works until the link is used.',
        tags,
        params: onePerson,
        response: { 200: Invitation },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const { params, actor, change } = request;
        await lockTables(db, 'access');
        const person = await getPerson(db, params.user_id, change);
        const access = await findAccess(db, params.user_id);
        if (!access) throw noAccess(person);
        assertEligible(person);
        if (person.email === null) throw noEmail(person);
        // Who has the link can sign in as the person.
        assertHoldsAtLeast(actor, access);
        assertLasts(actor);
        const { user_id } = person;
        const link = { purpose: 'invitation', user_id, key_id: null } as const;
        const { token, expires_at } = await createLink(db, link, {
          now: change.now,
          hours: invitationHours,
        });
        addAccessEvent(db, access, 'access.invited', change);
        const secret = `${app.baseUrl}/invitation#${token}`;
        return done(withoutSecret({ expires_at, secret }, 'url'));
      }),
  );
}

const accessList: List = {
  schema: Access,
  json: accessJson,
  reads: ['access', 'people'],
  // Sessions change without a new version of these tables.
  isTimeDependent: true,
  order: { key: sql.ref('people.roster_key') },
  from: (db) => accessRows(db) as never,
  id: sql.ref('access.id'),
  matches: sql`1 = 1`,
};

function assertEligible({ name, kind, status }: Person): void {
  const why =
    status !== 'active'
      ? `${name} is inactive.`
      : kind === 'human' || kind === 'external'
        ? undefined
        : `${name} is not a human (kind ${kind}). Programs and agents use API keys.`;
  if (why !== undefined)
    throw invalidBody([fieldError('user_id', 'not_eligible', `${why} Only active people can have access.`)]);
}

const noAccess = ({ name }: Person) =>
  new Problem('access_required', `${name} has no access yet. Give access first, then invite.`);

const noEmail = ({ name }: Person) =>
  invalidBody([
    fieldError(
      'email',
      'required',
      `${name} has no e-mail address, which is needed to sign in. Add it first.`,
    ),
  ]);
