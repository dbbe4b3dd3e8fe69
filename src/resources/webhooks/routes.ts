import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { Id, Strict } from '../../core/schemas.ts';
import type { AccessLimits } from '../../core/scopes.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, runIdempotent, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import { actionErrors } from '../../http/route-errors.ts';
import type { Tables } from '../../store/tables.ts';
import { listRoute } from '../list-route.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { assertReadsNoMore, assertTypesReadable, assertWithinProjects, readScopesOf } from './access.ts';
import { createTest, deliveryList, getDelivery, redeliver } from './deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  replayWebhook,
  rotateWebhook,
  updateWebhook,
  webhookList,
} from './queries.ts';
import {
  Delivery,
  deliveryFilters,
  Webhook,
  WebhookInput,
  WebhookPatch,
  WebhookReplay,
  WebhookWithSecret,
  webhookFilters,
} from './schema.ts';

const oneWebhook = Strict({ id: Id('webhook') });

export function webhookRoutes(app: App): void {
  /** The allowed targets are a setting, so the schema cannot check them. */
  function assertUrlAllowed({ url }: { url?: string }): void {
    const rejection = url === undefined ? undefined : app.webhooks.rejection(new URL(url));
    if (rejection !== undefined) throw invalidBody([fieldError('url', 'not_allowed', rejection)]);
  }

  resourceRoutes(app, {
    noun: 'webhook',
    tag: 'webhooks',
    access: { read: 'events.read', manage: 'events.manage' },
    collection: '/v1/webhooks',
    params: oneWebhook,
    resource: Webhook,
    withSecret: WebhookWithSecret,
    input: WebhookInput,
    patch: WebhookPatch,
    summaries: { create: 'Create a webhook', delete: 'Delete a webhook and its delivery log' },
    getSummary: 'Get a webhook, without its secret',
    listing: {
      summary: 'List webhooks, oldest first',
      description: 'Secrets are never shown.',
      filters: webhookFilters,
      list: (_, { filters }) => webhookList(filters),
    },
    descriptions: {
      create:
        'Sends the events from now on to `url`, signed as Standard Webhooks defines. The secret is shown only in ' +
        'this response. The webhook reads events with the scopes and projects that the key in use has now; ' +
        'revoking the key does not end it. A service has at most `MUSTER_MAX_WEBHOOKS` webhooks, 50 by default.',
      update:
        'Set `status` to `enabled` to continue after the service has disabled it. The key must have all scopes of the webhook.',
      history:
        '`created`, `rotated`, `replayed` (with the sequence number) and `deleted` stand for the whole webhook.',
    },
    hasUniqueFields: false,
    canBeInUse: false,
    deleteWorkload: 'bulk',
    get: (db, { id }) => getWebhook(db, id),
    create(db, _, input, change, { actor }) {
      assertUrlAllowed(input);
      assertTypesReadable({ ...input, scopes: readScopesOf(actor) });
      assertWithinProjects(input, actor);
      return createWebhook(db, input, actor, app.config.max_webhooks, change);
    },
    update(db, current, patch, change, { actor }) {
      assertReadsNoMore(current, actor);
      assertUrlAllowed(patch);
      if (patch.types) assertTypesReadable({ types: patch.types, scopes: current.scopes });
      assertWithinProjects(patch, actor);
      return updateWebhook(db, current, patch, change);
    },
    delete: deleteWebhook,
  });

  app.post(
    '/v1/webhooks/:id/rotate',
    {
      config: { access: 'events.manage', errors: actionErrors },
      preSerialization: showSecret,
      schema: {
        operationId: 'rotateWebhook',
        summary: 'Rotate the secret of a webhook',
        description:
          'The new secret is shown only in this response. For 24 hours messages are signed with both secrets, so that ' +
          'the receiver can change over.',
        tags: ['webhooks'],
        params: oneWebhook,
        response: { 200: WebhookWithSecret },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const current = await getCurrent(db, request);
        return done(withoutSecret(await rotateWebhook(db, current, request.change)));
      }),
  );

  /** Tests in flight, by the id of their delivery, for concurrent requests with the same `Idempotency-Key`. */
  const tests = new Map<string, Promise<void>>();

  app.post(
    '/v1/webhooks/:id/test',
    {
      config: { access: 'events.manage', errors: actionErrors },
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test event now',
        description:
          'Sends `webhook.test` once, also if the webhook is disabled, and returns the result. Its body is that of an ' +
          'event about an invented risk. Takes up to 15 seconds. ' +
          'The test does not enable, disable or delay anything.',
        tags: ['webhooks'],
        params: oneWebhook,
        response: { 200: Delivery },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const freePlace = app.webhooks.takePlace();
      try {
        const { result: claim, isReplay } = await runIdempotent(request, null, async (db) => {
          const webhook = await getCurrent(db, request);
          return createTest(db, webhook, request.change, app.baseUrl);
        });
        if (isReplay) reply.header('idempotent-replayed', 'true');
        else
          tests.set(
            claim.id,
            app.webhooks.deliver(claim).finally(() => tests.delete(claim.id)),
          );
        await tests.get(claim.id);
        return await getDelivery(request.database.db, id, claim.id);
      } finally {
        freePlace();
      }
    },
  );

  listRoute(app, {
    url: '/v1/webhooks/:id/deliveries',
    access: 'events.read',
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, newest first',
    description:
      'One row per event sent, with its last attempt. Rows are deleted after `MUSTER_WEBHOOK_LOG_DAYS`. ' +
      'The key must have all scopes of the webhook.',
    tag: 'webhooks',
    params: oneWebhook,
    row: Delivery,
    filters: deliveryFilters,
    list: async (request, { filters }) => {
      const { id } = await getManaged(request.database.db, request);
      return deliveryList(id, filters);
    },
  });

  app.post(
    '/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
    {
      config: { access: 'events.manage', errors: [...actionErrors, 'invalid_transition'] },
      schema: {
        operationId: 'redeliverWebhookDelivery',
        summary: 'Send the event of a delivery again',
        description:
          'Creates a new delivery of the same event, with the same `webhook-id`. Rejected while the delivery is pending.',
        tags: ['webhooks'],
        params: Strict({ id: Id('webhook'), delivery_id: Id('delivery') }),
        response: { 201: Delivery },
      },
    },
    async (request, reply) => {
      const { id, delivery_id } = request.params;
      await sendIdempotent(request, reply, async (db) => {
        await getCurrent(db, request);
        return created(
          `/v1/webhooks/${id}/deliveries`,
          await redeliver(db, id, delivery_id, request.change.now),
        );
      });
      app.webhooks.wake();
      return reply;
    },
  );

  app.post(
    '/v1/webhooks/:id/replay',
    {
      config: { access: 'events.manage', errors: actionErrors },
      schema: {
        operationId: 'replayWebhook',
        summary: 'Send all events after a sequence number again',
        description:
          'Moves the webhook back to this position in the event log. It sends the events that are still stored again, ' +
          'in order, and then continues as before.',
        tags: ['webhooks'],
        params: oneWebhook,
        body: WebhookReplay,
        response: { 200: Webhook },
      },
    },
    async (request, reply) => {
      await sendIdempotent(request, reply, async (db) => {
        const current = await getCurrent(db, request);
        return done(await replayWebhook(db, current, request.body.after, request.change));
      });
      app.webhooks.wake();
      return reply;
    },
  );
}

/** Reads the webhook of a request whose key may read all that the webhook reads. */
async function getManaged(
  db: Kysely<Tables>,
  { params, actor }: { params: { id: string }; actor: AccessLimits },
): Promise<Webhook> {
  const webhook = await getWebhook(db, params.id);
  assertReadsNoMore(webhook, actor);
  return webhook;
}

/** The same for an action, if the webhook has the version that the request names. */
async function getCurrent(
  db: Kysely<Tables>,
  request: FastifyRequest & { params: { id: string } },
): Promise<Webhook> {
  const webhook = await getManaged(db, request);
  assertIfMatch(request, webhook);
  return webhook;
}
