import type { Transaction } from 'kysely';
import type { TObject } from 'typebox';
import { type FieldError, invalidBody } from '../../core/errors.ts';
import { foldAll } from '../../core/text.ts';
import { storedChanges } from '../../database/sql/rows.ts';
import type { Tables } from '../../database/tables.ts';
import type { Change, Differences } from '../../database/writes/change.ts';
import type { Subject } from '../../database/writes/events.ts';
import { type EventOptions, recordChanges } from '../../database/writes/history.ts';
import {
  rejectDuplicateExternalId,
  type toIssue,
  type toRisk,
  type toTask,
} from '../../database/writes/references.ts';
import { updateRow } from '../../database/writes/rows.ts';
import { assigneeErrors, assigneesOf } from '../personnel/queries.ts';

type Item = {
  id: string;
  project_id: string;
  key: string;
  title: string;
  description: string | null;
  external_id: string | null;
  assignee_user_id?: string | null;
  version: number;
};

/** Rejects an update that has errors, names a new assignee who is not assignable, or reuses an external id. */
export async function assertValidUpdate(
  db: Transaction<Tables>,
  target: typeof toRisk | typeof toIssue | typeof toTask,
  next: Item,
  differences: Differences,
  errors: readonly FieldError[],
  change: Change,
): Promise<void> {
  // An inactive person keeps existing assignments until the hand-over, so only a changed assignee is checked.
  const unassignable =
    'assignee_user_id' in differences ? (await assigneeErrors(db, assigneesOf([next]), change)).flat() : [];
  const allErrors = [...errors, ...unassignable];
  if (allErrors.length > 0) throw invalidBody(allErrors);
  if ('external_id' in differences) {
    await rejectDuplicateExternalId(db, target, next.project_id, next.external_id);
  }
}

/** Stores the changed fields of an item and records them in its history. */
export async function saveChanges(
  db: Transaction<Tables>,
  table: 'risks' | 'issues' | 'tasks',
  subject: Subject,
  schema: TObject,
  current: Item,
  next: Item,
  differences: Differences,
  change: Change,
  derivedColumns: object = {},
  event: EventOptions = {},
): Promise<void> {
  const columns = {
    ...storedChanges(schema, differences),
    ...derivedColumns,
    search_folded: foldAll([next.key, next.title, next.description]),
  };
  await updateRow(db, table, current, columns, change.now);
  await recordChanges(db, subject, current.id, differences, change, event);
}
