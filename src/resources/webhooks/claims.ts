import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { param, statement } from '../../database/sql/statement.ts';
import { createPacer } from '../../formats/pace.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { type Claim, leaseSeconds } from './deliveries.ts';
import { later, type Outcome, outcomeOf } from './outcome.ts';
import { disableWebhook, webhookColumns, webhookOf } from './queries.ts';
import type { Delivery, Webhook } from './schema.ts';
import type { Attempt } from './send.ts';

/** `isOrdinary` is false for a test, which is not repeated and says nothing about how long the receiver has failed. */
export type Result = { claim: Claim; attempt: Attempt; moment: Moment; isOrdinary: boolean };

/** The state of an enabled webhook that decides what it may send. */
export type ActiveWebhook = Webhook & {
  last_sequence: number;
  failures: number;
  throttled_until: string | null;
  pending: number;
  /** The earliest time at which a delivery is due, if one is pending. */
  due_at: string | null;
};

const maxInFlightPerWebhook = 16;
/** The last places of a process are for webhooks with nothing in flight, so that slow receivers cannot take all of them. */
const reservedPlaces = 16;
/** After this many failures in a row, a webhook attempts one delivery at a time. */
const failuresToSlowDown = 3;
/** An event waits for earlier events of its subject until those have failed this often: about 5 minutes. */
const attemptsInOrder = 3;
/** A success after this many failures in a row means that the receiver works again: retries need not wait any longer. */
const failuresToRecover = 20;
const maxFailingDays = 5;

/** The webhooks to read at once: SQLite counts the pending deliveries of each on the main thread. */
const webhooksPerPage = 10;

/** Reads page by page and yields to the event loop in between, because there may be many webhooks. */
export async function listActiveWebhooks(db: Kysely<Tables>): Promise<ActiveWebhook[]> {
  const pause = createPacer();
  const webhooks: ActiveWebhook[] = [];
  for (let after = ''; ; after = webhooks.at(-1)?.id ?? '') {
    const { rows } = await enabledWebhooks(db, { after });
    webhooks.push(...rows.map((row) => ({ ...row, ...webhookOf(row) })));
    if (rows.length < webhooksPerPage) return webhooks;
    await pause();
  }
}

const pendingOfWebhook = sql`from webhook_deliveries where webhook_id = webhooks.id and next_attempt_at is not null`;

const enabledWebhooks = statement((db) =>
  db
    .selectFrom('webhooks')
    .select([
      ...webhookColumns,
      'last_sequence',
      'failures',
      'throttled_until',
      sql<number>`(select count(*) ${pendingOfWebhook})`.as('pending'),
      sql<string | null>`(select min(next_attempt_at) ${pendingOfWebhook})`.as('due_at'),
    ])
    .where('status', '=', 'enabled')
    .where('id', '>', param<string>('after'))
    .orderBy('id')
    .limit(sql.lit(webhooksPerPage)),
);

/** How many deliveries of the webhook may be in flight, over all instances. */
export const maxInFlightOf = ({ failures }: Pick<ActiveWebhook, 'failures'>) =>
  failures >= failuresToSlowDown ? 1 : maxInFlightPerWebhook;

/** Whether a delivery is due that does not have to wait for an earlier one. */
export async function hasDue(db: Kysely<Tables>, { id }: ActiveWebhook, now: string): Promise<boolean> {
  const { rows } = await dueDeliveries(db, { webhook_id: id, now, limit: 1 });
  return rows.length > 0;
}

/** Due deliveries that no instance attempts, in order. A later event of a subject waits for the earlier ones. */
const dueDeliveries = statement((db) =>
  db
    .selectFrom('webhook_deliveries as due')
    .select('id')
    .where('webhook_id', '=', param<string>('webhook_id'))
    .where('next_attempt_at', '<=', param<string>('now'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_deliveries as earlier')
            .select('earlier.id')
            .whereRef('earlier.webhook_id', '=', 'due.webhook_id')
            .whereRef('earlier.subject_id', '=', 'due.subject_id')
            .whereRef('earlier.sequence', '<', 'due.sequence')
            .where('earlier.next_attempt_at', 'is not', null)
            .where('earlier.attempts', '<', attemptsInOrder),
        ),
      ),
    )
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(param<number>('limit')),
);

/** Claims due deliveries, so that no other instance attempts them: at most as many as there are free places. */
export async function claimDue(
  db: Transaction<Tables>,
  webhooks: readonly ActiveWebhook[],
  freePlaces: number,
  now: string,
): Promise<Claim[]> {
  // One instance claims at a time; otherwise two could exceed the limit or overtake each other.
  await lockTables(db, 'webhook_deliveries');
  const claims: Claim[] = [];
  const claimed_until = later(now, leaseSeconds);
  // SQLite looks through what waits for earlier deliveries on the main thread.
  const pause = createPacer();
  for (const webhook of webhooks) {
    await pause();
    const webhook_id = webhook.id;
    const free = freePlaces - claims.length;
    if (free === 0) break;
    const claimed = (await countClaimed(db, { webhook_id, now })).rows[0]?.count ?? 0;
    const places = Math.max(free - reservedPlaces, claimed === 0 ? 1 : 0);
    const limit = Math.min(maxInFlightOf(webhook) - claimed, places);
    const due = limit > 0 ? (await dueDeliveries(db, { webhook_id, now, limit })).rows : [];
    if (due.length === 0) continue;
    const { rows } = await claimRows(db, { claimed_until, ids: JSON.stringify(due.map(({ id }) => id)) });
    claims.push(...rows.map((row) => ({ ...row, claimed_until })));
  }
  return claims.sort((a, b) => (a.id < b.id ? -1 : 1));
}

const countClaimed = statement((db) =>
  db
    .selectFrom('webhook_deliveries')
    .select(sql<number>`count(*)`.as('count'))
    .where('webhook_id', '=', param<string>('webhook_id'))
    .where('next_attempt_at', '>', param<string>('now'))
    .where('claimed_until', '>', param<string>('now')),
);

const claimRows = statement((db) =>
  db
    .updateTable('webhook_deliveries')
    .set({
      claimed_until: param<string>('claimed_until'),
      next_attempt_at: param<string>('claimed_until'),
    })
    .where(inJsonArray(sql.ref('id'), param<string>('ids')))
    .returning(['id', 'webhook_id', 'event_id', 'event_type', 'sequence', 'payload', 'attempts']),
);

/** Makes claimed deliveries due at once, for another instance. */
export async function releaseClaims(db: Transaction<Tables>, claims: readonly Claim[], now: string) {
  await lockTables(db, 'webhook_deliveries');
  for (const { id, claimed_until } of claims) {
    await db
      .updateTable('webhook_deliveries')
      .set({ claimed_until: null, next_attempt_at: now })
      .where('id', '=', id)
      .where('claimed_until', '=', claimed_until)
      .execute();
  }
}

/** Stores the results of attempts and what follows for the webhooks. Returns the outcomes of those whose claim was valid. */
export async function recordResults(db: Transaction<Tables>, results: readonly Result[]): Promise<Outcome[]> {
  await lockTables(db, 'webhook_deliveries');
  const outcomes: Outcome[] = [];
  // In the order of ids, as in `fan-out.ts`, so that instances that change the same webhooks do not deadlock.
  const groups = [...Map.groupBy(results, ({ claim }) => claim.webhook_id)];
  for (const [webhook_id, group] of groups.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const health: Health[] = [];
    for (const result of group) {
      const outcome = await recordResult(db, result);
      if (!outcome) continue;
      outcomes.push(outcome);
      if (result.isOrdinary) health.push({ outcome, moment: result.moment });
    }
    if (health.length > 0) await recordHealth(db, webhook_id, health);
  }
  return outcomes;
}

async function recordResult(
  db: Transaction<Tables>,
  { claim, attempt, moment: { now }, isOrdinary }: Result,
): Promise<Outcome | undefined> {
  const attempts = claim.attempts + 1;
  const { response_status, response_excerpt, error, latency_ms } = attempt;
  const outcome = outcomeOf(attempt, attempts, now, isOrdinary);
  const { rows } = await storeResult(db, {
    id: claim.id,
    claimed_until: claim.claimed_until,
    status: outcome.status,
    attempts,
    last_attempt_at: now,
    next_attempt_at: outcome.status === 'pending' ? outcome.next_attempt_at : null,
    response_status,
    response_excerpt,
    error,
    latency_ms,
  });
  return rows.length > 0 ? outcome : undefined;
}

const storeResult = statement((db) =>
  db
    .updateTable('webhook_deliveries')
    .set({
      status: param<Delivery['status']>('status'),
      attempts: param<number>('attempts'),
      last_attempt_at: param<string>('last_attempt_at'),
      next_attempt_at: param<string | null>('next_attempt_at'),
      claimed_until: null,
      response_status: param<number | null>('response_status'),
      response_excerpt: param<string | null>('response_excerpt'),
      error: param<string | null>('error'),
      latency_ms: param<number>('latency_ms'),
    })
    .where('id', '=', param<string>('id'))
    // If the claim has expired, another instance is responsible.
    .where('claimed_until', '=', param<string>('claimed_until'))
    .returning('id'),
);

type Health = { outcome: Outcome; moment: Moment };

/** Updates how long the webhook has failed, and disables it if that is too long or its receiver is gone. */
async function recordHealth(db: Transaction<Tables>, id: string, results: readonly Health[]): Promise<void> {
  const row = await db
    .selectFrom('webhooks')
    .select([...webhookColumns, 'failures', 'throttled_until'])
    .where('id', '=', id)
    .executeTakeFirst();
  const moment = results.at(-1)?.moment;
  if (!row || !moment) return;
  const { now } = moment;
  let { failing_since, failures, throttled_until } = row;
  let hasRecovered = false;
  for (const { outcome, moment } of results) {
    const isSuccess = outcome.status === 'delivered';
    hasRecovered ||= isSuccess && failures >= failuresToRecover;
    failing_since = isSuccess ? null : (failing_since ?? moment.now);
    failures = isSuccess ? 0 : failures + 1;
    if (outcome.status === 'pending') throttled_until = outcome.throttled_until ?? throttled_until;
  }
  const isChanged =
    failing_since !== row.failing_since ||
    failures !== row.failures ||
    throttled_until !== row.throttled_until;
  if (isChanged) {
    const columns = { failing_since, failures, throttled_until };
    await db.updateTable('webhooks').set(columns).where('id', '=', id).execute();
  }
  if (hasRecovered) await retryNow(db, id, now);
  const reason = reasonToDisable(results, failing_since, now);
  if (reason !== undefined && row.status === 'enabled') {
    await disableWebhook(db, { ...webhookOf(row), failing_since }, reason, moment);
  }
}

function reasonToDisable(results: readonly Health[], failing_since: string | null, now: string) {
  if (results.some(({ outcome }) => outcome.status === 'failed' && outcome.isGone)) {
    return 'The receiver responded with 410 Gone.';
  }
  return failing_since !== null && later(failing_since, maxFailingDays * 86_400) <= now
    ? `All attempts have failed for ${maxFailingDays} days, since ${failing_since}.`
    : undefined;
}

const retryNow = (db: Transaction<Tables>, webhook_id: string, now: string) =>
  db
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: now })
    .where('webhook_id', '=', webhook_id)
    .where('next_attempt_at', '>', now)
    .where('claimed_until', 'is', null)
    .execute();
