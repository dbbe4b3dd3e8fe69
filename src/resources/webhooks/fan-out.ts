import type { Insertable, Kysely } from 'kysely';
import type { Database } from '../../database/open.ts';
import { param, statement } from '../../database/sql/statement.ts';
import { createPacer } from '../../formats/pace.ts';
import type { Tables } from '../../store/tables.ts';
import { insertRows } from '../../store/writes/rows.ts';
import { dataVersion } from '../../store/writes/table-versions.ts';
import { isReadable } from '../events/queries.ts';
import { matchesTypes } from './access.ts';
import { newDelivery } from './deliveries.ts';
import type { Webhook } from './schema.ts';

/** Events to read at once, whether they match or not: the main thread of SQLite reads them. */
const maxEventsPerPart = 500;

/** A webhook is given no more events while this many deliveries are pending: the rest waits in the event log. */
const maxPending = 5_000;

/** While there is nothing for a webhook, its position is stored only this often, in microseconds as in sequence numbers. */
const storeEvery = 600_000_000;

/** What one transaction stores at most, unless a single webhook gets more. Other writers wait for it. */
const maxWebhooksPerWrite = 50;
const maxDeliveriesPerWrite = 200;

/** Creates deliveries for new events, and remembers up to where it has looked for each webhook. */
export function createFanOut(database: Database, onError: (error: unknown) => void) {
  /**
   * Up to where the event log contains nothing for this version of a webhook at this position. Not stored, to save a
   * write per event.
   */
  const scanned = new Map<string, { version: number; from: number; upTo: number }>();

  /**
   * Creates the deliveries of new events for all enabled webhooks. `head` is the latest sequence number. Returns whether
   * there is more to do.
   */
  return async (webhooks: readonly Positioned[], head: number, now: string): Promise<boolean> => {
    const enabled = new Set(webhooks.map(({ id }) => id));
    for (const id of scanned.keys()) if (!enabled.has(id)) scanned.delete(id);
    const candidates = webhooks.flatMap((webhook) => {
      const { id, version, last_sequence } = webhook;
      const known = scanned.get(id);
      const isKnown = known?.version === version && known.from === last_sequence;
      const from = isKnown ? known.upTo : last_sequence;
      return from < head ? [{ ...webhook, from }] : [];
    });
    const progress = await fanOut(database, candidates, head, now, onError);
    let hasMore = false;
    for (const { id, version, last_sequence, from } of candidates) {
      const result = progress.get(id);
      // It could not be matched or stored, so the next round tries again.
      if (!result) continue;
      const { upTo, created } = result;
      scanned.set(id, { version, from: created > 0 ? upTo : last_sequence, upTo });
      hasMore ||= created > 0 || (upTo > from && upTo < head);
    }
    return hasMore;
  };
}

type Positioned = Webhook & { last_sequence: number; pending: number };

/** `from` is the position up to which this instance has found nothing, if it is beyond the stored one. */
type Candidate = Positioned & { from: number };

/** The position up to which there is nothing left to create, less than `head` if there are many events. */
type Progress = { upTo: number; created: number };

type Match = { webhook: Candidate; upTo: number; events: LoggedEvent[] };

/**
 * Creates deliveries for the events after the positions of the webhooks, and moves each position in the same transaction
 * as its deliveries. Each part of the log is read once for all webhooks that are there, usually the end for all of them.
 * Yields to the event loop, because there may be many webhooks. A webhook that fails holds up no other: the result does
 * not contain it.
 */
export async function fanOut(
  database: Database,
  webhooks: readonly Candidate[],
  head: number,
  now: string,
  onError: (error: unknown) => void,
): Promise<Map<string, Progress>> {
  const pause = createPacer();
  const progress = new Map<string, Progress>();
  const batch: Match[] = [];
  let batched = 0;
  const store = async () => {
    const matches = batch.splice(0);
    batched = 0;
    if (matches.length === 0) return;
    try {
      for (const [id, result] of await storeMatches(database, matches, now)) progress.set(id, result);
    } catch (error) {
      onError(error);
    }
  };
  let part: LogPart | undefined;
  for (const webhook of webhooks.toSorted((a, b) => a.from - b.from)) {
    await pause();
    const { id, from, last_sequence } = webhook;
    const limit = maxPending - webhook.pending;
    if (limit <= 0) {
      progress.set(id, { upTo: from, created: 0 });
      continue;
    }
    if (!part || from >= part.upTo) part = await readPart(database.db, from, head);
    try {
      const { events, upTo } = matchPart(webhook, part, from, limit);
      if (events.length === 0 && upTo - last_sequence < storeEvery) {
        progress.set(id, { upTo, created: 0 });
        continue;
      }
      if (batched + events.length > maxDeliveriesPerWrite || batch.length === maxWebhooksPerWrite) {
        await store();
      }
      batch.push({ webhook, upTo, events });
      batched += events.length;
    } catch (error) {
      onError(error);
    }
  }
  await store();
  return progress;
}

async function storeMatches(
  database: Database,
  matches: readonly Match[],
  now: string,
): Promise<Map<string, Progress>> {
  // In the order of ids, so that instances that store at the same time do not deadlock.
  const inOrder = matches.toSorted((a, b) => (a.webhook.id < b.webhook.id ? -1 : 1));
  return database.write(async (db) => {
    const progress = new Map<string, Progress>();
    const deliveries: Insertable<Tables['webhook_deliveries']>[] = [];
    for (const { webhook, upTo, events } of inOrder) {
      const { id: webhook_id, version, last_sequence } = webhook;
      const { rows } = await movePosition(db, { id: webhook_id, version, last_sequence, upTo });
      const isMoved = rows.length > 0;
      const result = isMoved ? { upTo, created: events.length } : { upTo: last_sequence, created: 0 };
      progress.set(webhook_id, result);
      if (!isMoved) continue;
      for (const { id: event_id, type: event_type, sequence, subject_id } of events) {
        const event = { event_id, event_type, sequence, subject_id, payload: null };
        deliveries.push({ ...newDelivery(now), webhook_id, ...event });
      }
    }
    await insertRows(db, 'webhook_deliveries', deliveries);
    return progress;
  });
}

/** Another instance may have moved the position. Then it has also created the deliveries. */
const movePosition = statement((db) =>
  db
    .updateTable('webhooks')
    .set({ last_sequence: param<number>('upTo') })
    .where('id', '=', param<string>('id'))
    .where('status', '=', 'enabled')
    .where('last_sequence', '=', param<number>('last_sequence'))
    // Its types or projects may have changed.
    .where('version', '=', param<number>('version'))
    .returning('id'),
);

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
    const part = await readPart(db, position, head);
    const { events, upTo } = matchPart(webhook, part, position, 1);
    if (events[0]) return events[0].sequence - 1;
    position = upTo;
  }
  return position;
}

export const loggedColumns = [
  'sequence',
  'id',
  'type',
  'also',
  'subject_type',
  'subject_id',
  'project_id',
] as const;

export type LoggedEvent = Pick<Tables['events'], (typeof loggedColumns)[number]>;

/** A part of the event log, without gaps up to `upTo`. */
type LogPart = { events: LoggedEvent[]; upTo: number };

async function readPart(db: Kysely<Tables>, from: number, head: number): Promise<LogPart> {
  const { rows: events } = await partOfLog(db, { from, head, limit: maxEventsPerPart });
  return { events, upTo: events[maxEventsPerPart - 1]?.sequence ?? head };
}

const partOfLog = statement<LoggedEvent>((db) =>
  db
    .selectFrom('events')
    .select(loggedColumns)
    .where('sequence', '>', param<number>('from'))
    .where('sequence', '<=', param<number>('head'))
    .orderBy('sequence')
    .limit(param<number>('limit')),
);

/** The events in a part of the log that the webhook asks for and a key with its scopes and projects could read. */
export function matchPart(webhook: Webhook, part: LogPart, from: number, limit: number) {
  const isWanted = matchesTypes(webhook.types);
  const isVisible = isReadable(webhook);
  const matching = part.events.filter(
    (event) => event.sequence > from && isWanted(event) && isVisible(event),
  );
  const events = matching.slice(0, limit);
  const last = matching.length > limit ? events.at(-1) : undefined;
  return { events, upTo: last?.sequence ?? part.upTo };
}
