import type { Kysely } from 'kysely';
import type { Database } from '../../database/open.ts';
import type { Tables } from '../../database/tables.ts';
import { insertRows } from '../../database/writes/rows.ts';
import { dataVersion } from '../../database/writes/table-versions.ts';
import { isReadable } from '../events/queries.ts';
import { expandTypes } from './access.ts';
import { newDelivery } from './deliveries.ts';
import type { Webhook } from './schema.ts';

/** Events to read at once, whether they match or not: the main thread of SQLite reads them. */
const maxEventsPerRound = 500;

/** A webhook is given no more events while this many deliveries are pending: the rest waits in the event log. */
const maxPending = 5_000;

/** While there is nothing for a webhook, its position is stored only this often, in microseconds as in sequence numbers. */
const storeEvery = 600_000_000;

/** `from` is the position up to which this instance has found nothing, if it is beyond the stored one. */
type Position = { last_sequence: number; from: number; pending: number };

/**
 * Creates deliveries for the events after the position of the webhook, and moves the position, in one transaction.
 * `head` is the latest sequence number. Returns the position up to which there is nothing left to create: less than
 * `head` if there are many events.
 */
export async function fanOut(
  database: Database,
  webhook: Webhook & Position,
  head: number,
  now: string,
): Promise<{ upTo: number; created: number }> {
  const { id, version, from, last_sequence } = webhook;
  const limit = maxPending - webhook.pending;
  if (limit <= 0) return { upTo: from, created: 0 };
  const { events, upTo } = await findEvents(database.db, webhook, { from, head, limit });
  if (events.length === 0 && upTo - last_sequence < storeEvery) return { upTo, created: 0 };
  const isMoved = await database.write(async (db) => {
    // Another instance may have moved the position. Then it has also created the deliveries.
    const { numUpdatedRows } = await db
      .updateTable('webhooks')
      .set({ last_sequence: upTo })
      .where('id', '=', id)
      .where('status', '=', 'enabled')
      .where('last_sequence', '=', last_sequence)
      // Its types or projects may have changed.
      .where('version', '=', version)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    const deliveries = events.map((event) =>
      newDelivery(
        id,
        {
          event_id: event.id,
          event_type: event.type,
          sequence: event.sequence,
          subject_id: event.subject_id,
          payload: null,
        },
        now,
      ),
    );
    await insertRows(db, 'webhook_deliveries', deliveries);
    return true;
  });
  return isMoved ? { upTo, created: events.length } : { upTo: last_sequence, created: 0 };
}

/**
 * Up to where the log contains nothing for the webhook, as far as some rounds of `fanOut` would find. Instances remember
 * this without storing it; after a change of its types or projects, it could not be found again.
 */
export async function unmatchedUpTo(db: Kysely<Tables>, webhook: Webhook): Promise<number> {
  const { last_sequence } = await db
    .selectFrom('webhooks')
    .select('last_sequence')
    .where('id', '=', webhook.id)
    .executeTakeFirstOrThrow();
  // Before the events, so that none is skipped that is committed in between.
  const head = await dataVersion(db, ['events']);
  let position = last_sequence;
  for (let round = 0; round < 20 && position < head; round++) {
    const { events, upTo } = await findEvents(db, webhook, { from: position, head, limit: 1 });
    if (events[0]) return events[0].sequence - 1;
    position = upTo;
  }
  return position;
}

/** The events in the next part of the log that the webhook asks for and a key with its scopes and projects could read. */
async function findEvents(
  db: Kysely<Tables>,
  webhook: Webhook,
  { from, head, limit }: { from: number; head: number; limit: number },
) {
  const rows = await db
    .selectFrom('events')
    .select(['sequence', 'id', 'type', 'subject_type', 'subject_id', 'project_id'])
    .where('sequence', '>', from)
    .where('sequence', '<=', head)
    .orderBy('sequence')
    .limit(maxEventsPerRound)
    .execute();
  const types = new Set(expandTypes(webhook.types));
  const isVisible = isReadable(webhook);
  const matching = rows.filter((event) => types.has(event.type) && isVisible(event));
  const events = matching.slice(0, limit);
  const last = matching.length > limit ? events.at(-1) : rows[maxEventsPerRound - 1];
  return { events, upTo: last?.sequence ?? head };
}
