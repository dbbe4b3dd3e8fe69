import type { preSerializationHookHandler } from 'fastify';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { createErrors, deleteErrors, updateErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import {
  assertHoldsAtLeast,
  createKey,
  getKey,
  getKeyForChange,
  keepLastManager,
  keyList,
  rejectPastExpiry,
  revokeKey,
  rotateKey,
  updateKey,
  withStoredExpiry,
} from './queries.ts';
import { Key, KeyInput, KeyPatch, KeyRotation, KeyWithSecret, keyFilters } from './schema.ts';

const oneKey = Strict({ id: Id('key') });

export function keyRoutes(app: App): void {
  app.get(
    '/v1/keys',
    {
      config: { access: 'keys.read' },
      schema: {
        operationId: 'listKeys',
        summary: 'All keys, the oldest first',
        description: 'Expired and revoked ones, too, unless `status` says otherwise. Never a secret.',
        tags: ['keys'],
        querystring: ListQuery(keyFilters),
        response: { 200: ListOf(Key) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      return sendList(request, reply, keyList(filters, request.moment));
    },
  );

  app.post(
    '/v1/keys',
    {
      config: { access: 'keys.manage', errors: createErrors },
      preSerialization: showSecret,
      schema: {
        operationId: 'createKey',
        summary: 'Make a key; its secret is shown only this once',
        description: 'A key can give only scopes that it holds itself.',
        tags: ['keys'],
        body: KeyInput,
        response: { 201: KeyWithSecret },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const input = {
          project_ids: null,
          expires_at: null,
          rate_limit: null,
          ...withStoredExpiry(request.body),
        };
        assertHoldsAtLeast(request.actor, input);
        rejectPastExpiry(input, request.moment);
        const key = await createKey(db, input, request.change);
        return created(`/v1/keys/${key.id}`, withoutSecret(key));
      }),
  );

  app.get(
    '/v1/keys/:id',
    {
      config: { access: 'keys.read' },
      schema: {
        operationId: 'getKey',
        summary: 'One key, without its secret',
        tags: ['keys'],
        params: oneKey,
        response: { 200: Key },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await getKey(request.database.db, request.params.id)),
  );

  app.patch(
    '/v1/keys/:id',
    {
      config: { access: 'keys.manage', errors: [...updateErrors, 'in_use', 'invalid_transition'] },
      schema: {
        operationId: 'updateKey',
        summary: 'Change a key',
        description:
          'Neither the key as it is nor as it becomes may hold more than the key in use. A revoked key ' +
          'stays as it is, and the last valid key with `keys.manage` keeps that scope and gets no expiry.',
        tags: ['keys'],
        params: oneKey,
        body: KeyPatch,
        response: { 200: Key },
      },
    },
    async (request, reply) => {
      const key = await request.database.write(async (db) => {
        const current = await getKeyForChange(db, request.params.id);
        assertIfMatch(request, current);
        const scopes = [...current.scopes, ...(request.body.scopes ?? [])];
        assertHoldsAtLeast(request.actor, { ...withStoredExpiry(request.body), scopes });
        return updateKey(db, current, request.body, request.change);
      });
      return sendResource(request, reply, key);
    },
  );

  app.delete(
    '/v1/keys/:id',
    {
      config: { access: 'keys.manage', errors: deleteErrors },
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key: it is refused from the next request on',
        description:
          'Revoking twice changes nothing. The last valid key with `keys.manage` cannot be revoked.',
        tags: ['keys'],
        params: oneKey,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await request.database.write(async (db) => {
        const current = await getKeyForChange(db, request.params.id);
        assertIfMatch(request, current);
        const revoked = { ...current, revoked_at: request.moment.now };
        await keepLastManager(db, current, revoked, request.moment);
        await revokeKey(db, current.id, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.post(
    '/v1/keys/:id/rotate',
    {
      config: {
        access: 'keys.manage',
        errors: ['idempotency_mismatch', 'invalid_transition', 'storage_full'],
      },
      preSerialization: showSecret,
      schema: {
        operationId: 'rotateKey',
        summary: 'Give a key a new secret, which is shown only this once',
        description:
          'The secret until now works until `overlap_seconds` have passed; one from before that no longer. ' +
          'The key must hold no more and live no longer than the key in use, and must not be revoked.',
        tags: ['keys'],
        params: oneKey,
        body: KeyRotation,
        response: { 200: KeyWithSecret },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const current = await getKeyForChange(db, request.params.id);
        // Whoever rotates a key has its secret, and all that comes with it.
        assertHoldsAtLeast(request.actor, current);
        const key = await rotateKey(db, current, request.body.overlap_seconds ?? 0, request.change);
        return done(withoutSecret(key));
      }),
  );

  app.get(
    '/v1/keys/:id/history',
    {
      config: { access: 'keys.read' },
      schema: {
        operationId: 'listKeyHistory',
        summary: 'What changed of a key, oldest first',
        description: '`created`, `rotated` (with the last four characters) and `revoked` are the whole key.',
        tags: ['keys'],
        params: oneKey,
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const key = await getKey(request.database.db, request.params.id);
      return sendList(request, reply, historyList(key.id));
    },
  );
}

/** The secrets of answers on their way out: what is kept to be answered again has none. */
const secrets = new WeakMap<object, string>();

function withoutSecret({ secret, ...key }: Key & { secret: string }) {
  const answer = { ...key, secret: null };
  secrets.set(answer, secret);
  return answer;
}

async function showSecret(...[, reply, payload]: Parameters<preSerializationHookHandler>): Promise<unknown> {
  const answer = payload as object;
  const secret = secrets.get(answer);
  if (secret === undefined) return payload;
  reply.header('cache-control', 'no-store');
  return { ...answer, secret };
}
