import { fieldError, invalidBody } from '../../core/errors.ts';
import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { readRoutes } from '../resource-routes.ts';
import { assertReadsNoMore, assertTypesReadable, assertWithinProjects, readScopesOf } from './access.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  rotateWebhook,
  updateWebhook,
  webhookList,
} from './queries.ts';
import { Webhook, WebhookInput, WebhookPatch, WebhookWithSecret, webhookFilters } from './schema.ts';

const oneWebhook = Strict({ id: Id('webhook') });

export function webhookRoutes(app: App): void {
  /** The allowed targets are a setting, so the schema cannot check them. */
  function assertUrlAllowed({ url }: { url?: string }): void {
    const rejection = url === undefined ? undefined : app.webhooks.rejection(new URL(url));
    if (rejection !== undefined) throw invalidBody([fieldError('url', 'not_allowed', rejection)]);
  }

  app.get(
    '/v1/webhooks',
    {
      config: { access: 'events.read' },
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks, oldest first',
        description: 'Secrets are never shown.',
        tags: ['webhooks'],
        querystring: ListQuery(webhookFilters),
        response: { 200: ListOf(Webhook) },
      },
    },
    (request, reply) => sendList(request, reply, webhookList(splitQuery(request.query).filters)),
  );

  app.post(
    '/v1/webhooks',
    {
      config: {
        access: 'events.manage',
        errors: ['idempotency_mismatch', 'storage_full'],
      },
      preSerialization: showSecret,
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'Sends the events from now on to `url`, signed as Standard Webhooks defines. The secret is shown only in ' +
          'this response. The webhook reads events with the scopes and projects that the key in use has now; ' +
          'revoking the key does not end it. A service has at most `MUSTER_MAX_WEBHOOKS` webhooks, 50 by default.',
        tags: ['webhooks'],
        body: WebhookInput,
        response: { 201: WebhookWithSecret },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const { body, actor } = request;
        assertUrlAllowed(body);
        assertTypesReadable({ ...body, scopes: readScopesOf(actor) });
        assertWithinProjects(body, actor);
        const webhook = await createWebhook(db, body, actor, app.config.max_webhooks, request.change);
        return created(`/v1/webhooks/${webhook.id}`, withoutSecret(webhook));
      }),
  );

  readRoutes(app, {
    noun: 'webhook',
    tag: 'webhooks',
    access: { read: 'events.read' },
    collection: '/v1/webhooks',
    params: oneWebhook,
    resource: Webhook,
    getSummary: 'Get a webhook, without its secret',
    historyDescription:
      '`created`, `rotated`, `replayed` (with the sequence number) and `deleted` stand for the whole webhook.',
    idOf: ({ id }) => id,
    get: (db, { id }) => getWebhook(db, id),
  });

  app.patch(
    '/v1/webhooks/:id',
    {
      config: { access: 'events.manage', errors: ['stale', 'storage_full'] },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        description:
          'Set `status` to `enabled` to continue after the service has disabled it. The key must have all scopes of the webhook.',
        tags: ['webhooks'],
        params: oneWebhook,
        body: WebhookPatch,
        response: { 200: Webhook },
      },
    },
    async (request, reply) => {
      const { body, actor } = request;
      const webhook = await request.database.write(async (db) => {
        const current = await getWebhook(db, request.params.id);
        assertIfMatch(request, current);
        assertReadsNoMore(current, actor);
        assertUrlAllowed(body);
        if (body.types) assertTypesReadable({ types: body.types, scopes: current.scopes });
        assertWithinProjects(body, actor);
        return updateWebhook(db, current, body, request.change);
      });
      return sendResource(request, reply, webhook);
    },
  );

  app.delete(
    '/v1/webhooks/:id',
    {
      config: { access: 'events.manage', errors: ['stale', 'storage_full'] },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook and its delivery log',
        tags: ['webhooks'],
        params: oneWebhook,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      // In bulk, because the delivery log can be long.
      await request.database.write(async (db) => {
        const current = await getWebhook(db, request.params.id);
        assertIfMatch(request, current);
        await deleteWebhook(db, current, request.change);
      }, 'bulk');
      return reply.code(204).send();
    },
  );

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
        const current = await getWebhook(db, request.params.id);
        assertIfMatch(request, current);
        assertReadsNoMore(current, request.actor);
        return done(withoutSecret(await rotateWebhook(db, current, request.change)));
      }),
  );

  deliveryRoutes(app);
}
