import type { Transaction } from 'kysely';
import { inUse } from '../../core/errors.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { recordDeleted } from '../../store/writes/history.ts';
import { findReferrers } from '../../store/writes/references.ts';
import { deleteRow, laterThan } from '../../store/writes/rows.ts';
import { updateCounts } from '../projects/counts.ts';
import { assertWritable } from '../projects/lock.ts';
import type { Item, ItemWrites } from './writes.ts';

/** Deletes an item that no other one refers to. */
export async function deleteItem<I extends Item, Input, Patch>(
  db: Transaction<Tables>,
  { target, subject, referrers, archive, delta }: ItemWrites<I, Input, Patch>,
  current: I,
  change: Change,
): Promise<void> {
  const { id, key, project_id } = current;
  await assertWritable(db, project_id);
  const found = await findReferrers(db, referrers?.(id) ?? []);
  if (found) throw inUse(`The ${target.kind} ${key}`, found);
  // Its own event stands for those of its comments.
  await deleteComments.send(db, { subject_id: id });
  await archive?.(db, [id], laterThan(change, current).now);
  await deleteRow(db, target.table, current);
  await recordDeleted(db, subject, id, current, change);
  await updateCounts(db, project_id, [{ before: delta(current) }]);
}

const deleteComments = statement((db) =>
  db.deleteFrom('comments').where('subject_id', '=', param<string>('subject_id')),
);
