import type { Moment } from '../core/clock.ts';
import type { Database } from '../database/open.ts';
import { retentionStart } from '../http/request/idempotency.ts';
import { loggedColumns } from '../resources/webhooks/fan-out.ts';
import { countMissed } from '../resources/webhooks/queries.ts';
import { deleteExpired, hasExpired } from '../store/access/sessions.ts';
import { lockTables } from '../store/writes/locks.ts';

const rowsPerTransaction = 500;

/**
 * Deletes events that are older than the retention period, in short transactions. Returns how many. `onMissed` is called with
 * the number of those that a webhook has missed.
 */
export async function deleteOldEvents(
  { write }: Pick<Database, 'write'>,
  { now }: Moment,
  retentionDays: number,
  onMissed: (webhook_id: string, count: number) => void = () => {},
): Promise<number> {
  // A sequence number is never below the time of its event in microseconds.
  const start = (Date.parse(now) - retentionDays * 86_400_000) * 1000;
  for (let total = 0; ; ) {
    const { deleted, missed } = await write(async (db) => {
      // Another instance may delete the same rows.
      await lockTables(db, 'events');
      const old = db
        .selectFrom('events')
        .select('sequence')
        .where('sequence', '<', start)
        .orderBy('sequence')
        .limit(rowsPerTransaction);
      const rows = await db
        .deleteFrom('events')
        .where('sequence', 'in', old)
        .returning(loggedColumns)
        .execute();
      const last = rows.reduce((max, { sequence }) => Math.max(max, sequence), 0);
      await db
        .updateTable('data_versions')
        .set({ version: last })
        .where('table_name', '=', 'deleted_events')
        .where('version', '<', last)
        .execute();
      // Cached lists of events depend on this version. As in `advanceSequence`, no event gets the number.
      if (rows.length > 0) {
        await db
          .updateTable('data_versions')
          .set((eb) => ({ version: eb('version', '+', 1) }))
          .where('table_name', '=', 'events')
          .execute();
      }
      return { deleted: rows.length, missed: await countMissed(db, rows) };
    });
    for (const [webhook_id, count] of missed) onMissed(webhook_id, count);
    total += deleted;
    if (deleted < rowsPerTransaction) return total;
  }
}

/** Deletes the stored responses of requests with an `Idempotency-Key` whose retention has ended. Returns how many. */
export const deleteOldResponses = ({ write }: Pick<Database, 'write'>, { now }: Moment): Promise<number> =>
  deleteInParts(() =>
    write(async (db) => {
      // Another instance may delete the same rows.
      await lockTables(db, 'idempotency');
      const old = db
        .selectFrom('idempotency')
        .select('id')
        .where('created_at', '<', retentionStart(now))
        .limit(rowsPerTransaction);
      const { numDeletedRows } = await db
        .deleteFrom('idempotency')
        .where('id', 'in', old)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    }),
  );

/** Repeats a deletion until it finds fewer rows than a transaction deletes. Returns how many it has deleted. */
async function deleteInParts(deletePart: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await deletePart();
    total += deleted;
    if (deleted < rowsPerTransaction) return total;
  }
}

/** Deletes sessions, links and challenges that have expired, and forgets failed attempts to sign in after a day. Returns how many. */
export async function deleteExpiredSignIns(
  { db, write }: Pick<Database, 'db' | 'write'>,
  { now }: Moment,
  idleDays: number,
): Promise<number> {
  const before = (days: number) => new Date(Date.parse(now) - days * 86_400_000).toISOString();
  const times = { now, idleSince: before(idleDays), failedBefore: before(1) };
  return (await hasExpired(db, times)) ? write((db) => deleteExpired(db, times)) : 0;
}

/** Deletes deliveries of webhooks that are older than the retention period, but none that is pending. Returns how many. */
export async function deleteOldDeliveries(
  { write }: Pick<Database, 'write'>,
  { now }: Moment,
  retentionDays: number,
): Promise<number> {
  const start = new Date(Date.parse(now) - retentionDays * 86_400_000).toISOString();
  return deleteInParts(() =>
    write(async (db) => {
      // Another instance may delete the same rows.
      await lockTables(db, 'webhook_deliveries');
      const old = db
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('created_at', '<', start)
        .where('next_attempt_at', 'is', null)
        .limit(rowsPerTransaction);
      const rows = await db.deleteFrom('webhook_deliveries').where('id', 'in', old).returning('id').execute();
      return rows.length;
    }),
  );
}

/**
 * Advances the sequence to the current hour, without an event. Keys that are limited to projects continue from the start
 * of yesterday (`nextAfter`); it must not be above the latest number, or else they could miss an event, and must not
 * depend on when the last event was, which they must not learn.
 */
export async function advanceSequence(
  { versions, write }: Pick<Database, 'versions' | 'write'>,
  { now }: Moment,
) {
  const hour = Date.parse(`${now.slice(0, 13)}:00:00.000Z`) * 1000;
  // After a failover, this continues the sequence after lost events first.
  if ((await versions()).events >= hour) return;
  await write((db) =>
    db
      .updateTable('data_versions')
      .set({ version: hour })
      .where('table_name', '=', 'events')
      .where('version', '<', hour)
      .execute(),
  );
}
