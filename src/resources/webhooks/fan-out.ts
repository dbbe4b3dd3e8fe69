import { sql } from 'kysely';
import type { Database } from '../../database/open.ts';
import { scopeToProjects } from '../../database/project-scope.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { insertRows } from '../../database/writes/rows.ts';
import { expandTypes, readableSubjects } from './access.ts';
import { newDelivery } from './deliveries.ts';
import type { Webhook } from './schema.ts';

const maxEventsPerTransaction = 500;

/** A webhook is given no more events while this many deliveries are pending: the rest waits in the event log. */
const maxPending = 5_000;

/** While there is nothing for a webhook, its position is stored only this often, in microseconds as in sequence numbers. */
const storeEvery = 600_000_000;

/** `from` is the position up to which this instance has found nothing, if it is beyond the stored one. */
type Position = { last_sequence: number; from: number; pending: number };

/**
 * Creates deliveries for the events after the position of the webhook, and moves the position, in one transaction.
 * `head` is the latest sequence number. Returns the position up to which there is nothing left to create.
 */
export async function fanOut(
  database: Database,
  webhook: Webhook & Position,
  head: number,
  now: string,
): Promise<{ upTo: number; created: number }> {
  const { id, last_sequence } = webhook;
  const limit = Math.min(maxEventsPerTransaction, maxPending - webhook.pending);
  if (limit <= 0) return { upTo: webhook.from, created: 0 };
  const events = await findEvents(database, webhook, head, limit);
  const upTo = events.length === limit ? (events.at(-1)?.sequence ?? head) : head;
  if (events.length === 0 && upTo - last_sequence < storeEvery) return { upTo, created: 0 };
  const isMoved = await database.write(async (db) => {
    // Another instance may have moved the position. Then it has also created the deliveries.
    const { numUpdatedRows } = await db
      .updateTable('webhooks')
      .set({ last_sequence: upTo })
      .where('id', '=', id)
      .where('status', '=', 'enabled')
      .where('last_sequence', '=', last_sequence)
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

/** The events that the webhook asks for and a key with its scopes and projects could read. */
function findEvents(
  database: Database,
  { types, scopes, project_ids, from }: Webhook & Position,
  head: number,
  limit: number,
) {
  const { db } = scopeToProjects(database, project_ids);
  return db
    .selectFrom('events')
    .select(['sequence', 'id', 'type', 'subject_id'])
    .where('sequence', '>', from)
    .where('sequence', '<=', head)
    .where(inJsonArray(sql.ref('type'), expandTypes(types)))
    .where(inJsonArray(sql.ref('subject_type'), readableSubjects(scopes)))
    .orderBy('sequence')
    .limit(limit)
    .execute();
}
