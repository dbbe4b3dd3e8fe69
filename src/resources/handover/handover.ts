import type { Kysely, Transaction } from 'kysely';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { grants, insufficientScope } from '../../core/scopes.ts';
import { joinWords } from '../../core/text.ts';
import { WriteConflict } from '../../database/application.ts';
import { count } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { recordHistory } from '../../store/writes/history.ts';
import { lockPerson, lockTables } from '../../store/writes/locks.ts';
import { referenceErrors } from '../../store/writes/references.ts';
import { assigneeErrors, getPerson, updatePerson } from '../personnel/queries.ts';
import type { DeactivateInput, Handover, Person, Responsibilities } from '../personnel/schema.ts';
import { lockProjects } from '../projects/lock.ts';
import { assignmentRows, countAssignments } from './assignments.ts';
import { lockLedRows, noAssignments, noResponsibilities, reassignAll, type Successors } from './reassign.ts';

/**
 * Deactivates a person and reassigns their responsibilities to the successors, in one transaction. Each reassigned
 * row gets a new version and history entries, as with a PATCH. Without a successor nothing is reassigned, and nothing in
 * a project is locked. The report leaves out projects that the key may not read. `assertCurrent` checks the person as
 * they are once the locks are held.
 */
export async function deactivatePerson(
  db: Transaction<Tables>,
  person: Person,
  input: DeactivateInput,
  requested: Change,
  assertCurrent: (person: Person) => void,
): Promise<Handover> {
  const { handover_to_user_id = null, handover_to_group_id = null, dry_run = false, reason } = input;
  const successors = { handover_to_user_id, handover_to_group_id };
  const change: Change = { ...requested, reason };
  const hasSuccessor = handover_to_user_id !== null || handover_to_group_id !== null;
  if (hasSuccessor) assertMayHandOver(change);
  const readsProjects = grants(change.scopes, 'projects.read');
  const report = (handover: Required<Handover>) => (readsProjects ? handover : withoutProjects(handover));
  await lockTables(db, 'access', 'memberships', 'people');
  const lockedProjects =
    hasSuccessor && !dry_run ? await lockAssignedProjects(db, person.user_id) : undefined;
  if (!dry_run) await lockPerson(db, person.user_id);
  const counts = await countResponsibilities(db, person.user_id, readsProjects);
  await assertSuccessors(db, person, successors, counts.carries, change);
  const handover = { dry_run, ...successors, ...counts };
  if (dry_run) return report({ ...handover, moves: predictMoves(counts.carries, successors), person });

  // Another transaction assigned work in a further project before the lock: retry, which locks that project too.
  if (lockedProjects && counts.by_project.some(({ project_id }) => !lockedProjects.has(project_id)))
    throw new WriteConflict();
  const rows = await lockLedRows(db, person.user_id, handover_to_user_id);
  // The person may have changed before the lock.
  const leaver = await getPerson(db, person.user_id, change);
  assertCurrent(leaver);
  const moves = lockedProjects
    ? await reassignAll(db, leaver, successors, lockedProjects, rows, change)
    : noResponsibilities;
  await recordSuccessors(db, person.user_id, successors, change);
  const current = await getPerson(db, person.user_id, change);
  const patch = { status: 'inactive' as const, ...(reason && { reason }) };
  return report({ ...handover, moves, person: await updatePerson(db, current, patch, change) });
}

/**
 * A hand-over changes projects, so it needs `projects.manage` too. Always, because an error that depends on what the
 * person is responsible for would reveal it to a key that may not read projects.
 */
function assertMayHandOver({ scopes }: Change): void {
  if (grants(scopes, 'projects.manage')) return;
  throw insufficientScope(
    'A hand-over changes projects, so it requires the scope projects.manage as well. Use a key that has both, or leave ' +
      'out `handover_to_user_id` and `handover_to_group_id` to deactivate the person without a hand-over.',
    ['personnel.manage', 'projects.manage'],
  );
}

/** The report for a key that may not read projects. */
function withoutProjects({ by_project: _, archived: __, ...handover }: Required<Handover>): Handover {
  const { carries, moves } = handover;
  return { ...handover, carries: ofPersonnel(carries), moves: ofPersonnel(moves) };
}

const ofPersonnel = ({ groups, reports, agents, memberships }: Handover['carries']) => ({
  groups,
  reports,
  agents,
  memberships,
});

/** Records in the history of the person who took over. */
async function recordSuccessors(
  db: Transaction<Tables>,
  user_id: string,
  successors: Successors,
  change: Change,
): Promise<void> {
  const given = Object.entries(successors).filter(([, id]) => id !== null);
  const differences = Object.fromEntries(given.map(([field, to]) => [field, { from: null, to }]));
  // The event of the deactivation stands for this, too.
  if (given.length > 0)
    await recordHistory(db, [{ subject_id: user_id, at: change.now, differences }], change);
}

/** Locks the projects in which the person is responsible for something. Returns the ids of those that are not archived. */
async function lockAssignedProjects(db: Transaction<Tables>, user_id: string): Promise<Set<string>> {
  const projects = await countAssignments(db, user_id);
  const locked = await lockProjects(
    db,
    projects.map(({ project_id }) => project_id),
  );
  const writable = [...locked.values()].filter(({ archived_at }) => archived_at === null);
  return new Set(writable.map(({ id }) => id));
}

/** Memberships move to a person only. `assertSuccessors` has checked that a lone group can take over the rest. */
function predictMoves(
  carries: Responsibilities,
  { handover_to_user_id, handover_to_group_id }: Successors,
): Responsibilities {
  if (handover_to_user_id) return carries;
  return handover_to_group_id ? { ...carries, memberships: 0 } : noResponsibilities;
}

async function countResponsibilities(db: Kysely<Tables>, user_id: string, readsProjects: boolean) {
  const projects = readsProjects ? await countAssignments(db, user_id) : [];
  const open = projects.filter(({ archived_at }) => archived_at === null);
  const active = db.selectFrom('people').where('status', '=', 'active');
  const carries = {
    ...sumAssignments(open),
    groups: await count(db.selectFrom('groups').where('lead_user_id', '=', user_id)),
    reports: await count(active.where('manager_user_id', '=', user_id)),
    agents: await count(active.where('accountable_user_id', '=', user_id)),
    memberships: await count(db.selectFrom('memberships').where('user_id', '=', user_id)),
  };
  const by_project = open.map(({ archived_at: _, ...project }) => project);
  const archived = sumAssignments(projects.filter((project) => !open.includes(project)));
  return { carries, by_project, archived };
}

function sumAssignments(projects: readonly (typeof noAssignments)[]): typeof noAssignments {
  const sums = { ...noAssignments };
  for (const project of projects) {
    for (const kind of Object.keys(sums) as (keyof typeof sums)[]) sums[kind] += project[kind];
  }
  return sums;
}

/** Throws unless the successors exist and can take over everything the person is responsible for. */
async function assertSuccessors(
  db: Kysely<Tables>,
  person: Person,
  successors: Successors,
  carries: Responsibilities,
  change: Change,
): Promise<void> {
  const { handover_to_user_id, handover_to_group_id } = successors;
  const field = 'handover_to_user_id';
  const [errors = []] = await referenceErrors(db, [successors], {
    handover_to_user_id: 'people',
    handover_to_group_id: 'groups',
  });
  if (handover_to_user_id === person.user_id) {
    const detail = `${person.name} cannot be their own successor. Choose another person.`;
    errors.push(fieldError(field, 'same_person', detail));
  }
  if (handover_to_group_id && !handover_to_user_id) {
    const needs = await listPersonOnlyNeeds(db, person.user_id, carries);
    if (needs.length > 0) {
      const detail = `A group can only own risks and issues. ${person.name} also has ${joinWords(needs)}. Set \`handover_to_user_id\` to the person who takes these over.`;
      errors.push(fieldError(field, 'required', detail));
    }
  }
  if (errors.length > 0) throw invalidBody(errors);
  const successor = { assignee_user_id: handover_to_user_id };
  const notAssignable = (await assigneeErrors(db, [successor], change, field)).flat();
  if (notAssignable.length > 0) throw invalidBody(notAssignable);
  if (!handover_to_user_id || carries.agents === 0) return;
  const { name, kind } = await getPerson(db, handover_to_user_id, change);
  if (kind === 'human') return;
  const detail = `${person.name} is accountable for ${carries.agents} people. ${name} (${kind}) cannot take that over: choose a human.`;
  throw invalidBody([fieldError(field, 'not_human', detail)]);
}

/** Describes the responsibilities that only a person can take over, such as "2 tasks". */
async function listPersonOnlyNeeds(
  db: Kysely<Tables>,
  user_id: string,
  carries: Responsibilities,
): Promise<string[]> {
  const assignedIssues = await count(
    assignmentRows(db, user_id)
      .where('assignments.role', '=', 'assignee')
      .where('assignments.type', '=', 'issue')
      .where('projects.archived_at', 'is', null),
  );
  const { tasks, projects, groups, reports, agents } = carries;
  return Object.entries({
    tasks,
    'issues as assignee': assignedIssues,
    'projects as lead': projects,
    'groups as lead': groups,
    reports,
    'people as accountable human': agents,
  }).flatMap(([label, number]) => (number > 0 ? [`${number} ${label}`] : []));
}
