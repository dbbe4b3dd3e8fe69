import { Id, Strict } from '../../core/schemas.ts';
import { isWider } from '../../core/scopes.ts';
import type { App } from '../../http/fastify.ts';
import { done, sendIdempotent } from '../../http/request/idempotency.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import { resourceRoutes } from '../resource-routes.ts';
import {
  assertHoldsAtLeast,
  assertManagerRemains,
  assertOwnKey,
  createKey,
  getKey,
  getKeyForChange,
  keyList,
  lastsLonger,
  lockKeys,
  rejectPastExpiry,
  revokeKey,
  rotateKey,
  updateKey,
  withProjectIds,
  withStoredExpiry,
} from './queries.ts';
import { Key, KeyInput, KeyPatch, KeyRotation, KeyWithSecret, keyFilters } from './schema.ts';

const oneKey = Strict({ id: Id('key') });

export function keyRoutes(app: App): void {
  resourceRoutes(app, {
    noun: 'key',
    tag: 'keys',
    access: { read: 'keys.read', manage: 'keys.manage' },
    collection: '/v1/keys',
    params: oneKey,
    resource: Key,
    withSecret: KeyWithSecret,
    input: KeyInput,
    patch: KeyPatch,
    summaries: { create: 'Create a key', delete: 'Revoke a key' },
    getSummary: 'Get a key, without its secret',
    descriptions: {
      create:
        'The secret is shown only in this response. A new key cannot have more access than the key in use.',
      update:
        'The key must not have more scopes than the key in use, and cannot be given more access than that key has. A ' +
        'revoked key cannot be changed. The last valid key with `keys.manage` for all projects must keep that ' +
        'scope, and can neither be limited to projects nor expire sooner. Only its person can give a personal key more ' +
        'access or a later expiry.',
      delete:
        'Requests with the key are rejected immediately. Revoking a key again changes nothing. ' +
        'The last valid key with `keys.manage` cannot be revoked.',
      history:
        '`created`, `rotated` (with the last four characters of the secrets), and `revoked` stand for the whole key.',
    },
    deleteOperation: 'revokeKey',
    listing: {
      summary: 'List keys, oldest first',
      description: 'Includes expired and revoked keys; filter with `status`. Secrets are never shown.',
      filters: keyFilters,
      list: ({ moment }, { filters }) => keyList(filters, moment),
    },
    updateErrors: ['in_use', 'invalid_transition', 'person_required'],
    lock: lockKeys,
    get: (db, { id }) => getKey(db, id),
    async create(db, _, body, change, { actor, moment }) {
      await lockKeys(db);
      const input = { project_ids: null, expires_at: null, rate_limit: null, ...withStoredExpiry(body) };
      assertHoldsAtLeast(actor, input);
      rejectPastExpiry(input, moment);
      return createKey(db, input, change);
    },
    async update(db, current, patch, change, { actor }) {
      const scopes = [...current.scopes, ...(patch.scopes ?? [])];
      const changed = withStoredExpiry(patch);
      assertHoldsAtLeast(actor, { ...changed, scopes });
      const next = { ...current, ...(await withProjectIds(db, changed)) };
      if (isWider(current, next)) assertHoldsAtLeast(actor, { expires_at: next.expires_at });
      if (isWider(current, next) || lastsLonger(next, current)) assertOwnKey(current, actor);
      return updateKey(db, current, patch, change);
    },
    async delete(db, current, change) {
      await assertManagerRemains(db, current, { ...current, revoked_at: change.now }, change);
      return revokeKey(db, current.id, change);
    },
  });

  app.post(
    '/v1/keys/:id/rotate',
    {
      config: {
        access: 'keys.manage',
        errors: ['idempotency_mismatch', 'invalid_transition', 'person_required', 'storage_full'],
      },
      preSerialization: showSecret,
      schema: {
        operationId: 'rotateKey',
        summary: 'Rotate the secret of a key',
        description:
          'The new secret is shown only in this response. The current secret works for `overlap_seconds` more; an ' +
          'earlier one stops working. Sessions that were started with the key end, except the one in use, and a session ' +
          'that is started with the current secret from now on ends with it. The key must not be revoked, and must not have more access than the key in ' +
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
        assertOwnKey(current, request.actor);
        const { body, change, actor } = request;
        const key = await rotateKey(db, current, body.overlap_seconds ?? 0, change, actor.session?.id);
        return done(withoutSecret(key));
      }),
  );
}
