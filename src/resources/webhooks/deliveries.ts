import { type Kysely, sql, type Transaction } from 'kysely';
import { notFound, Problem } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { allOf, isIn } from '../../lists/filters.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { insertRows } from '../../store/writes/rows.ts';
import { sampleEvent } from '../events/sample.ts';
import { later } from './outcome.ts';
import { Delivery, type deliveryFilters, type Webhook } from './schema.ts';

/** The deliveries of one webhook, newest first. */
export const deliveryList = (webhook_id: string, filters: Filters<typeof deliveryFilters>): List => ({
  schema: Delivery,
  json: rowAsJson(Delivery, 'webhook_deliveries'),
  // Who may read the log depends on the webhook.
  reads: ['webhook_deliveries', 'webhooks'],
  order: { key: sql.ref('webhook_deliveries.id'), descending: true },
  from: (db) => db.selectFrom('webhook_deliveries').where('webhook_id', '=', webhook_id),
  id: sql.ref('webhook_deliveries.id'),
  matches: allOf(filters, { status: isIn('webhook_deliveries.status') }),
});

export async function getDelivery(db: Kysely<Tables>, webhook_id: string, id: string): Promise<Delivery> {
  return deliveriesWith(db, webhook_id, id)
    .select(deliveryColumns)
    .executeTakeFirstOrThrow(() => notFound('delivery', id));
}

const deliveriesWith = (db: Kysely<Tables>, webhook_id: string, id: string) =>
  db.selectFrom('webhook_deliveries').where('id', '=', id).where('webhook_id', '=', webhook_id);

const deliveryColumns = Object.keys(Delivery.properties) as (keyof Delivery)[];

/** The columns of a new delivery that is due at once, besides those of its webhook and event. */
export const newDelivery = (now: string) => ({
  id: newId('delivery'),
  status: 'pending' as const,
  attempts: 0,
  created_at: now,
  last_attempt_at: null,
  next_attempt_at: now,
  claimed_until: null,
  latency_ms: null,
  response_status: null,
  response_excerpt: null,
  error: null,
});

/** A delivery that its holder may attempt until `claimed_until`. */
export type Claim = Pick<
  Tables['webhook_deliveries'],
  'id' | 'webhook_id' | 'event_id' | 'event_type' | 'sequence' | 'payload' | 'attempts'
> & { claimed_until: string };

/** Sends the event of a delivery again, as a new delivery. */
export async function redeliver(
  db: Transaction<Tables>,
  webhook_id: string,
  id: string,
  now: string,
): Promise<Delivery> {
  const original = await deliveriesWith(db, webhook_id, id)
    .selectAll()
    .executeTakeFirstOrThrow(() => notFound('delivery', id));
  if (original.next_attempt_at !== null) {
    const detail = `${id} is still pending and will be retried automatically.`;
    const extra = { from: 'pending', to: 'pending', allowed: [] };
    throw new Problem('invalid_transition', detail, { extra });
  }
  const delivery = { ...original, ...newDelivery(now) };
  await insertRows(db, 'webhook_deliveries', [delivery]);
  return getDelivery(db, webhook_id, delivery.id);
}

/** Adds a test event to the log, claimed by the caller, who must send it. It is in no event log. */
export async function createTest(
  db: Transaction<Tables>,
  { id }: Webhook,
  change: Change,
  baseUrl: string,
): Promise<Claim> {
  const { now } = change;
  const event = sampleEvent(change, baseUrl);
  const claimed_until = later(now, leaseSeconds);
  const delivery = {
    ...newDelivery(now),
    webhook_id: id,
    event_id: event.id,
    event_type: event.type,
    sequence: null,
    subject_id: null,
    payload: JSON.stringify({ ...event, timestamp: now }),
    claimed_until,
    next_attempt_at: claimed_until,
  };
  await insertRows(db, 'webhook_deliveries', [delivery]);
  return delivery;
}

/**
 * How long a delivery belongs to the instance that claimed it. If the instance dies, another one repeats the attempt
 * after that. Longer than an attempt can take.
 */
export const leaseSeconds = 60;
