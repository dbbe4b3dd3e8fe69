import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import { ancestors } from '../../store/trees.ts';
import type { Change } from '../../store/writes/change.ts';
import { recordChangesOfMany } from '../../store/writes/history.ts';
import { chunk, updateRows } from '../../store/writes/rows.ts';
import { addMember, removeMember } from '../groups/members.ts';
import { groupSubject } from '../groups/queries.ts';
import { issueSubject } from '../issues/queries.ts';
import { personSubject } from '../personnel/queries.ts';
import { type Person, personResource } from '../personnel/schema.ts';
import { projectSubject } from '../projects/queries.ts';
import { archiveVersions, riskSubject } from '../risks/queries.ts';
import { taskSubject } from '../tasks/queries.ts';
import { assignmentSources } from './assignments.ts';
import type { HandoverItem, Responsibilities, ResponsibilityKind } from './schema.ts';
import { noResponsibilities, type Plan } from './successors.ts';

/** Something that a hand-over moved. `version` is its version then; it decides whether an item of a project has changed. */
export type Moved = Pick<HandoverItem, 'type' | 'subject_id' | 'project_id' | 'changes'> & {
  version: number | null;
};

/**
 * Reassigns the person's responsibilities to their successors and returns what has moved. A group takes over the ownership
 * of risks and issues only. `project_ids` are the locked projects, `led` the locked rows outside of projects.
 */
export async function reassignAll(
  db: Transaction<Tables>,
  person: Person,
  plan: Plan,
  project_ids: ReadonlySet<string>,
  led: LedRows,
  change: Change,
): Promise<Moved[]> {
  const { user_id } = person;
  const newOwner = (kind: 'risks' | 'issues') => (row: Row) => {
    const { handover_to_user_id: to, handover_to_group_id: group } = plan.choose(kind, projectOf(row));
    if (row.owner_user_id !== user_id || !(to || group)) return {};
    return group ? { owner_user_id: null, owner_group_id: group } : { owner_user_id: to };
  };
  const newPerson = (kind: ResponsibilityKind, field: string) => (row: Row) => {
    const { handover_to_user_id: to } = plan.choose(kind, projectOf(row));
    return row[field] === user_id && to ? { [field]: to } : {};
  };
  const ofIssue = { owner: newOwner('issues'), assignee: newPerson('issues', 'assignee_user_id') };
  const rowsOf = (table: keyof typeof assignmentSources) => openRows(db, table, user_id, project_ids);
  return [
    ...(await changeRows(db, 'tasks', await rowsOf('tasks'), newPerson('tasks', 'assignee_user_id'), change)),
    ...(await changeRows(
      db,
      'issues',
      await rowsOf('issues'),
      (row) => ({ ...ofIssue.owner(row), ...ofIssue.assignee(row) }),
      change,
    )),
    ...(await changeRows(db, 'risks', await rowsOf('risks'), newOwner('risks'), change)),
    ...(await changeRows(
      db,
      'projects',
      await rowsOf('projects'),
      newPerson('projects', 'lead_user_id'),
      change,
    )),
    ...(await changeRows(db, 'groups', led.groups, newPerson('groups', 'lead_user_id'), change)),
    ...(await reassignPeople(db, person, plan, led.people, change)),
    ...(await moveMemberships(db, user_id, plan.choose('memberships').handover_to_user_id, change)),
  ];
}

const projectOf = ({ project_id }: Row) => (typeof project_id === 'string' ? project_id : undefined);

/** How much of each kind has moved. */
export function countMoves(moved: readonly Moved[], user_id: string): Responsibilities {
  const moves = { ...noResponsibilities };
  for (const { type, changes } of moved) {
    if (type !== 'person') moves[`${type}s`] += 1;
    const wasTheirs = (name: string) => changes.some(({ field, from }) => field === name && from === user_id);
    if (type === 'person' && wasTheirs('manager_user_id')) moves.reports += 1;
    if (type === 'person' && wasTheirs('accountable_user_id')) moves.agents += 1;
  }
  return moves;
}

type Row = { id: string } & Record<string, unknown>;
type ReassignableTable = 'tasks' | 'issues' | 'risks' | 'projects' | 'groups' | 'people';

/** The open rows of one table that name the person, in the locked projects: nobody else can change them. */
function openRows(
  db: Transaction<Tables>,
  table: keyof typeof assignmentSources,
  user_id: string,
  project_ids: ReadonlySet<string>,
): Promise<Row[]> {
  const { roles, isOpen, project_id } = assignmentSources[table];
  const fields = Object.values<string>(roles);
  const isTheirs = fields.map((field) => sql<boolean>`${sql.ref(field)} = ${user_id}`);
  return db
    .selectFrom(table as 'tasks')
    .select(['id', `${project_id} as project_id`, ...fields] as 'id'[])
    .where(sql<boolean>`(${sql.join(isTheirs, sql` or `)}) and ${isOpen}`)
    .where(inJsonArray(sql.ref(project_id), [...project_ids]))
    .execute();
}

type LedRows = { groups: Row[]; people: Row[] };

/** Locks the groups that the person leads, the people that the person manages or is accountable for, and these people. */
export async function lockLedRows(
  db: Transaction<Tables>,
  user_id: string,
  receivers: readonly string[],
): Promise<LedRows> {
  const lock = async (
    table: 'groups' | 'people',
    id: string,
    fields: string[],
    matches: RawBuilder<boolean>,
  ) => {
    const rows = await db
      .selectFrom(table as 'people')
      .select([`${id} as id`, ...fields] as 'user_id'[])
      .where(matches)
      .orderBy(id as 'user_id')
      .$if(!hasSingleWriter(db), (query) => query.forNoKeyUpdate())
      .execute();
    return rows as unknown as Row[];
  };
  return {
    groups: await lock('groups', 'id', ['lead_user_id'], sql`lead_user_id = ${user_id}`),
    people: await lock(
      'people',
      'user_id',
      ['manager_user_id', 'accountable_user_id'],
      sql`(manager_user_id = ${user_id} or accountable_user_id = ${user_id}) and status = 'active'
        or user_id in (${sql.join([user_id, ...receivers])})`,
    ),
  };
}

/** More would hold up the event loop, which reads the result. */
const rowsPerStatement = 500;

/** Sets the columns that `next` returns for each row, with a new version and history. Returns what has changed. */
export async function changeRows(
  db: Transaction<Tables>,
  table: ReassignableTable,
  rows: readonly Row[],
  next: (row: Row) => Record<string, string | null>,
  change: Change,
): Promise<Moved[]> {
  const changes = rows.map((row) => ({ row, columns: next(row) }));
  const changed = changes.filter(({ columns }) => Object.keys(columns).length > 0);
  const ids = changed.map(({ row }) => row.id);
  if (table === 'risks') await archiveVersions(db, ids, change.now);
  const moved: Moved[] = [];
  const groups = [...Map.groupBy(changed, ({ columns }) => JSON.stringify(columns)).values()];
  for (const batch of groups.flatMap((group) => [...chunk(group, rowsPerStatement)])) {
    const before = new Map(batch.map(({ row }) => [row.id, row]));
    const columns = batch[0]?.columns ?? {};
    const updated = await updateRows(db, table, [...before.keys()], columns, change.now);
    const entries = updated.map(({ id, at }) => ({
      subject_id: id,
      at,
      differences: differencesTo(columns, before.get(id)),
    }));
    await recordChangesOfMany(db, subjects[table].subject, entries, change);
    const versions = new Map(updated.map(({ id, version }) => [id, version]));
    for (const { subject_id, differences } of entries)
      moved.push({
        type: subjects[table].type,
        subject_id,
        project_id: projectOf(before.get(subject_id) ?? { id: '' }) ?? null,
        version: table === 'groups' || table === 'people' ? null : (versions.get(subject_id) ?? null),
        changes: Object.entries(differences).map(([field, { from, to }]) => ({ field, from, to })),
      });
  }
  return moved;
}

const subjects = {
  tasks: { type: 'task', subject: taskSubject },
  issues: { type: 'issue', subject: issueSubject },
  risks: { type: 'risk', subject: riskSubject },
  projects: { type: 'project', subject: projectSubject },
  groups: { type: 'group', subject: groupSubject },
  people: { type: 'person', subject: personSubject },
} as const;

const differencesTo = (columns: Record<string, string | null>, before: Row | undefined) =>
  Object.fromEntries(
    Object.entries(columns).map(([field, to]) => [
      field,
      { from: (before?.[field] ?? null) as string | null, to },
    ]),
  );

/** Reassigns the people the person manages or is accountable for. `locked` contains them and all receivers. */
async function reassignPeople(
  db: Transaction<Tables>,
  person: Person,
  plan: Plan,
  locked: readonly Row[],
  change: Change,
): Promise<Moved[]> {
  const { user_id } = person;
  const receivers = {
    manager_user_id: plan.choose('reports').handover_to_user_id,
    accountable_user_id: plan.choose('agents').handover_to_user_id,
  };
  const fields = Object.keys(receivers) as (keyof typeof receivers)[];
  // A successor who would become their own ancestor takes the person's place in the tree instead.
  const takesPlace = new Set<string>();
  for (const field of fields) {
    const to = receivers[field];
    if (to && (await isBelowActiveReport(db, field, user_id, to))) takesPlace.add(field);
  }
  const next = (row: Row) =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const to = receivers[field];
        if (!to) return [];
        if (row.id === to) return takesPlace.has(field) ? [[field, person[field]]] : [];
        return row[field] === user_id ? [[field, to]] : [];
      }),
    );
  const rows = locked.filter(({ id }) => id !== user_id);
  return changeRows(db, 'people', rows, next, change);
}

/** Whether the successor is one of the person's active reports, or below one: reassigning those would create a cycle. */
async function isBelowActiveReport(
  db: Kysely<Tables>,
  field: 'manager_user_id' | 'accountable_user_id',
  user_id: string,
  to: string,
): Promise<boolean> {
  const line = await ancestors(db, personResource, field, to);
  const report = line.find(({ above }) => above === user_id);
  if (!report) return false;
  const { status } = await db
    .selectFrom('people')
    .select('status')
    .where('user_id', '=', report.id)
    .executeTakeFirstOrThrow();
  return status === 'active';
}

/** Moves the memberships. A receiver who was a member already stays one after an undo. */
async function moveMemberships(
  db: Transaction<Tables>,
  user_id: string,
  to: string | null,
  change: Change,
): Promise<Moved[]> {
  if (!to) return [];
  const memberships = await db
    .selectFrom('memberships')
    .select('group_id')
    .where('user_id', '=', user_id)
    .orderBy('group_id')
    .execute();
  const moved: Moved[] = [];
  for (const { group_id } of memberships) {
    const isNew = await addMember(db, group_id, to, change);
    await removeMember(db, group_id, user_id, change);
    moved.push({
      type: 'membership',
      subject_id: group_id,
      project_id: null,
      version: null,
      changes: [{ field: 'member', from: user_id, to: isNew ? to : null }],
    });
  }
  return moved;
}
