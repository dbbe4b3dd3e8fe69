import type { Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import type { EventType } from '../../resources/events/schema.ts';
import type { Tables } from '../tables.ts';
import type { Change, Differences } from './change.ts';
import { addEvent, type Subject } from './events.ts';
import { insertRows, laterThan } from './rows.ts';

/** Returns those of `fields` that differ between two states of a resource. */
export function differencesBetween(before: object, after: object, fields: Iterable<string>): Differences {
  const differing = [...fields].flatMap((field) => {
    const from = (before as Record<string, unknown>)[field] ?? null;
    const to = (after as Record<string, unknown>)[field] ?? null;
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[field, { from, to }] as const];
  });
  return Object.fromEntries(differing);
}

/** Records changes to one resource: its history and its event, in the transaction of the change. */
export const recordChanges = (
  db: Transaction<Tables>,
  subject: Subject,
  subject_id: string,
  differences: Differences,
  change: Change,
  event: EventOptions = {},
): Promise<void> =>
  recordChangesOfMany(db, subject, [{ subject_id, at: change.now, differences }], change, event);

/** The type of the event, if it does not follow from the changed fields, and its differences, if not those of the history. */
export type EventOptions = { type?: EventType; differences?: Differences };

type Changes = readonly { subject_id: string; at: string; differences: Differences }[];

/** Records changes to many resources, each with its own time. */
export async function recordChangesOfMany(
  db: Transaction<Tables>,
  subject: Subject,
  changes: Changes,
  change: Change,
  event: EventOptions = {},
): Promise<void> {
  await recordHistory(db, changes, change);
  for (const one of changes) addEvent(db, { subject, ...one, change, ...event });
}

/** Records changes in the history only, for changes that the event of another resource reports. */
export async function recordHistory(
  db: Transaction<Tables>,
  changes: Changes,
  { user_id: actor_user_id, key_id, name: key_name, reason = null }: Change,
): Promise<void> {
  const rows = changes.flatMap(({ subject_id, at, differences }) =>
    Object.entries(differences).map(([field, { from, to }]) => ({
      id: newId('history'),
      subject_id,
      at,
      actor_user_id,
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
  subject: Subject,
  created: readonly { id: string; label: string }[],
  change: Change,
) =>
  recordChangesOfMany(
    db,
    subject,
    created.map(({ id, label }) => ({
      subject_id: id,
      at: change.now,
      differences: { created: { from: null, to: label } },
    })),
    change,
  );

/** Records that a resource was deleted. `data` is the resource as it was before. */
export async function recordDeleted(
  db: Transaction<Tables>,
  subject: Subject,
  subject_id: string,
  data: { name?: string; key?: string; url?: string; project_id?: string; updated_at: string },
  requested: Change,
): Promise<void> {
  const change = laterThan(requested, data);
  const { key = null, name, url } = data;
  const project_id = data.project_id ?? (subject.type === 'project' ? subject_id : null);
  const differences = { deleted: { from: key ?? name ?? url ?? null, to: null } };
  await recordHistory(db, [{ subject_id, at: change.now, differences }], change);
  const given = { data, key, project_id };
  addEvent(db, { subject, subject_id, at: change.now, change, differences, given });
}
