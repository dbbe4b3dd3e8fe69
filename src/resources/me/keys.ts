import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, sendIdempotent } from '../../http/request/idempotency.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import { findPerson } from '../../store/access/actors.ts';
import { countValidKeys } from '../../store/access/key-writes.ts';
import { withoutProjectScope } from '../../store/writes/tracker.ts';
import {
  assertHoldsAtLeast,
  createKey,
  getKeyForChange,
  keyList,
  rejectPastExpiry,
  revokeKey,
  withProjectIds,
  withStoredExpiry,
} from '../keys/queries.ts';
import { Key, KeyWithSecret, keyFilters } from '../keys/schema.ts';
import { listRoute } from '../list-route.ts';
import { PersonalKeyInput } from './schema.ts';
import { lockOwnAccess } from './sign-in.ts';

const maxPersonalKeys = 20;

const change = { access: 'person', requiresRecentSignIn: true } as const;

/** Keys that a person makes for their own programs. */
export function personalKeyRoutes(app: App): void {
  listRoute(app, {
    url: '/v1/me/keys',
    access: 'person',
    operationId: 'listMyKeys',
    summary: 'List your personal keys, oldest first',
    tag: 'keys',
    row: Key,
    filters: keyFilters,
    list: ({ actor, moment }, { filters }) => keyList(filters, moment, actor.id),
  });

  app.post(
    '/v1/me/keys',
    {
      config: { ...change, errors: ['duplicate', 'idempotency_mismatch', 'storage_full'] },
      preSerialization: showSecret,
      schema: {
        operationId: 'createMyKey',
        summary: 'Create a personal key',
        description:
          'For programs that act for you. At each request it has the access that both you and the key have, and it ends ' +
          'with your access. The secret is shown only in this response.',
        tags: ['keys'],
        body: PersonalKeyInput,
        response: { 201: KeyWithSecret },
      },
    },
    async (request, reply) => {
      return sendIdempotent(request, reply, async (db) => {
        const { actor, body, moment } = request;
        await lockOwnAccess(withoutProjectScope(db), request);
        // The access may have ended since the request began; the key would work again if it were given again.
        if (!(await findPerson(withoutProjectScope(db), actor.user_id)))
          throw notFound('access of', actor.id);
        if ((await countValidKeys(withoutProjectScope(db), actor.id, moment)) >= maxPersonalKeys) {
          const detail = `You have ${maxPersonalKeys} personal keys, which is the maximum. Revoke one first.`;
          throw invalidBody([fieldError('', 'maxItems', detail)]);
        }
        const { scopes, project_ids } = actor;
        const own = { scopes, project_ids, expires_at: null, rate_limit: null };
        const input = await withProjectIds(db, { ...own, ...withStoredExpiry(body) });
        assertHoldsAtLeast(actor, input);
        rejectPastExpiry(input, moment);
        const key = await createKey(db, input, request.change, actor.user_id);
        return created('/v1/me/keys', withoutSecret(key));
      });
    },
  );

  app.delete(
    '/v1/me/keys/:id',
    {
      config: { ...change, errors: ['storage_full'] },
      schema: {
        operationId: 'revokeMyKey',
        summary: 'Revoke a personal key',
        tags: ['keys'],
        params: Strict({ id: Id('key') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { params, actor } = request;
      await request.database.write(async (scoped) => {
        const db = withoutProjectScope(scoped);
        const key = await getKeyForChange(db, params.id);
        if (key.user_id !== actor.user_id) throw notFound('key', params.id);
        await revokeKey(db, params.id, request.change);
      });
      return reply.code(204).send();
    },
  );
}
