import type { Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import type { Tables } from '../tables.ts';
import type { Change } from './change.ts';
import { insertRows } from './rows.ts';

/** Changed fields with their old and new values. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

/** Returns those of `fields` that differ between two states of a resource. */
export function differencesBetween(before: object, after: object, fields: Iterable<string>): Differences {
  const differing = [...fields].flatMap((field) => {
    const from = (before as Record<string, unknown>)[field] ?? null;
    const to = (after as Record<string, unknown>)[field] ?? null;
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[field, { from, to }] as const];
  });
  return Object.fromEntries(differing);
}

/** Records changes to one resource, in the transaction of the change. */
export const recordChanges = (
  db: Transaction<Tables>,
  subject_id: string,
  differences: Differences,
  change: Change,
): Promise<void> => recordChangesOfMany(db, [{ subject_id, at: change.now, differences }], change);

/** Records changes to many resources, each with its own time. */
export async function recordChangesOfMany(
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

/** Records that resources were created, with their labels. */
export const recordCreated = (
  db: Transaction<Tables>,
  created: readonly { id: string; label: string }[],
  change: Change,
) =>
  recordChangesOfMany(
    db,
    created.map(({ id, label }) => ({
      subject_id: id,
      at: change.now,
      differences: { created: { from: null, to: label } },
    })),
    change,
  );

export const recordDeleted = (db: Transaction<Tables>, subject_id: string, label: string, change: Change) =>
  recordChanges(db, subject_id, { deleted: { from: label, to: null } }, change);
