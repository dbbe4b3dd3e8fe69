import { createHmac, randomBytes } from 'node:crypto';
import type { Kysely, Selectable } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Tables } from '../../database/tables.ts';
import type { Claim } from './deliveries.ts';
import type { Message } from './send.ts';

/** Standard Webhooks recommends payloads below this size. */
const maxPayloadBytes = 20_000;

/** The signed message of a delivery; undefined if its event is no longer stored. */
export async function findMessage(
  db: Kysely<Tables>,
  { webhook_id, event_id, sequence, payload }: Claim,
  { now }: Moment,
): Promise<Message | undefined> {
  const webhook = await db
    .selectFrom('webhooks')
    .select(['url', 'secret', 'previous_secret', 'previous_until'])
    .where('id', '=', webhook_id)
    .executeTakeFirst();
  const body = payload ?? (await findPayload(db, sequence));
  if (!webhook || body === undefined) return undefined;
  const { url, secret, previous_secret, previous_until } = webhook;
  const isOverlap = previous_secret !== null && previous_until !== null && previous_until > now;
  const secrets = isOverlap ? [secret, previous_secret] : [secret];
  const headers = { ...signedHeaders(secrets, event_id, now, body), traceparent: newTraceparent() };
  return { url, headers, body };
}

async function findPayload(db: Kysely<Tables>, sequence: number | null): Promise<string | undefined> {
  if (sequence === null) return undefined;
  const event = await db.selectFrom('events').selectAll().where('sequence', '=', sequence).executeTakeFirst();
  return event && payloadOf(event);
}

/** The event as `GET /v1/events` returns it, with `timestamp`. A large one comes without `data` and `previous`. */
function payloadOf(event: Selectable<Tables['events']>): string {
  const { type, at, id, sequence, key_id, key_name, subject_type, subject_id, subject_key } = event;
  const envelope = {
    type,
    timestamp: at,
    id,
    sequence,
    at,
    actor: { key_id, name: key_name },
    subject: { type: subject_type, id: subject_id, key: subject_key },
  };
  const start = JSON.stringify(envelope).slice(0, -1);
  const whole = `${start},"data":${event.data},"previous":${event.previous}}`;
  if (Buffer.byteLength(whole) <= maxPayloadBytes) return whole;
  return `${start},"data":null,"previous":null,"truncated":true}`;
}

/** W3C Trace Context, so that the receiver's traces have a root. */
const newTraceparent = () => `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;

const prefix = 'whsec_';

/** A secret as Standard Webhooks defines it. */
export const newWebhookSecret = () => prefix + randomBytes(32).toString('base64');

/** The headers that identify and sign a message (Standard Webhooks 1.0). Each secret signs, so that a receiver may know any. */
export function signedHeaders(secrets: readonly string[], id: string, now: string, body: string) {
  const timestamp = Math.floor(Date.parse(now) / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
