import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import { ancestors } from '../../store/trees.ts';
import type { Change } from '../../store/writes/change.ts';
import { recordChangesOfMany } from '../../store/writes/history.ts';
import { updateRows } from '../../store/writes/rows.ts';
import { addMember, removeMember } from '../groups/members.ts';
import { groupSubject } from '../groups/queries.ts';
import { issueSubject } from '../issues/queries.ts';
import { personSubject } from '../personnel/queries.ts';
import type { Person, Responsibilities } from '../personnel/schema.ts';
import { personResource } from '../personnel/schema.ts';
import { projectSubject } from '../projects/queries.ts';
import { archiveVersions, riskSubject } from '../risks/queries.ts';
import { taskSubject } from '../tasks/queries.ts';
import { assignmentSources } from './assignments.ts';

export type Successors = { handover_to_user_id: string | null; handover_to_group_id: string | null };

export const noAssignments = { tasks: 0, issues: 0, risks: 0, projects: 0 };

export const noResponsibilities: Responsibilities = {
  ...noAssignments,
  groups: 0,
  reports: 0,
  agents: 0,
  memberships: 0,
};

/**
 * Reassigns the person's responsibilities to the successors and returns how many of each kind changed. A group takes
 * over the ownership of risks and issues only. `project_ids` are the locked projects, `led` the locked rows outside of
 * projects.
 */
export async function reassignAll(
  db: Transaction<Tables>,
  person: Person,
  { handover_to_user_id: to, handover_to_group_id: group }: Successors,
  project_ids: ReadonlySet<string>,
  led: LedRows,
  change: Change,
): Promise<Responsibilities> {
  const { user_id } = person;
  const owner = group ? { owner_user_id: null, owner_group_id: group } : { owner_user_id: to };
  const newOwner = ({ owner_user_id }: Row) => owner_user_id === user_id && owner;
  const newAssignee = ({ assignee_user_id }: Row) => assignee_user_id === user_id && { assignee_user_id: to };
  const newOwnerAndAssignee = (row: Row) => ({ ...newOwner(row), ...newAssignee(row) });
  const newLead = () => ({ lead_user_id: to });

  const rowsOf = (table: keyof typeof assignmentSources) => openRows(db, table, user_id, project_ids);
  const moves = {
    ...noResponsibilities,
    tasks: await changeRows(db, 'tasks', await rowsOf('tasks'), newAssignee, change),
    issues: await changeRows(db, 'issues', await rowsOf('issues'), newOwnerAndAssignee, change),
    risks: await changeRows(db, 'risks', await rowsOf('risks'), newOwner, change),
  };
  if (!to) return moves;
  return {
    ...moves,
    projects: await changeRows(db, 'projects', await rowsOf('projects'), newLead, change),
    groups: await changeRows(db, 'groups', led.groups, newLead, change),
    ...(await reassignPeople(db, person, to, led.people, change)),
    memberships: await moveMemberships(db, user_id, to, change),
  };
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
    .select(['id', ...fields] as 'id'[])
    .where(sql<boolean>`(${sql.join(isTheirs, sql` or `)}) and ${isOpen}`)
    .where(inJsonArray(sql.ref(project_id), [...project_ids]))
    .execute();
}

type LedRows = { groups: Row[]; people: Row[] };

/** Locks the groups that the person leads, the people that the person manages or is accountable for, and both people. */
export async function lockLedRows(
  db: Transaction<Tables>,
  user_id: string,
  to: string | null,
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
        or user_id in (${user_id}, ${to})`,
    ),
  };
}

/** Sets the columns that `next` returns for each row, with a new version and history. Returns the number of changed rows. */
async function changeRows(
  db: Transaction<Tables>,
  table: ReassignableTable,
  rows: readonly Row[],
  next: (row: Row) => Record<string, unknown> | false,
  change: Change,
): Promise<number> {
  const changes = rows.map((row) => ({ row, columns: next(row) || {} }));
  const changed = changes.filter(({ columns }) => Object.keys(columns).length > 0);
  const ids = changed.map(({ row }) => row.id);
  if (table === 'risks') await archiveVersions(db, ids, change.now);
  for (const batch of Map.groupBy(changed, ({ columns }) => JSON.stringify(columns)).values()) {
    const before = new Map(batch.map(({ row }) => [row.id, row]));
    const columns = batch[0]?.columns ?? {};
    const updated = await updateRows(db, table, [...before.keys()], columns, change.now);
    const entries = updated.map(({ id, at }) => ({
      subject_id: id,
      at,
      differences: differencesTo(columns, before.get(id)),
    }));
    await recordChangesOfMany(db, subjects[table], entries, change);
  }
  return changed.length;
}

const subjects = {
  tasks: taskSubject,
  issues: issueSubject,
  risks: riskSubject,
  projects: projectSubject,
  groups: groupSubject,
  people: personSubject,
};

const differencesTo = (columns: Record<string, unknown>, before: Row | undefined) =>
  Object.fromEntries(
    Object.entries(columns).map(([field, to]) => [field, { from: before?.[field] ?? null, to }]),
  );

/** Reassigns the people the person manages or is accountable for. `locked` contains them and both people. */
async function reassignPeople(
  db: Transaction<Tables>,
  person: Person,
  to: string,
  locked: readonly Row[],
  change: Change,
) {
  const { user_id } = person;
  // A successor who would become their own ancestor takes the person's place in the tree instead.
  const takesPlace = {
    manager_user_id: await isBelowActiveReport(db, 'manager_user_id', user_id, to),
    accountable_user_id: await isBelowActiveReport(db, 'accountable_user_id', user_id, to),
  };
  const fields = Object.keys(takesPlace) as (keyof typeof takesPlace)[];
  const rows = locked.filter(({ id }) => id !== user_id);
  const next = (row: Row) =>
    Object.fromEntries(
      fields
        .filter((field) => (row.id === to ? takesPlace[field] : row[field] === user_id))
        .map((field) => [field, row.id === to ? person[field] : to]),
    );
  await changeRows(db, 'people', rows, next, change);
  return {
    reports: rows.filter(({ manager_user_id }) => manager_user_id === user_id).length,
    agents: rows.filter(({ accountable_user_id }) => accountable_user_id === user_id).length,
  };
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

async function moveMemberships(
  db: Transaction<Tables>,
  user_id: string,
  to: string,
  change: Change,
): Promise<number> {
  const memberships = await db
    .selectFrom('memberships')
    .select('group_id')
    .where('user_id', '=', user_id)
    .orderBy('group_id')
    .execute();
  for (const { group_id } of memberships) {
    await addMember(db, group_id, to, change);
    await removeMember(db, group_id, user_id, change);
  }
  return memberships.length;
}
