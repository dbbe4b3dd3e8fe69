import { Id, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, runIdempotent, sendIdempotent } from '../../http/request/idempotency.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { assertReadsNoMore } from './access.ts';
import { createTest, deliveryList, getDelivery, redeliver } from './deliveries.ts';
import { getWebhook, replayWebhook } from './queries.ts';
import { Delivery, deliveryFilters, Webhook, WebhookReplay } from './schema.ts';

const oneWebhook = Strict({ id: Id('webhook') });

/** The delivery log of a webhook, and what sends something now. */
export function deliveryRoutes(app: App): void {
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
          const webhook = await getWebhook(db, id);
          assertReadsNoMore(webhook, request.actor);
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

  app.get(
    '/v1/webhooks/:id/deliveries',
    {
      config: { access: 'events.read' },
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the deliveries of a webhook, newest first',
        description:
          'One row per event sent, with its last attempt. Rows are deleted after `MUSTER_WEBHOOK_LOG_DAYS`. ' +
          'The key must have all scopes of the webhook.',
        tags: ['webhooks'],
        params: oneWebhook,
        querystring: ListQuery(deliveryFilters),
        response: { 200: ListOf(Delivery) },
      },
    },
    async (request, reply) => {
      const webhook = await getWebhook(request.database.db, request.params.id);
      assertReadsNoMore(webhook, request.actor);
      return sendList(request, reply, deliveryList(webhook.id, splitQuery(request.query).filters));
    },
  );

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
        assertReadsNoMore(await getWebhook(db, id), request.actor);
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
        const current = await getWebhook(db, request.params.id);
        assertReadsNoMore(current, request.actor);
        return done(await replayWebhook(db, current, request.body.after, request.change));
      });
      app.webhooks.wake();
      return reply;
    },
  );
}
