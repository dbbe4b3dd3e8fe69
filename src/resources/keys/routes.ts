import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import { createErrors, deleteErrors, updateErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { readRoutes } from '../resource-routes.ts';
import {
  assertHoldsAtLeast,
  assertManagerRemains,
  createKey,
  getKey,
  getKeyForChange,
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
        summary: 'List keys, oldest first',
        description: 'Includes expired and revoked keys; filter with `status`. Secrets are never shown.',
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
        summary: 'Create a key',
        description:
          'The secret is shown only in this response. A new key cannot have more access than the key in use.',
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

  readRoutes(app, {
    noun: 'key',
    tag: 'keys',
    access: { read: 'keys.read' },
    collection: '/v1/keys',
    params: oneKey,
    resource: Key,
    getSummary: 'Get a key, without its secret',
    historyDescription:
      '`created`, `rotated` (with the last four characters of the secrets), and `revoked` stand for the whole key.',
    idOf: ({ id }) => id,
    get: (db, { id }) => getKey(db, id),
  });

  app.patch(
    '/v1/keys/:id',
    {
      config: { access: 'keys.manage', errors: [...updateErrors, 'in_use', 'invalid_transition'] },
      schema: {
        operationId: 'updateKey',
        summary: 'Update a key',
        description:
          'The key must not have more scopes than the key in use, and cannot be given more access than that key has. A ' +
          'revoked key cannot be changed. The last valid key with `keys.manage` for all projects must keep that ' +
          'scope, and can neither be limited to projects nor expire sooner.',
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
        summary: 'Revoke a key',
        description:
          'Requests with the key are rejected immediately. Revoking a key again changes nothing. ' +
          'The last valid key with `keys.manage` cannot be revoked.',
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
        await assertManagerRemains(db, current, revoked, request.moment);
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
        summary: 'Rotate the secret of a key',
        description:
          'The new secret is shown only in this response. The current secret works for `overlap_seconds` more; an ' +
          'earlier one stops working. The key must not be revoked, and must not have more access than the key in ' +
          'use or expire later.',
        tags: ['keys'],
        params: oneKey,
        body: KeyRotation,
        response: { 200: KeyWithSecret },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const current = await getKeyForChange(db, request.params.id);
        // Rotating a key reveals its secret, and with it all its access.
        assertHoldsAtLeast(request.actor, current);
        const key = await rotateKey(db, current, request.body.overlap_seconds ?? 0, request.change);
        return done(withoutSecret(key));
      }),
  );
}
