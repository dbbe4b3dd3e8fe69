import { sql } from 'kysely';
import { jsonObject, parsedJson } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import type { List } from '../../lists/list.ts';
import { HistoryEntry } from './schema.ts';

/** The changes of one resource, oldest first. */
export const historyList = (subject_id: string): List => ({
  schema: HistoryEntry,
  json: rowAsJson(HistoryEntry, 'history', {
    actor: actorJson('history'),
    from: parsedJson(sql.ref('history.from')),
    to: parsedJson(sql.ref('history.to')),
  }),
  reads: ['history'],
  order: { key: sql.ref('history.at'), tie: sql.ref('history.id') },
  // Not in `matches`: the primary key starts with the subject, and only `from` is in both parts of an unindexed page.
  from: (db) => db.selectFrom('history').where('subject_id', '=', subject_id),
  id: sql.ref('history.id'),
  matches: sql`1 = 1`,
});

/** Who made the change of a row, or wrote it: `Actor` in `schema.ts`. */
export const actorJson = (
  table: string,
  columns = { user_id: 'actor_user_id', key_id: 'key_id', name: 'key_name' },
) => {
  const [user_id, key_id, name] = [columns.user_id, columns.key_id, columns.name].map((column) =>
    sql.ref(`${table}.${column}`),
  );
  return jsonObject({
    type: sql`case when ${key_id} is not null then 'key' when ${user_id} is not null then 'person' else 'service' end`,
    user_id: sql`${user_id}`,
    key_id: sql`${key_id}`,
    name: sql`${name}`,
  });
};
