import { sql } from 'kysely';
import { daysLater, endOf, type Moment } from '../core/clock.ts';
import type { Database } from '../database/open.ts';
import { readSettings, storeSettings } from '../store/settings.ts';
import { lockTables } from '../store/writes/locks.ts';
import { chunk } from '../store/writes/rows.ts';

const rowsPerTransaction = 500;
/** History entries are read in the order of their resources, because an index by time would cost every change more. */
const entriesPerRead = 5000;

/**
 * Deletes past versions of risks and history entries that are older than the retention period, in short transactions.
 * Returns how many. What was valid at the end of the first day of the period stays, so that `as_of` is exact from then on.
 *
 * The first call of a day only stores the new start of the history. From then on, requests for earlier days are rejected,
 * and requests that were already accepted have until the next call to read them.
 */
export async function deleteOldHistory(
  database: Database,
  moment: Moment,
  retentionDays: number | undefined,
): Promise<number> {
  const { db, write } = database;
  const settings = await readSettings(db);
  const stored = settings.get('history_start');
  // One day more, so that a change of the time zone does not make the period shorter.
  const wanted =
    retentionDays === undefined ? '' : endOf(daysLater(moment.today, -retentionDays - 1), moment);
  if (wanted > (stored ?? '')) {
    await write((db) => storeSettings(db, { history_start: wanted }));
    return 0;
  }
  if (stored === undefined || stored <= (settings.get('history_deleted') ?? '')) return 0;
  const deleted = (await deleteVersions(database, stored)) + (await deleteEntries(database, stored));
  await write((db) => storeSettings(db, { history_deleted: stored }));
  return deleted;
}

async function deleteVersions({ write }: Database, start: string): Promise<number> {
  for (let total = 0; ; ) {
    const deleted = await write(async (db) => {
      // Another instance may delete the same rows.
      await lockTables(db, 'past_risks');
      const old = sql`(select id, version from past_risks where valid_until < ${start}
        order by valid_until limit ${sql.lit(rowsPerTransaction)})`;
      const rows = await db
        .deleteFrom('past_risks')
        .where(sql<boolean>`(id, version) in ${old}`)
        .returning('id')
        .execute();
      return rows.length;
    });
    total += deleted;
    if (deleted < rowsPerTransaction) return total;
  }
}

type Entry = { subject_id: string; id: string; at: string };

async function deleteEntries({ db, write }: Database, start: string): Promise<number> {
  let total = 0;
  let last: Entry = { subject_id: '', id: '', at: '' };
  for (;;) {
    const entries: Entry[] = await db
      .selectFrom('history')
      .select(['subject_id', 'id', 'at'])
      .where(sql<boolean>`(subject_id, at, id) > (${last.subject_id}, ${last.at}, ${last.id})`)
      .orderBy('subject_id')
      .orderBy('at')
      .orderBy('id')
      .limit(entriesPerRead)
      .execute();
    const old = entries.filter(({ at }) => at < start);
    for (const batch of chunk(old, rowsPerTransaction)) {
      const keys = batch.map(({ subject_id, at, id }) => sql`(${subject_id}, ${at}, ${id})`);
      const { numDeletedRows } = await write(async (db) => {
        await lockTables(db, 'history');
        return db
          .deleteFrom('history')
          .where(sql<boolean>`(subject_id, at, id) in (values ${sql.join(keys)})`)
          .executeTakeFirstOrThrow();
      });
      total += Number(numDeletedRows);
    }
    const end = entries.at(-1);
    if (end === undefined || entries.length < entriesPerRead) return total;
    last = end;
  }
}
