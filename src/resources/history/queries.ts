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
  from: (db) => db.selectFrom('history'),
  id: sql.ref('history.id'),
  matches: sql`history.subject_id = ${subject_id}`,
});
