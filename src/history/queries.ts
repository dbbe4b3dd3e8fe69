import { sql, type Transaction } from 'kysely';
import { parsedJson } from '../database/functions.ts';
import { rowAsJson } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { insertRows } from '../database/update.ts';
import { newId } from '../ids.ts';
import type { List } from '../lists/list.ts';
import type { Change } from './change.ts';
import { HistoryEntry } from './schema.ts';

/** What changed of one thing, oldest first. */
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

/** Fields with their values before and after. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

/** Which of `fields` differ between two states of a thing. */
export function differencesBetween(before: object, after: object, fields: Iterable<string>): Differences {
  const differing = [...fields].flatMap((field) => {
    const from = (before as Record<string, unknown>)[field] ?? null;
    const to = (after as Record<string, unknown>)[field] ?? null;
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[field, { from, to }] as const];
  });
  return Object.fromEntries(differing);
}

/** Remembers changes of one thing, in the transaction that makes them. */
export const remember = (
  db: Transaction<Tables>,
  subject_id: string,
  differences: Differences,
  change: Change,
): Promise<void> => rememberAll(db, [{ subject_id, at: change.now, differences }], change);

/** Remembers changes of many things, each at its own time. */
export async function rememberAll(
  db: Transaction<Tables>,
  changes: readonly { subject_id: string; at: string; differences: Differences }[],
  { key_id, key_name, reason = null }: Change,
): Promise<void> {
  const rows = changes.flatMap(({ subject_id, at, differences }) =>
    Object.entries(differences).map(([field, { from, to }]) => ({
      id: newId('history'),
      subject_id,
      at,
      key_id,
      key_name,
      field,
      from: JSON.stringify(from),
      to: JSON.stringify(to),
      reason,
    })),
  );
  await insertRows(db, 'history', rows);
}

/** Remembers that things were made, each by what people know it by. */
export const rememberCreated = (
  db: Transaction<Tables>,
  made: readonly { id: string; label: string }[],
  change: Change,
) =>
  rememberAll(
    db,
    made.map(({ id, label }) => ({
      subject_id: id,
      at: change.now,
      differences: { created: { from: null, to: label } },
    })),
    change,
  );

export const rememberDeleted = (db: Transaction<Tables>, subject_id: string, label: string, change: Change) =>
  remember(db, subject_id, { deleted: { from: label, to: null } }, change);
