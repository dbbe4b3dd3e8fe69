import type { Kysely, Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import { grants, insufficientScope } from '../../core/scopes.ts';
import { WriteConflict } from '../../database/application.ts';
import { count } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { recordHistory } from '../../store/writes/history.ts';
import { lockPerson, lockTables } from '../../store/writes/locks.ts';
import { insertRows, laterThan } from '../../store/writes/rows.ts';
import { getPerson, updatePerson } from '../personnel/queries.ts';
import type { Person } from '../personnel/schema.ts';
import { lockProjects } from '../projects/lock.ts';
import { countAssignments } from './assignments.ts';
import { countMoves, lockLedRows, type Moved, reassignAll } from './reassign.ts';
import type { DeactivateInput, Handover } from './schema.ts';
import {
  assertSuccessors,
  noAssignments,
  noResponsibilities,
  type Plan,
  planOf,
  predictMoves,
  receiversOf,
} from './successors.ts';

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
  const plan = planOf(input);
  const change: Change = { ...requested, reason };
  if (plan.hasSuccessor) assertMayHandOver(change);
  const readsProjects = grants(change.scopes, 'projects.read');
  const report = (handover: Required<Handover>) => (readsProjects ? handover : withoutProjects(handover));
  await lockTables(db, 'access', 'memberships', 'people');
  const lockedProjects =
    plan.hasSuccessor && !dry_run ? await lockAssignedProjects(db, person.user_id) : undefined;
  if (!dry_run) await lockPerson(db, person.user_id);
  const counts = await countResponsibilities(db, person.user_id, readsProjects);
  await assertSuccessors(db, person, plan, counts, change);
  const handover = { dry_run, handover_id: null, handover_to_user_id, handover_to_group_id, ...counts };
  if (dry_run) return report({ ...handover, moves: predictMoves(counts, plan), person });

  // Another transaction assigned work in a further project before the lock: retry, which locks that project too.
  if (lockedProjects && counts.by_project.some(({ project_id }) => !lockedProjects.has(project_id)))
    throw new WriteConflict();
  const rows = await lockLedRows(db, person.user_id, receiversOf(plan).user_ids);
  // The person may have changed before the lock.
  const leaver = await getPerson(db, person.user_id, change);
  assertCurrent(leaver);
  const moved = lockedProjects ? await reassignAll(db, leaver, plan, lockedProjects, rows, change) : [];
  const current = await getPerson(db, person.user_id, change);
  const handover_id = await storeHandover(db, current, plan, moved, change);
  const patch = { status: 'inactive' as const, ...(reason && { reason }) };
  return report({
    ...handover,
    handover_id,
    moves: moved.length > 0 ? countMoves(moved, person.user_id) : noResponsibilities,
    person: await updatePerson(db, current, patch, change),
  });
}

/**
 * A hand-over changes projects, so it needs `projects.manage` too. Always, because an error that depends on what the
 * person is responsible for would reveal it to a key that may not read projects.
 */
export function assertMayHandOver(
  { scopes }: Change,
  advice = 'Use a key that has both, or leave out `handover_to_user_id`, `handover_to_group_id` and `parts` to deactivate ' +
    'the person without a hand-over.',
): void {
  if (grants(scopes, 'projects.manage')) return;
  throw insufficientScope(
    `A hand-over changes projects, so it requires the scope projects.manage as well. ${advice}`,
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

/** Records who took over, in the history of the person, and what moved. Returns the id, or null if nothing moved. */
async function storeHandover(
  db: Transaction<Tables>,
  person: Person,
  plan: Plan,
  moved: readonly Moved[],
  change: Change,
): Promise<string | null> {
  const { user_id, status } = person;
  const { user_ids, group_ids } = receiversOf(plan);
  const difference = (id: string) => ({ from: null, to: id });
  const at = await recordReceivers(db, person, { user_ids, group_ids }, difference, change);
  if (moved.length === 0) return null;
  const id = newId('handover');
  const { user_id: actor_user_id, key_id, name: key_name, reason = null } = change;
  await insertRows(db, 'handovers', [
    {
      id,
      user_id,
      at,
      actor_user_id,
      key_id,
      key_name,
      reason,
      deactivated: status === 'active' ? 1 : 0,
      to_user_ids: JSON.stringify(user_ids),
      to_group_ids: JSON.stringify(group_ids),
      undone_at: null,
    },
  ]);
  const items = moved.map(({ type, subject_id, project_id, version, changes }) => ({
    id: newId('handover_item'),
    handover_id: id,
    type,
    subject_id,
    project_id,
    version,
    changes: JSON.stringify(changes),
    outcome: null,
    left_because: null,
  }));
  await insertRows(db, 'handover_items', items);
  return id;
}

/**
 * One history entry of the person for each receiver. The event of the change of their status stands for these, too. If it
 * does not change, only the time of the person shows what their next entry must be later than. Returns that time.
 */
export async function recordReceivers(
  db: Transaction<Tables>,
  person: Pick<Person, 'user_id' | 'updated_at'>,
  { user_ids, group_ids }: { user_ids: readonly string[]; group_ids: readonly string[] },
  difference: (id: string) => { from: string | null; to: string | null },
  change: Change,
): Promise<string> {
  const entries = [
    ...user_ids.map((id) => ({ handover_to_user_id: difference(id) })),
    ...group_ids.map((id) => ({ handover_to_group_id: difference(id) })),
  ];
  if (entries.length === 0) return change.now;
  const { now: at } = laterThan(change, person);
  const { user_id: subject_id } = person;
  await db.updateTable('people').set({ updated_at: at }).where('user_id', '=', subject_id).execute();
  const changes = entries.map((differences) => ({ subject_id, at, differences }));
  await recordHistory(db, changes, change);
  return at;
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
