import { type Kysely, sql, type Transaction } from 'kysely';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { count } from '../../lists/list.ts';
import { readSettings } from '../../store/settings.ts';
import type { Tables } from '../../store/tables.ts';
import { cycleErrors } from '../../store/trees.ts';
import type { Change } from '../../store/writes/change.ts';
import { lockPerson, lockTables } from '../../store/writes/locks.ts';
import { addMember, removeMember } from '../groups/members.ts';
import { getPerson, updatePerson } from '../personnel/queries.ts';
import { type Person, personResource } from '../personnel/schema.ts';
import { type LockedProject, lockProjects } from '../projects/lock.ts';
import { assertMayHandOver, recordReceivers } from './handover.ts';
import { changeRows } from './reassign.ts';
import { getHandover, listLeftItems } from './records.ts';
import { type HandoverItem, type HandoverUndo, type LeftReason, maxLeftItems } from './schema.ts';

/**
 * Gives back what a hand-over moved and nobody has changed since, and activates the person if the hand-over deactivated
 * them, in one transaction. A second undo changes nothing and returns the report of the first one.
 */
export async function undoHandover(
  db: Transaction<Tables>,
  user_id: string,
  handover_id: string,
  requested: Change,
  assertCurrent: (person: Person) => void,
): Promise<HandoverUndo> {
  assertMayHandOver(requested, 'Use a key that has both.');
  await lockTables(db, 'access', 'memberships', 'people');
  const handover = await getHandover(db, user_id, handover_id, true);
  const report = async (): Promise<HandoverUndo> => ({
    handover: await getHandover(db, user_id, handover_id, true),
    left_items: await listLeftItems(db, handover_id, maxLeftItems),
    person: await getPerson(db, user_id, requested),
  });
  if (handover.undone_at !== null) return report();
  const items = await readItems(db, handover_id);
  const projects = await lockProjects(db, [
    ...new Set(items.map(({ project_id }) => project_id).filter((id) => id !== null)),
  ]);
  await lockPerson(db, user_id);
  const person = await getPerson(db, user_id, requested);
  assertCurrent(person);
  const { name, kind } = person;
  const change: Change = { ...requested, reason: requested.reason ?? `Undid the hand-over of ${name}.` };

  const left = new Map<LeftReason, string[]>();
  const restored: string[] = [];
  const record = (item: StoredItem, because: LeftReason | undefined) => {
    const list = because ? (left.get(because) ?? []) : restored;
    list.push(item.id);
    if (because) left.set(because, list);
  };
  const itemsOf = (type: HandoverItem['type']) => items.filter((item) => item.type === type);
  for (const type of ['task', 'issue', 'risk', 'project'] as const)
    for (const [item, because] of await restoreItems(db, type, itemsOf(type), projects, change))
      record(item, because);
  for (const item of itemsOf('group')) record(item, await restoreGroup(db, item, change));
  for (const item of lastTakenPlaces(itemsOf('person'), user_id))
    record(item, await restorePerson(db, item, { user_id, kind }, change));
  for (const item of itemsOf('membership')) record(item, await restoreMembership(db, item, change));

  await storeOutcomes(db, restored, { outcome: 'restored', left_because: null });
  for (const [left_because, ids] of left) await storeOutcomes(db, ids, { outcome: 'left', left_because });
  await db.updateTable('handovers').set({ undone_at: change.now }).where('id', '=', handover_id).execute();
  const receivers = { user_ids: handover.to_user_ids, group_ids: handover.to_group_ids };
  const current = await getPerson(db, user_id, change);
  await recordReceivers(db, current, receivers, (id) => ({ from: id, to: null }), change);
  await activate(db, current, handover_id, change);
  return report();
}

type StoredItem = Pick<HandoverItem, 'id' | 'type' | 'subject_id' | 'project_id' | 'changes'> & {
  version: number | null;
};

async function readItems(db: Transaction<Tables>, handover_id: string): Promise<StoredItem[]> {
  const rows = await db
    .selectFrom('handover_items')
    .select(['id', 'type', 'subject_id', 'project_id', 'version', 'changes'])
    .where('handover_id', '=', handover_id)
    .orderBy('id')
    .execute();
  return rows.map(({ changes, ...row }) => ({ ...row, changes: JSON.parse(changes) }));
}

type Outcome = Pick<Tables['handover_items'], 'outcome' | 'left_because'>;

async function storeOutcomes(
  db: Transaction<Tables>,
  ids: readonly string[],
  outcome: Outcome,
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('handover_items')
    .set(outcome)
    .where(inJsonArray(sql.ref('id'), ids))
    .execute();
}

const before = ({ changes }: StoredItem) =>
  Object.fromEntries(changes.map(({ field, from }) => [field, from]));
const after = ({ changes }: StoredItem) => Object.fromEntries(changes.map(({ field, to }) => [field, to]));

/** Gives back items of locked projects that still have the version that the hand-over gave them. */
async function restoreItems(
  db: Transaction<Tables>,
  type: 'task' | 'issue' | 'risk' | 'project',
  items: readonly StoredItem[],
  projects: ReadonlyMap<string, LockedProject>,
  change: Change,
): Promise<[StoredItem, LeftReason | undefined][]> {
  const table = `${type}s` as const;
  const rows = await db
    .selectFrom(table as 'tasks')
    .select(['id', 'version'])
    .where(
      inJsonArray(
        sql.ref('id'),
        items.map(({ subject_id }) => subject_id),
      ),
    )
    .execute();
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  const whyLeft = ({ subject_id, project_id, version }: StoredItem): LeftReason | undefined => {
    if (!versions.has(subject_id)) return 'deleted';
    if (projects.get(project_id ?? '')?.archived_at) return 'archived';
    return versions.get(subject_id) === version ? undefined : 'changed';
  };
  const outcomes = items.map((item): [StoredItem, LeftReason | undefined] => [item, whyLeft(item)]);
  const unchanged = new Map(
    outcomes.filter(([, because]) => !because).map(([item]) => [item.subject_id, item]),
  );
  const current = [...unchanged.values()].map((item) => ({ id: item.subject_id, ...after(item) }));
  const next = ({ id }: { id: string }) => {
    const item = unchanged.get(id);
    return item ? before(item) : {};
  };
  await changeRows(db, table, current, next, change);
  return outcomes;
}

/** Gives back the lead of a group that still has the lead of the hand-over. */
async function restoreGroup(
  db: Transaction<Tables>,
  item: StoredItem,
  change: Change,
): Promise<LeftReason | undefined> {
  const row = await db
    .selectFrom('groups')
    .select(['id', 'lead_user_id'])
    .where('id', '=', item.subject_id)
    .$if(!hasSingleWriter(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  if (!row) return 'deleted';
  if (row.lead_user_id !== after(item).lead_user_id) return 'changed';
  await changeRows(db, 'groups', [row], () => before(item), change);
  return undefined;
}

/** A successor who took the place of the person comes last: before, their former manager is still below them. */
const lastTakenPlaces = (items: readonly StoredItem[], user_id: string) => {
  const wasTheirs = ({ changes }: StoredItem) => changes.some(({ from }) => from === user_id);
  return [...items.filter(wasTheirs), ...items.filter((item) => !wasTheirs(item))];
};

/** Gives back a report, or an agent, whose manager and accountable human are still those of the hand-over. */
async function restorePerson(
  db: Transaction<Tables>,
  item: StoredItem,
  person: Pick<Person, 'user_id' | 'kind'>,
  change: Change,
): Promise<LeftReason | undefined> {
  const row = await db
    .selectFrom('people')
    .select(['user_id as id', 'name as label', 'manager_user_id', 'accountable_user_id'])
    .where('user_id', '=', item.subject_id)
    .$if(!hasSingleWriter(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst();
  if (!row) return 'deleted';
  if (item.changes.some(({ field, to }) => row[field as keyof typeof row] !== to)) return 'changed';
  for (const { field, from } of item.changes) {
    if (from !== null && !(await isPerson(db, from))) return 'deleted';
    if (field === 'accountable_user_id' && from === person.user_id && person.kind !== 'human')
      return 'conflict';
    if ((await cycleErrors(db, personResource, field, row, from)).length > 0) return 'conflict';
  }
  await changeRows(db, 'people', [row], () => before(item), change);
  return undefined;
}

const isPerson = async (db: Kysely<Tables>, user_id: string) =>
  (await db.selectFrom('people').select('user_id').where('user_id', '=', user_id).executeTakeFirst()) !==
  undefined;

/** Gives back a membership, unless the person is a member again or their successor is none any more. */
async function restoreMembership(
  db: Transaction<Tables>,
  { subject_id: group_id, changes }: StoredItem,
  change: Change,
): Promise<LeftReason | undefined> {
  const group = await db.selectFrom('groups').select('id').where('id', '=', group_id).executeTakeFirst();
  if (!group) return 'deleted';
  const rows = await db
    .selectFrom('memberships')
    .select('user_id')
    .where('group_id', '=', group_id)
    .where(
      inJsonArray(
        sql.ref('user_id'),
        changes.flatMap(({ from, to }) => [from, to]).filter((id) => id !== null),
      ),
    )
    .execute();
  const members = rows.map(({ user_id }) => user_id);
  for (const { from, to } of changes) {
    if (from === null || members.includes(from) || (to !== null && !members.includes(to))) return 'changed';
    await addMember(db, group_id, from, change);
    if (to !== null) await removeMember(db, group_id, to, change);
  }
  return undefined;
}

/** Activates the person again, if the hand-over deactivated them and nobody has changed their status since. */
async function activate(
  db: Transaction<Tables>,
  current: Person,
  handover_id: string,
  change: Change,
): Promise<void> {
  const { deactivated, at } = await db
    .selectFrom('handovers')
    .select(['deactivated', 'at'])
    .where('id', '=', handover_id)
    .executeTakeFirstOrThrow();
  const changes = db
    .selectFrom('history')
    .where('subject_id', '=', current.user_id)
    .where('field', '=', 'status');
  if (deactivated === 0 || (await count(changes.where('at', '>=', at))) > 1) return;
  // Later changes may have been deleted with the history.
  if (at < ((await readSettings(db)).get('history_start') ?? '')) return;
  await updatePerson(
    db,
    current,
    { status: 'active', ...(change.reason && { reason: change.reason }) },
    change,
  );
}
