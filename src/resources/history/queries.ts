import { sql } from 'kysely';
import { parsedJson } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import type { List } from '../../lists/list.ts';
import { HistoryEntry } from './schema.ts';

/** The changes of one resource, oldest first. */
export const historyList = (subject_id: string): List => ({
  schema: HistoryEntry,
  json: rowAsJson(HistoryEntry, 'history', {
    from: parsedJson(sql.ref('history.from')),
    to: parsedJson(sql.ref('history.to')),
  }),
  reads: ['history'],
  order: { key: sql.ref('history.id') },
  // Not in `matches`: the primary key starts with the subject, and only `from` is in both parts of an unindexed page.
  from: (db) => db.selectFrom('history').where('subject_id', '=', subject_id),
  id: sql.ref('history.id'),
  matches: sql`1 = 1`,
});
