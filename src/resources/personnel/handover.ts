import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { joinWords } from '../../core/text.ts';
import { ancestors } from '../../database/sql/trees.ts';
import type { Tables } from '../../database/tables.ts';
import type { Change } from '../../database/writes/change.ts';
import { recordChangesOfMany } from '../../database/writes/history.ts';
import { referenceErrors, toGroup, toPerson } from '../../database/writes/references.ts';
import { updateRows, WriteConflict } from '../../database/writes/rows.ts';
import { lockPerson, lockTable } from '../../database/writes/table-versions.ts';
import { count } from '../../lists/list.ts';
import { addMember, removeMember } from '../groups/queries.ts';
import { lockProjects } from '../projects/queries.ts';
import { archiveVersions } from '../risks/queries.ts';
import { assignmentRows, countAssignments, duties } from './assignments.ts';
import { assigneeErrors, getPerson, updatePerson } from './queries.ts';
import type { Carried, DeactivateInput, Handover, Person } from './schema.ts';

type Successors = { handover_to_user_id: string | null; handover_to_group_id: string | null };

/**
 * Deactivates a person and moves what they carry to their successors, all of it or nothing. Each thing that moves gets
 * its version and its history, as if it had been changed by itself. Without a successor all stays where it is.
 */
export async function deactivatePerson(
  db: Transaction<Tables>,
  person: Person,
  input: DeactivateInput,
  asked: Change,
): Promise<Handover> {
  const { handover_to_user_id = null, handover_to_group_id = null, dry_run = false, reason } = input;
  const successors = { handover_to_user_id, handover_to_group_id };
  const change: Change = { ...asked, reason };
  await lockTable(db, 'people');
  await lockTable(db, 'memberships');
  const project_ids = dry_run ? new Set<string>() : await lockAssignments(db, person.user_id);
  const carried = await carriedBy(db, person.user_id);
  await refuseSuccessors(db, person, successors, carried.carries, change);
  const handover = { dry_run, ...successors, ...carried };
  if (dry_run) return { ...handover, moves: movesOf(carried.carries, successors), person };

  // Something in another project was assigned to the person before the lock: run again, and lock that project, too.
  if (carried.by_project.some(({ project_id }) => !project_ids.has(project_id))) throw new WriteConflict();
  const moves = await moveAll(db, person, successors, project_ids, change);
  const left = await getPerson(db, person.user_id, change);
  const patch = { status: 'inactive' as const, ...(reason && { reason }) };
  return { ...handover, moves, person: await updatePerson(db, left, patch, change) };
}

/** Nobody assigns anything to the person until the transaction ends. Gives the projects that are locked for that. */
async function lockAssignments(db: Transaction<Tables>, user_id: string): Promise<Set<string>> {
  const projects = await countAssignments(db, user_id);
  const locked = await lockProjects(
    db,
    projects.map(({ project_id }) => project_id),
  );
  await lockPerson(db, user_id);
  return locked;
}

/** With a successor all moves, because what a group cannot take is refused unless there is a person who can. */
function movesOf(carries: Carried, { handover_to_user_id, handover_to_group_id }: Successors): Carried {
  if (handover_to_user_id) return carries;
  return handover_to_group_id ? { ...carries, memberships: 0 } : nothing;
}

const inProjects = { tasks: 0, issues: 0, risks: 0, projects: 0 };
const nothing: Carried = { ...inProjects, groups: 0, reports: 0, agents: 0, memberships: 0 };

async function carriedBy(db: Kysely<Tables>, user_id: string) {
  const projects = await countAssignments(db, user_id);
  const open = projects.filter(({ archived_at }) => archived_at === null);
  const active = db.selectFrom('people').where('status', '=', 'active');
  const carries = {
    ...total(open),
    groups: await count(db.selectFrom('groups').where('lead_user_id', '=', user_id)),
    reports: await count(active.where('manager_user_id', '=', user_id)),
    agents: await count(active.where('accountable_user_id', '=', user_id)),
    memberships: await count(db.selectFrom('memberships').where('user_id', '=', user_id)),
  };
  const by_project = open.map(({ archived_at: _, ...project }) => project);
  return { carries, by_project, archived: total(projects.filter((project) => !open.includes(project))) };
}

function total(projects: readonly (typeof inProjects)[]): typeof inProjects {
  const sums = { ...inProjects };
  for (const project of projects) {
    sums.tasks += project.tasks;
    sums.issues += project.issues;
    sums.risks += project.risks;
    sums.projects += project.projects;
  }
  return sums;
}

async function refuseSuccessors(
  db: Kysely<Tables>,
  person: Person,
  successors: Successors,
  carries: Carried,
  change: Change,
): Promise<void> {
  const { handover_to_user_id, handover_to_group_id } = successors;
  const field = 'handover_to_user_id';
  const [errors = []] = await referenceErrors(db, [successors], {
    handover_to_user_id: toPerson,
    handover_to_group_id: toGroup,
  });
  if (handover_to_user_id === person.user_id) {
    errors.push(fieldError(field, 'same_person', `${person.name} cannot take over from ${person.name}.`));
  }
  if (handover_to_group_id && !handover_to_user_id) {
    const needs = await whatNeedsAPerson(db, person.user_id, carries);
    if (needs.length > 0) {
      const detail = `A group can own risks and issues, no more. ${person.name} also carries ${joinWords(needs)}: name who takes those over, too.`;
      errors.push(fieldError(field, 'required', detail));
    }
  }
  if (errors.length > 0) throw invalidBody(errors);
  const absent = (await assigneeErrors(db, [handover_to_user_id], change, field)).flat();
  if (absent.length > 0) throw invalidBody(absent);
  if (!handover_to_user_id || carries.agents === 0) return;
  const { name, kind } = await getPerson(db, handover_to_user_id, change);
  if (kind === 'human') return;
  const detail = `${person.name} answers for ${carries.agents} others, which ${name} (${kind}) cannot: only a human can.`;
  throw invalidBody([fieldError(field, 'not_human', detail)]);
}

async function whatNeedsAPerson(db: Kysely<Tables>, user_id: string, carries: Carried): Promise<string[]> {
  const assigned = await count(
    assignmentRows(db, user_id)
      .where('assignments.role', '=', 'assignee')
      .where('assignments.type', '=', 'issue')
      .where('projects.archived_at', 'is', null),
  );
  const { tasks, projects, groups, reports, agents } = carries;
  return Object.entries({
    tasks,
    'issues as assignee': assigned,
    'projects as lead': projects,
    'groups as lead': groups,
    reports,
    'people to answer for': agents,
  }).flatMap(([what, many]) => (many > 0 ? [`${many} ${what}`] : []));
}

async function moveAll(
  db: Transaction<Tables>,
  { user_id, ...person }: Person,
  { handover_to_user_id: to, handover_to_group_id: group }: Successors,
  project_ids: ReadonlySet<string>,
  change: Change,
): Promise<Carried> {
  if (!to && !group) return nothing;
  const owner = group ? { owner_user_id: null, owner_group_id: group } : { owner_user_id: to };
  const isHere = (row: Row) => project_ids.has(String(row.project_id));
  const isOwner = ({ owner_user_id }: Row) => owner_user_id === user_id && owner;
  const isAssignee = ({ assignee_user_id }: Row) => assignee_user_id === user_id && { assignee_user_id: to };
  const isLead = () => ({ lead_user_id: to });

  const tasks = await openRows(db, 'tasks', user_id);
  const issues = await openRows(db, 'issues', user_id);
  const risks = await openRows(db, 'risks', user_id);
  const projects = await openRows(db, 'projects', user_id);
  const groups = await lockedRows(db, 'groups', ['lead_user_id'], sql`lead_user_id = ${user_id}`);
  const moves = {
    ...nothing,
    tasks: await changeRows(db, 'tasks', tasks.filter(isHere), isAssignee, change),
    issues: await changeRows(
      db,
      'issues',
      issues.filter(isHere),
      (row) => ({ ...isOwner(row), ...isAssignee(row) }),
      change,
    ),
    risks: await changeRows(db, 'risks', risks.filter(isHere), isOwner, change),
  };
  if (!to) return moves;
  return {
    ...moves,
    projects: await changeRows(db, 'projects', projects.filter(isHere), isLead, change),
    groups: await changeRows(db, 'groups', groups, isLead, change),
    ...(await movePeople(db, { user_id, ...person }, to, change)),
    memberships: await moveMemberships(db, user_id, to, change),
  };
}

type Row = { id: string } & Record<string, unknown>;
type Moved = 'tasks' | 'issues' | 'risks' | 'projects' | 'groups' | 'people';

/** What the person carries of one kind, in all projects. */
function openRows(db: Transaction<Tables>, table: keyof typeof duties, user_id: string): Promise<Row[]> {
  const { roles, isOpen, project_id } = duties[table];
  const fields = Object.values<string>(roles);
  const isTheirs = fields.map((field) => sql<boolean>`${sql.ref(field)} = ${user_id}`);
  const columns = [...fields, `${project_id} as project_id`];
  return lockedRows(db, table, columns, sql`(${sql.join(isTheirs, sql` or `)}) and ${isOpen}`);
}

/** Nobody else changes these until the transaction ends. */
async function lockedRows(
  db: Transaction<Tables>,
  table: Moved,
  columns: readonly string[],
  matches: RawBuilder<boolean>,
): Promise<Row[]> {
  const id = table === 'people' ? 'user_id as id' : 'id';
  // An update that changes nothing: a lock that every engine knows.
  return (await db
    .updateTable(table as 'tasks')
    .set((eb) => ({ version: eb.ref('version') }))
    .where(matches)
    .returning([id, ...columns] as 'id'[])
    .execute()) as Row[];
}

/** Gives each row the columns that `next` says, with a new version and history; says how many got any. */
async function changeRows(
  db: Transaction<Tables>,
  table: Moved,
  rows: readonly Row[],
  next: (row: Row) => Record<string, unknown> | false,
  change: Change,
): Promise<number> {
  const changes = rows.map((row) => ({ row, columns: next(row) || {} }));
  const changed = changes.filter(({ columns }) => Object.keys(columns).length > 0);
  if (table === 'risks') {
    await archiveVersions(
      db,
      changed.map(({ row }) => row.id),
      change.now,
    );
  }
  for (const same of Map.groupBy(changed, ({ columns }) => JSON.stringify(columns)).values()) {
    const before = new Map(same.map(({ row }) => [row.id, row]));
    const columns = same[0]?.columns ?? {};
    const updated = await updateRows(db, table, [...before.keys()], columns, change.now);
    const entries = updated.map(({ id, at }) => ({
      subject_id: id,
      at,
      differences: differencesTo(columns, before.get(id)),
    }));
    await recordChangesOfMany(db, entries, change);
  }
  return changed.length;
}

const differencesTo = (columns: Record<string, unknown>, before: Row | undefined) =>
  Object.fromEntries(
    Object.entries(columns).map(([field, to]) => [field, { from: before?.[field] ?? null, to }]),
  );

/** Those the person manages and answers for. */
async function movePeople(db: Transaction<Tables>, person: Person, to: string, change: Change) {
  const { user_id } = person;
  const above = {
    manager_user_id: await climbs(db, 'manager_user_id', user_id, to),
    accountable_user_id: await climbs(db, 'accountable_user_id', user_id, to),
  };
  const fields = Object.keys(above) as (keyof typeof above)[];
  const rows = await lockedRows(
    db,
    'people',
    fields,
    sql`(manager_user_id = ${user_id} or accountable_user_id = ${user_id}) and status = 'active'
      or user_id = ${to}`,
  );
  const next = (row: Row) =>
    Object.fromEntries(
      fields
        .filter((field) => (row.id === to ? above[field] : row[field] === user_id))
        .map((field) => [field, row.id === to ? person[field] : to]),
    );
  await changeRows(db, 'people', rows, next, change);
  return {
    reports: rows.filter(({ manager_user_id }) => manager_user_id === user_id).length,
    agents: rows.filter(({ accountable_user_id }) => accountable_user_id === user_id).length,
  };
}

/**
 * Whether the successor stands below those who come to stand below the successor. To make no cycle, the successor
 * then takes the place of the person they follow.
 */
async function climbs(
  db: Kysely<Tables>,
  field: 'manager_user_id' | 'accountable_user_id',
  user_id: string,
  to: string,
): Promise<boolean> {
  const line = await ancestors(db, toPerson, field, to);
  const below = line.find(({ above }) => above === user_id);
  if (!below) return false;
  const { status } = await db
    .selectFrom('people')
    .select('status')
    .where('user_id', '=', below.id)
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
