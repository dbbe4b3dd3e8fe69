import { type Kysely, sql } from 'kysely';
import { type FieldError, fieldError, invalidBody } from '../../core/errors.ts';
import { joinWords } from '../../core/text.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { referenceErrors } from '../../store/writes/references.ts';
import { assigneeErrors, getPerson } from '../personnel/queries.ts';
import type { Person } from '../personnel/schema.ts';
import { assignmentRows } from './assignments.ts';
import type { DeactivateInput, HandoverPart, Responsibilities, ResponsibilityKind } from './schema.ts';

export type Successors = { handover_to_user_id: string | null; handover_to_group_id: string | null };

/** Who takes over what. */
export type Plan = {
  /** The successors of the parts, and those of the rest last. */
  successors: readonly Successors[];
  /** The successors of a responsibility: of the first part that it belongs to, or of the rest. */
  choose(kind: ResponsibilityKind, project_id?: string): Successors;
  parts: readonly HandoverPart[];
  hasSuccessor: boolean;
};

export const noAssignments = { tasks: 0, issues: 0, risks: 0, projects: 0 };

export const noResponsibilities: Responsibilities = {
  ...noAssignments,
  groups: 0,
  reports: 0,
  agents: 0,
  memberships: 0,
};

const kindsInProjects = Object.keys(noAssignments) as (keyof typeof noAssignments)[];
const otherKinds = ['groups', 'reports', 'agents', 'memberships'] as const;

/** What a person is responsible for, in total and in each project that is not archived. */
export type Counts = {
  carries: Responsibilities;
  by_project: readonly ({ project_id: string } & typeof noAssignments)[];
};

const successorsIn = ({
  handover_to_user_id = null,
  handover_to_group_id = null,
}: HandoverPart): Successors => ({
  handover_to_user_id,
  handover_to_group_id,
});

export function planOf(input: DeactivateInput): Plan {
  const { parts = [] } = input;
  const ofParts = parts.map(successorsIn);
  const ofRest = successorsIn(input);
  const successors = [...ofParts, ofRest];
  const belongsTo = ({ project_ids, kinds }: HandoverPart, kind: ResponsibilityKind, project_id?: string) =>
    (kinds?.includes(kind) ?? true) &&
    (project_ids === undefined || (project_id !== undefined && project_ids.includes(project_id)));
  return {
    parts,
    successors,
    choose: (kind, project_id) =>
      ofParts[parts.findIndex((part) => belongsTo(part, kind, project_id))] ?? ofRest,
    hasSuccessor: successors.some(
      ({ handover_to_user_id, handover_to_group_id }) => handover_to_user_id ?? handover_to_group_id,
    ),
  };
}

/** Everyone who takes something over, each once. */
export const receiversOf = ({ successors }: Plan) => {
  const idsIn = (field: keyof Successors) =>
    [...new Set(successors.map((one) => one[field]))].filter((id) => id !== null);
  return { user_ids: idsIn('handover_to_user_id'), group_ids: idsIn('handover_to_group_id') };
};

/** How much of each kind the successors of each part get. */
function shareOut({ carries, by_project }: Counts, plan: Plan): Map<Successors, Responsibilities> {
  const shares = new Map(plan.successors.map((one) => [one, { ...noResponsibilities }]));
  const add = (count: number, kind: ResponsibilityKind, project_id?: string) => {
    const share = shares.get(plan.choose(kind, project_id));
    if (share) share[kind] += count;
  };
  for (const project of by_project)
    for (const kind of kindsInProjects) add(project[kind], kind, project.project_id);
  for (const kind of otherKinds) add(carries[kind], kind);
  return shares;
}

/**
 * Memberships move to a person only. `assertSuccessors` has checked that a group without a person can take over the rest
 * of its part.
 */
export function predictMoves(counts: Counts, plan: Plan): Responsibilities {
  const moves = { ...noResponsibilities };
  for (const [{ handover_to_user_id, handover_to_group_id }, share] of shareOut(counts, plan)) {
    if (!handover_to_user_id && !handover_to_group_id) continue;
    const taken = handover_to_user_id ? share : { ...share, memberships: 0 };
    for (const kind of [...kindsInProjects, ...otherKinds]) moves[kind] += taken[kind];
  }
  return moves;
}

/** Throws unless the successors exist and can take over everything that is theirs by the plan. */
export async function assertSuccessors(
  db: Kysely<Tables>,
  person: Person,
  plan: Plan,
  counts: Counts,
  change: Change,
): Promise<void> {
  const { successors } = plan;
  const shares = shareOut(counts, plan);
  const field = 'handover_to_user_id';
  const errors = await partErrors(db, plan);
  const references = await referenceErrors(db, successors, {
    handover_to_user_id: 'people',
    handover_to_group_id: 'groups',
  });
  for (const [i, one] of successors.entries()) {
    errors.push(...(references[i] ?? []).map(inPart(plan, i)));
    if (one.handover_to_user_id === person.user_id) {
      const detail = `${person.name} cannot be their own successor. Choose another person.`;
      errors.push(inPart(plan, i)(fieldError(field, 'same_person', detail)));
    }
    if (one.handover_to_group_id && !one.handover_to_user_id) {
      const share = shares.get(one) ?? noResponsibilities;
      const needs = await listPersonOnlyNeeds(db, person.user_id, plan, one, share);
      if (needs.length > 0) {
        const detail = `A group can only own risks and issues. ${person.name} also has ${joinWords(needs)}. Set \`handover_to_user_id\` to the person who takes these over.`;
        errors.push(inPart(plan, i)(fieldError(field, 'required', detail)));
      }
    }
  }
  if (errors.length > 0) throw invalidBody(errors);
  const assignees = successors.map((one) => ({ assignee_user_id: one.handover_to_user_id }));
  const notAssignable = (await assigneeErrors(db, assignees, change, field)).flatMap((found, i) =>
    found.map(inPart(plan, i)),
  );
  if (notAssignable.length > 0) throw invalidBody(notAssignable);
  const accountable = plan.choose('agents');
  if (!accountable.handover_to_user_id || counts.carries.agents === 0) return;
  const { name, kind } = await getPerson(db, accountable.handover_to_user_id, change);
  if (kind === 'human') return;
  const detail = `${person.name} is accountable for ${counts.carries.agents} people. ${name} (${kind}) cannot take that over: choose a human.`;
  throw invalidBody([inPart(plan, successors.indexOf(accountable))(fieldError(field, 'not_human', detail))]);
}

/** Moves an error of the successors with this number to their place in the body. */
const inPart =
  ({ parts }: Plan, i: number) =>
  (error: FieldError): FieldError =>
    i < parts.length ? { ...error, pointer: `#/parts/${i}${error.pointer?.slice(1)}` } : error;

/** A part says what belongs to it, and its projects exist. */
async function partErrors(db: Kysely<Tables>, { parts }: Plan): Promise<FieldError[]> {
  const ids = parts.flatMap(({ project_ids = [] }) => project_ids);
  const found = await db
    .selectFrom('projects')
    .select('id')
    .where(inJsonArray(sql.ref('id'), ids))
    .execute();
  const existing = new Set(found.map(({ id }) => id));
  return parts.flatMap(({ project_ids, kinds }, i) => {
    if (!project_ids && !kinds) {
      const detail = 'Set `project_ids`, `kinds` or both, to say what belongs to this part.';
      return [fieldError(`parts/${i}`, 'required', detail)];
    }
    return (project_ids ?? []).flatMap((id, j) =>
      existing.has(id)
        ? []
        : [fieldError(`parts/${i}/project_ids/${j}`, 'unknown_reference', `There is no project ${id}.`)],
    );
  });
}

/** Describes the responsibilities among these that only a person can take over, such as "2 tasks". */
async function listPersonOnlyNeeds(
  db: Kysely<Tables>,
  user_id: string,
  plan: Plan,
  successors: Successors,
  { tasks, projects, groups, reports, agents }: Responsibilities,
): Promise<string[]> {
  const assigned = await assignmentRows(db, user_id)
    .select(['assignments.project_id', sql<number>`count(*)`.as('issues')])
    .where('assignments.role', '=', 'assignee')
    .where('assignments.type', '=', 'issue')
    .where('projects.archived_at', 'is', null)
    .groupBy('assignments.project_id')
    .execute();
  const assignedIssues = assigned
    .filter(({ project_id }) => plan.choose('issues', project_id) === successors)
    .reduce((sum, { issues }) => sum + issues, 0);
  return Object.entries({
    tasks,
    'issues as assignee': assignedIssues,
    'projects as lead': projects,
    'groups as lead': groups,
    reports,
    'people as accountable human': agents,
  }).flatMap(([label, number]) => (number > 0 ? [`${number} ${label}`] : []));
}
