import { sql } from 'kysely';
import { keyLimited, notFound } from '../../core/errors.ts';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import { grants, insufficientScope } from '../../core/scopes.ts';
import { jsonBoolean } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { assertRecentSignIn } from '../../http/auth/auth.ts';
import type { App } from '../../http/fastify.ts';
import type { List } from '../../lists/list.ts';
import { ListQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import type { Actor } from '../../store/access/actors.ts';
import { forgetClients } from '../../store/access/known-clients.ts';
import { endSessions } from '../../store/access/sessions.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { withoutProjectScope } from '../../store/writes/tracker.ts';
import { Session } from './schema.ts';

export function sessionListRoutes(app: App): void {
  const tags = ['sessions'];

  app.get(
    '/v1/sessions',
    {
      config: { access: 'any', errors: ['insufficient_scope', 'key_limited'] },
      schema: {
        operationId: 'listSessions',
        summary: 'List sessions, oldest first: your own, or those of a person or key',
        description:
          'The sessions of others need `keys.manage` for all projects. Expired sessions are left out.',
        tags,
        querystring: ListQuery({
          user_id: Id('person', { description: 'The sessions of this person.' }),
          key_id: Id('key', { description: 'The sessions that were started with this key.' }),
        }),
        response: { 200: ListOf(Session) },
      },
    },
    async (request, reply) => {
      const { actor, moment } = request;
      const { user_id, key_id } = request.query;
      const isOwn =
        user_id === undefined ? (key_id ?? actor.key_id) === actor.key_id : user_id === actor.user_id;
      if (!isOwn) assertManagesSessions(actor);
      const own = actor.user_id === null ? { key_id: actor.key_id } : { user_id: actor.user_id };
      const list = sessionList((user_id ?? key_id) ? { user_id, key_id } : own, actor, moment.now);
      // A person who is limited to projects sees their own sessions too.
      request.database = { ...app.database, isFiltered: () => false };
      return sendList(request, reply, list);
    },
  );

  app.delete(
    '/v1/sessions',
    {
      config: { access: 'person', requiresRecentSignIn: true, errors: ['storage_full'] },
      schema: {
        operationId: 'deleteMySessions',
        summary: 'Sign out everywhere',
        description:
          'Ends all your sessions, the one in use too, and forgets in which browsers and networks you have signed in. ' +
          'Personal keys go on working. Needs a session that began within the last 15 minutes.',
        tags,
        response: { 204: NoContent },
      },
    },
    async ({ actor, change, database }, reply) => {
      await database.write(async (limited) => {
        const db = withoutProjectScope(limited);
        await lockTables(db, 'access');
        await endSessions(db, { user_id: actor.id }, 'signed_out', change);
        await forgetClients(db, actor.id);
      });
      const cookies = [app.sessionCookie.end(), app.deviceCookie.end()];
      return reply.code(204).header('set-cookie', cookies).send();
    },
  );

  app.delete(
    '/v1/sessions/:id',
    {
      config: {
        access: 'any',
        errors: ['insufficient_scope', 'key_limited', 'sign_in_again', 'storage_full'],
      },
      schema: {
        operationId: 'deleteSessionById',
        summary: 'End a session',
        description:
          'Your own, if you signed in within the last 15 minutes, or with `keys.manage` for all projects that of anybody. ' +
          'It is rejected from the next request on.',
        tags,
        params: Strict({ id: Id('session') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { actor, moment, params, change } = request;
      const session = await app.database.db
        .selectFrom('sessions')
        .select(['user_id', 'key_id'])
        .where('id', '=', params.id)
        .executeTakeFirst();
      const isOwn = session !== undefined && isOf(session, actor);
      if (isOwn && actor.session) assertRecentSignIn(actor, moment);
      else if (!managesSessions(actor) && !isOwn) throw notFound('session', params.id);
      else assertManagesSessions(actor);
      if (!session) throw notFound('session', params.id);
      await request.database.write(async (limited) => {
        const db = withoutProjectScope(limited);
        await lockTables(db, 'access');
        await endSessions(db, { id: params.id }, 'revoked', change);
        // Whoever has that browser is no longer known in it; which one it is, nobody stores.
        if (session.user_id !== null) await forgetClients(db, session.user_id);
      });
      return reply.code(204).send();
    },
  );
}

type Owner = { user_id?: string | null | undefined; key_id?: string | null | undefined };

/** A browser that signed in with a key, also with a personal one, has only the sessions of the key. */
const isOf = ({ user_id, key_id }: Owner, actor: Actor) =>
  actor.key_id === null ? user_id === actor.user_id : key_id === actor.key_id;

const managesSessions = ({ scopes, project_ids }: Actor) =>
  grants(scopes, 'keys.manage') && project_ids === null;

function assertManagesSessions(actor: Actor): void {
  if (!grants(actor.scopes, 'keys.manage'))
    throw insufficientScope('The sessions of others require the scope keys.manage.', ['keys.manage']);
  if (actor.project_ids !== null) throw keyLimited('A session may be of anybody.');
}

const sessionList = ({ user_id, key_id }: Owner, { session }: Actor, now: string): List => ({
  schema: Session,
  json: rowAsJson(Session, 'sessions', {
    is_current: jsonBoolean(sql`sessions.id = ${session?.id ?? ''}`),
  }),
  reads: ['sessions'],
  isTimeDependent: true,
  order: { key: sql.ref('sessions.id') },
  from: (db) => db.selectFrom('sessions'),
  id: sql.ref('sessions.id'),
  matches: sql`${user_id == null ? sql`1 = 1` : sql`sessions.user_id = ${user_id}`}
    and ${key_id == null ? sql`1 = 1` : sql`sessions.key_id = ${key_id}`} and sessions.expires_at > ${now}`,
});
