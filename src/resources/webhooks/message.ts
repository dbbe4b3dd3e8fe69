import { createHmac, randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { eventJson, isReadable, type Reader } from '../events/queries.ts';
import type { Claim } from './deliveries.ts';
import type { Message } from './send.ts';

/** Standard Webhooks recommends payloads below this size. */
const maxPayloadBytes = 20_000;

/**
 * The signed messages of deliveries, by id. A delivery has none if its event is no longer stored, or outside of the
 * projects to which the webhook was limited since.
 */
export async function findMessages(
  db: Kysely<Tables>,
  claims: readonly Claim[],
  { now }: Moment,
): Promise<Map<string, Message>> {
  const [webhooks, events] = [await webhooksOf(db, claims), await eventsOf(db, claims)];
  const messages = claims.flatMap(({ id, webhook_id, event_id, sequence, payload }) => {
    const webhook = webhooks.get(webhook_id);
    if (!webhook) return [];
    const event = events.get(sequence);
    const body = payload ?? (event && webhook.isReadable(event) ? payloadOf(event) : undefined);
    if (body === undefined) return [];
    const headers = {
      ...signedHeaders(secretsOf(webhook, now), event_id, now, body),
      traceparent: newTraceparent(),
    };
    return [[id, { url: webhook.url, headers, body }] as const];
  });
  return new Map(messages);
}

type Signer = Pick<Tables['webhooks'], 'secret' | 'previous_secret' | 'previous_until'>;

const secretsOf = ({ secret, previous_secret, previous_until }: Signer, now: string) =>
  previous_secret !== null && (previous_until ?? '') > now ? [secret, previous_secret] : [secret];

async function webhooksOf(db: Kysely<Tables>, claims: readonly Claim[]) {
  const ids = new Set(claims.map(({ webhook_id }) => webhook_id));
  if (ids.size === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('webhooks')
    .select(['id', 'url', 'scopes', 'project_ids', 'secret', 'previous_secret', 'previous_until'])
    .where('id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, { ...row, isReadable: isReadable(readerOf(row)) }]));
}

const readerOf = ({ scopes, project_ids }: Pick<Tables['webhooks'], 'scopes' | 'project_ids'>): Reader => ({
  scopes: JSON.parse(scopes),
  project_ids: project_ids === null ? null : JSON.parse(project_ids),
});

async function eventsOf(db: Kysely<Tables>, claims: readonly Claim[]) {
  const sequences = new Set(claims.flatMap(({ sequence }) => sequence ?? []));
  if (sequences.size === 0) return new Map<number | null, never>();
  const rows = await db
    .selectFrom('events')
    .select(['sequence', 'at', 'subject_type', 'project_id', eventJson.as('json')])
    .where('sequence', 'in', [...sequences])
    .execute();
  return new Map<number | null, (typeof rows)[number]>(rows.map((row) => [row.sequence, row]));
}

/** The event as `GET /v1/events` returns it, with `timestamp`. A large one comes without `data` and `previous`. */
function payloadOf({ json, at }: { json: string; at: string }): string {
  const whole = `${json.slice(0, -1)},"timestamp":${JSON.stringify(at)}}`;
  if (Buffer.byteLength(whole) <= maxPayloadBytes) return whole;
  return JSON.stringify({ ...JSON.parse(whole), data: null, previous: null, truncated: true });
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
