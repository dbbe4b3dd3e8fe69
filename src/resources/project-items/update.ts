import { sql, type Transaction } from 'kysely';
import { dayKey, type Moment } from '../../core/clock.ts';
import { type FieldError, fieldError, invalidBody, Problem } from '../../core/errors.ts';
import { foldAll } from '../../core/text.ts';
import { WriteConflict } from '../../database/application.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { storedChanges } from '../../database/sql/rows.ts';
import { namedStatement, param } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change, Differences } from '../../store/writes/change.ts';
import { addEvent, setEventData } from '../../store/writes/events.ts';
import { differencesBetween, recordHistory } from '../../store/writes/history.ts';
import { rejectDuplicate } from '../../store/writes/references.ts';
import { laterThan, updateReadRows } from '../../store/writes/rows.ts';
import { assigneeErrors } from '../personnel/queries.ts';
import { updateCounts } from '../projects/counts.ts';
import { assertNotArchived, type LockedProject, lockProjects } from '../projects/lock.ts';
import { type Item, type ItemWrites, prepared, type Reason, validateItems } from './writes.ts';

/** An item as it was read, and the fields to set. */
type Update<I, Patch> = { current: I; patch: Patch & { reason?: Reason } };

/** The new state of an item. */
type ItemChange<I> = {
  current: I;
  next: I;
  differences: Differences;
  reason?: Reason;
  /** The type of the event, if it does not follow from the changed fields. */
  type?: string;
};

type Draft<I> = ItemChange<I> & { errors: FieldError[]; problem?: Problem };

/** Updates items; returns the item or a problem for each update. A problem changes nothing of its item. */
export async function updateItems<I extends Item, Input extends object, Patch extends object>(
  db: Transaction<Tables>,
  writes: ItemWrites<I, Input, Patch>,
  updates: readonly Update<I, Patch>[],
  requested: Change,
): Promise<(I | Problem)[]> {
  const project_ids = new Set(updates.map(({ current }) => current.project_id));
  const projects = await lockProjects(db, [...project_ids]);
  // A project was deleted after its items were.
  if (projects.size < project_ids.size) throw new WriteConflict();
  const kind = await prepared(db, writes);
  const results = new Map<Update<I, Patch>, I | Problem>();
  // By the minute: an item that a clock has changed that was years ahead must not take the others there.
  const minuteOf = ({ current }: Update<I, Patch>) => laterThan(requested, current).now.slice(0, 16);
  for (const group of Map.groupBy(updates, minuteOf).values()) {
    const updated = await updateAtOnce(db, kind, group, projects, requested);
    for (const [i, result] of updated.entries()) results.set(group[i] as Update<I, Patch>, result);
  }
  return updates.map((update) => results.get(update) as I | Problem);
}

async function updateAtOnce<I extends Item, Input extends object, Patch extends object>(
  db: Transaction<Tables>,
  kind: ItemWrites<I, Input, Patch>,
  requestedUpdates: readonly Update<I, Patch>[],
  projects: ReadonlyMap<string, LockedProject>,
  requested: Change,
): Promise<(I | Problem)[]> {
  const change = laterThan(requested, latestOf(requestedUpdates));
  const { updates, errors } = await resolveUpdates(db, kind, requestedUpdates);
  const drafts = updates.map((update) => draftOf(kind, update, projects, change));
  for (const [i, draft] of drafts.entries()) draft.errors.push(...(errors[i] ?? []));
  const changing = drafts.filter(({ differences }) => Object.keys(differences).length > 0);
  await addErrors(db, kind, changing, change);
  for (const draft of drafts) {
    if (draft.errors.length > 0) draft.problem ??= invalidBody(draft.errors);
  }
  await rejectDuplicates(db, kind.target, changing.filter(isValid));
  const changed = await saveItems(db, kind, changing.filter(isValid), requested);
  return drafts.map(({ problem, current }) => problem ?? changed.get(current.id) ?? current);
}

/** Completes the values that change: an item keeps what it has, even if it could not be set any more. */
async function resolveUpdates<I extends Item, Input, Patch extends object>(
  db: Transaction<Tables>,
  { resolve }: ItemWrites<I, Input, Patch>,
  updates: readonly Update<I, Patch>[],
): Promise<{ updates: readonly Update<I, Patch>[]; errors: FieldError[][] }> {
  if (!resolve) return { updates, errors: [] };
  const changed = updates.map(({ current, patch }) => {
    const isChanged = ([field, value]: [string, unknown]) =>
      (current as Record<string, unknown>)[field] !== value;
    return Object.fromEntries(Object.entries(patch).filter(isChanged));
  });
  const { values, errors } = await resolve(db, changed);
  return {
    updates: updates.map(({ current, patch }, i) => ({ current, patch: { ...patch, ...values[i] } })),
    errors,
  };
}

const isValid = ({ problem }: { problem?: Problem }) => problem === undefined;

/** The new state of an item; without differences if the patch is not allowed. */
function draftOf<I extends Item, Input, Patch extends object>(
  { next: nextOf, schema }: ItemWrites<I, Input, Patch>,
  { current, patch: { reason, ...patch } }: Update<I, Patch>,
  projects: ReadonlyMap<string, LockedProject>,
  change: Change,
): Draft<I> {
  try {
    const project = projects.get(current.project_id) as LockedProject;
    assertNotArchived(project);
    const { next, errors = [] } = nextOf(current, patch as Patch, reason, change, project);
    const differences = differencesBetween(current, next, Object.keys(schema.properties));
    return { current, next, differences, reason, errors: [...errors] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { current, next: current, differences: {}, errors: [], problem: error };
  }
}

/** Updates one item, or throws its problem. */
export async function updateItem<I extends Item, Input extends object, Patch extends object>(
  db: Transaction<Tables>,
  kind: ItemWrites<I, Input, Patch>,
  update: Update<I, Patch>,
  change: Change,
): Promise<I> {
  const [result] = await updateItems(db, kind, [update], change);
  if (!result || result instanceof Problem) throw result;
  return result;
}

/** Stores valid new states of items, with their history and events. Returns the changed items by id. */
export async function saveItems<I extends Item, Input, Patch>(
  db: Transaction<Tables>,
  kind: ItemWrites<I, Input, Patch>,
  changes: readonly ItemChange<I>[],
  requested: Change,
): Promise<Map<string, I>> {
  if (changes.length === 0) return new Map();
  const change = laterThan(laterThan(requested, latestOf(changes)), { updated_at: kind.since ?? '' });
  const ids = changes.map(({ current }) => current.id);
  await kind.archive?.(db, ids, change.now);
  // Items whose same columns change are updated by one statement.
  const rows = changes.map((one) => ({ ...one.current, columns: columnsOf(kind, one) }));
  for (const group of Map.groupBy(rows, ({ columns }) => Object.keys(columns).sort().join()).values()) {
    await updateReadRows(db, kind.target.table, group, change.now);
  }
  for (const [reason, group] of Map.groupBy(changes, (one) => one.reason)) {
    const entries = group.map(({ current, differences }) => ({
      subject_id: current.id,
      at: change.now,
      differences,
    }));
    await recordHistory(db, entries, { ...change, reason });
  }
  for (const { current, next, differences, reason, type } of changes) {
    addEvent(db, {
      subject: kind.subject,
      subject_id: current.id,
      at: change.now,
      change: { ...change, reason },
      differences: { ...differences, ...kind.derivedDifferences?.(current, next) },
      type,
    });
  }
  const changed = new Map((await readChanged(db, kind, changes, requested)).map((item) => [item.id, item]));
  for (const [id, item] of changed) setEventData(db, id, item);
  for (const [project_id, group] of Map.groupBy(changes, ({ current }) => current.project_id)) {
    const deltas = group.map(({ current }) => ({
      before: kind.delta(current),
      after: kind.delta(changed.get(current.id) as I),
    }));
    await updateCounts(db, project_id, deltas);
  }
  return changed;
}

/** Reads one item by its id, which PostgreSQL plans better than a list of ids. */
async function readChanged<I extends Item, Input, Patch>(
  db: Transaction<Tables>,
  { get, subject }: ItemWrites<I, Input, Patch>,
  changes: readonly ItemChange<I>[],
  moment: Moment,
): Promise<I[]> {
  const [first] = changes;
  if (first && changes.length === 1) {
    return [await get(db, first.current.project_id, first.current.id, moment)];
  }
  const ids = changes.map(({ current }) => current.id);
  const read = namedStatement<{ json: string }>(`read ${subject.type}s ${dayKey(moment)}`, (db) =>
    subject
      .from(db)
      .select(subject.json(moment).as('json'))
      .where(inJsonArray(subject.id, param<string>('ids'))),
  );
  const { rows } = await read(db, { ids: JSON.stringify(ids) });
  return rows.map(({ json }) => JSON.parse(json));
}

function columnsOf<I extends Item, Input, Patch>(
  { schema, derivedColumns }: ItemWrites<I, Input, Patch>,
  { current, next, differences }: ItemChange<I>,
): object {
  const { key, title, description } = next;
  return {
    ...storedChanges(schema, differences),
    ...derivedColumns?.(current, next),
    ...(('title' in differences || 'description' in differences) && {
      search_folded: foldAll([key, title, description]),
    }),
  };
}

const latestOf = <I extends Item>(changes: readonly { current: I }[]) => ({
  updated_at: changes.reduce(
    (latest, { current: { updated_at } }) => (updated_at > latest ? updated_at : latest),
    '',
  ),
});

/** Adds the validation errors that need the database. */
async function addErrors<I extends Item, Input extends object, Patch>(
  db: Transaction<Tables>,
  kind: ItemWrites<I, Input, Patch>,
  changes: readonly Draft<I>[],
  change: Change,
): Promise<void> {
  for (const [project_id, group] of Map.groupBy(changes, ({ current }) => current.project_id)) {
    const items = group.map(({ next }) => next);
    const errors = await validateItems(db, kind, project_id, items, change);
    for (const [i, one] of group.entries()) one.errors.unshift(...(errors[i] ?? []));
  }
  // An inactive person keeps existing assignments until the hand-over, so only a changed assignee is checked.
  const reassigned = changes.filter(({ differences }) => 'assignee_user_id' in differences);
  const items = reassigned.map(({ next }) => next);
  const unassignable = await assigneeErrors(db, items, change);
  for (const [i, one] of reassigned.entries()) one.errors.push(...(unassignable[i] ?? []));
}

/** Rejects changes to an external id that another item of the project has or gets. */
async function rejectDuplicates<I extends Item>(
  db: Transaction<Tables>,
  target: ItemWrites<I, unknown, unknown>['target'],
  drafts: readonly Draft<I>[],
): Promise<void> {
  const taken = new Set<string>();
  for (const draft of drafts) {
    const { project_id, external_id } = draft.next;
    if (!('external_id' in draft.differences) || external_id === null) continue;
    const name = JSON.stringify([project_id, external_id]);
    try {
      if (taken.has(name)) throw takenInRequest(external_id);
      taken.add(name);
      const isSame = sql<boolean>`external_id = ${external_id} and project_id = ${project_id}`;
      await rejectDuplicate(db, target, 'external_id', external_id, isSame);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      draft.problem = error;
    }
  }
}

function takenInRequest(external_id: string): Problem {
  const detail = `Another item of this request gets the external_id “${external_id}”. It must be unique in a project.`;
  const errors = [fieldError('external_id', 'duplicate', detail)];
  return new Problem('duplicate', detail, { errors, extra: { field: 'external_id' } });
}
