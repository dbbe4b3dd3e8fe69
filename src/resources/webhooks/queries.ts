import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { notFound, Problem } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { AccessLimits } from '../../core/scopes.ts';
import { WriteConflict } from '../../database/application.ts';
import { newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import { allOf, isIn } from '../../lists/filters.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem, type Change, type Differences } from '../../store/writes/change.ts';
import { subjectOf } from '../../store/writes/events.ts';
import {
  differencesBetween,
  type EventOptions,
  recordChanges,
  recordCreated,
  recordDeleted,
} from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { countAllRows, deleteRow, laterThan } from '../../store/writes/rows.ts';
import { dataVersion } from '../../store/writes/table-versions.ts';
import { withProjectIds } from '../keys/queries.ts';
import { readScopesOf } from './access.ts';
import { type LoggedEvent, matchPart, unmatchedUpTo } from './fan-out.ts';
import { newWebhookSecret } from './message.ts';
import { later } from './outcome.ts';
import { Webhook, WebhookInput, type WebhookPatch, type webhookFilters, webhookResource } from './schema.ts';

type NewWebhook = Webhook & { secret: string };

/** How long the former secret signs too after a rotation. */
const overlapSeconds = 24 * 3600;

const json = rowAsJson(Webhook, 'webhooks');

const webhookSubject = subjectOf(webhookResource, () => json);

/** Webhooks, oldest first. */
export const webhookList = (filters: Filters<typeof webhookFilters>): List => ({
  schema: Webhook,
  json,
  reads: ['webhooks'],
  order: { key: sql.ref('webhooks.id') },
  from: (db) => db.selectFrom('webhooks'),
  id: sql.ref('webhooks.id'),
  matches: allOf(filters, { status: isIn('webhooks.status') }),
});

export async function getWebhook(db: Kysely<Tables>, id: string): Promise<Webhook> {
  const row = await db
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('webhook', id));
  return webhookOf(row);
}

/** Starts with the events after the latest one. Returns the secret, which no other response contains. */
export async function createWebhook(
  db: Transaction<Tables>,
  input: WebhookInput,
  actor: AccessLimits,
  maxWebhooks: number,
  change: Change,
): Promise<NewWebhook> {
  // Otherwise transactions on PostgreSQL that count at the same time would all find room.
  await lockTables(db, 'webhooks');
  if ((await countAllRows(db, 'webhooks')) >= maxWebhooks) throw tooManyWebhooks(maxWebhooks);
  const id = newId('webhook');
  const secret = newWebhookSecret();
  const row = {
    id,
    ...storedFields(WebhookInput, await withOwnProjects(db, input, actor)),
    disabled_reason: null,
    failing_since: null,
    scopes: JSON.stringify(readScopesOf(actor)),
    secret,
    previous_secret: null,
    previous_until: null,
    last_sequence: await dataVersion(db, ['events']),
    failures: 0,
    throttled_until: null,
    ...newStamps(change.now),
  };
  await db.insertInto('webhooks').values(row).execute();
  await recordCreated(db, webhookSubject, [{ id, label: input.url }], change);
  return { ...(await getWebhook(db, id)), secret };
}

function tooManyWebhooks(maxWebhooks: number): Problem {
  const detail =
    `There are already ${maxWebhooks} webhooks, the maximum of this service (MUSTER_MAX_WEBHOOKS). ` +
    'Delete one that is no longer needed, or ask your administrator to raise the maximum.';
  return new Problem('invalid_body', detail, { errors: [{ pointer: '#', code: 'maxItems', detail }] });
}

export async function updateWebhook(
  db: Transaction<Tables>,
  current: Webhook,
  patch: WebhookPatch,
  change: Change,
): Promise<Webhook> {
  const next: Webhook = { ...current, ...(await withProjectIds(db, patch)) };
  const isEnabled = current.status === 'disabled' && next.status === 'enabled';
  if (isEnabled) Object.assign(next, { disabled_reason: null, failing_since: null });
  const differences = differencesBetween(current, next, webhookColumns);
  if (Object.keys(differences).length === 0) return current;
  const isFilterChanged = 'types' in differences || 'project_ids' in differences;
  const columns = {
    ...storedChanges(Webhook, differences),
    ...(isEnabled && { failures: 0, throttled_until: null }),
    // New types and projects are for new events. A disabled webhook looks at those since then when it is enabled.
    ...(isFilterChanged &&
      current.status === 'enabled' && { last_sequence: notBelow(await unmatchedUpTo(db, current)) }),
  };
  return changeWebhook(db, current, columns, differences, change);
}

/** An instance may have moved the position further meanwhile. */
const notBelow = (sequence: number) =>
  sql<number>`case when last_sequence < ${sequence} then ${sequence} else last_sequence end`;

/** Gives the webhook a new secret. For a day, the former one signs too, so that receivers can change over. */
export async function rotateWebhook(
  db: Transaction<Tables>,
  current: Webhook,
  change: Change,
): Promise<NewWebhook> {
  const secret = newWebhookSecret();
  const columns = {
    secret,
    previous_secret: sql<string>`secret`,
    previous_until: later(change.now, overlapSeconds),
  };
  const rotated = { from: null, to: null };
  const event = { type: 'webhook.rotated', differences: {} } as const;
  return { ...(await changeWebhook(db, current, columns, { rotated }, change, event)), secret };
}

/** Disables a webhook whose receiver is gone or has failed for too long. */
export async function disableWebhook(
  db: Transaction<Tables>,
  current: Webhook,
  disabled_reason: string,
  moment: Moment,
): Promise<void> {
  const next: Webhook = { ...current, status: 'disabled', disabled_reason };
  const differences = differencesBetween(current, next, webhookColumns);
  const change = bySystem(moment, disabled_reason);
  await changeWebhook(db, current, storedChanges(Webhook, differences), differences, change);
}

/** Deletes the webhook and the log of its deliveries. */
export async function deleteWebhook(
  db: Transaction<Tables>,
  current: Webhook,
  change: Change,
): Promise<void> {
  await lockTables(db, 'webhook_deliveries');
  await db.deleteFrom('webhook_deliveries').where('webhook_id', '=', current.id).execute();
  await deleteRow(db, 'webhooks', current);
  await recordDeleted(db, webhookSubject, current.id, current, change);
}

/** Sends the events after a sequence number again, as far as they are stored. */
export async function replayWebhook(
  db: Transaction<Tables>,
  current: Webhook,
  after: number,
  change: Change,
): Promise<Webhook> {
  const replayed = { from: null, to: after };
  // Not beyond its position: the webhook would miss the events until then.
  const last_sequence = sql<number>`case when last_sequence < ${after} then last_sequence else ${after} end`;
  const event = { type: 'webhook.replayed', differences: {} } as const;
  return changeWebhook(db, current, { last_sequence }, { replayed }, change, event);
}

async function changeWebhook(
  db: Transaction<Tables>,
  current: Webhook,
  columns: object,
  differences: Differences,
  requested: Change,
  event?: EventOptions,
): Promise<Webhook> {
  const { id, version } = current;
  const change = laterThan(requested, current);
  const { numUpdatedRows } = await db
    .updateTable('webhooks')
    .set({ ...columns, version: version + 1, updated_at: change.now })
    .where('id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new WriteConflict();
  await recordChanges(db, webhookSubject, id, differences, change, event);
  return getWebhook(db, id);
}

/** The columns of the API resource; secrets are not among them. */
export const webhookColumns = Object.keys(Webhook.properties) as (keyof Webhook)[];

export const webhookOf = (row: Pick<Selectable<Tables['webhooks']>, keyof Webhook>): Webhook => ({
  ...row,
  types: JSON.parse(row.types),
  scopes: JSON.parse(row.scopes),
  project_ids: row.project_ids === null ? null : JSON.parse(row.project_ids),
});

/** How many of these events, which were deleted, each enabled webhook would have got, if it had not been behind. */
export async function countMissed(db: Kysely<Tables>, events: LoggedEvent[]): Promise<Map<string, number>> {
  const upTo = events.reduce((max, { sequence }) => Math.max(max, sequence), 0);
  const behind = await db
    .selectFrom('webhooks')
    .select([...webhookColumns, 'last_sequence'])
    .where('status', '=', 'enabled')
    .where('last_sequence', '<', upTo)
    .execute();
  const missed = behind.map((row): [string, number] => {
    const { events: own } = matchPart(webhookOf(row), { events, upTo }, row.last_sequence, events.length);
    return [row.id, own.length];
  });
  return new Map(missed.filter(([, count]) => count > 0));
}

/**
 * A webhook is limited to the projects of the key that creates it, unless the request chooses some of them. The ids of the
 * key may include those of deleted projects, so only the projects in the request are looked up.
 */
const withOwnProjects = async (db: Kysely<Tables>, input: WebhookInput, { project_ids }: AccessLimits) =>
  input.project_ids === undefined ? { ...input, project_ids } : withProjectIds(db, input);
