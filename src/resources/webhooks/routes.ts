import { fieldError, invalidBody } from '../../core/errors.ts';
import { Id, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { showSecret, withoutSecret } from '../../http/response/secrets.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { resourceRoutes } from '../resource-routes.ts';
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
    idOf: ({ id }) => id,
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
        const current = await getWebhook(db, request.params.id);
        assertIfMatch(request, current);
        assertReadsNoMore(current, request.actor);
        return done(withoutSecret(await rotateWebhook(db, current, request.change)));
      }),
  );

  deliveryRoutes(app);
}
