import { type Expression, type Kysely, sql, type Transaction } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import {
  type FieldError,
  fieldError,
  inUse,
  invalidBody,
  joined,
  notFound,
  type Problem,
} from '../../core/errors.ts';
import { foldAll } from '../../core/text.ts';
import { daysBetween, jsonBoolean } from '../../database/sql/functions.ts';
import { merged, newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import type { TableName, Tables } from '../../database/tables.ts';
import type { Change } from '../../database/writes/change.ts';
import { type Created, unwrapSingle } from '../../database/writes/create-many.ts';
import { differencesBetween, recordChanges, recordDeleted } from '../../database/writes/history.ts';
import {
  findReferrers,
  inProject,
  referenceErrors,
  rejectDuplicateExternalId,
  toGroup,
  toIssue,
  toPerson,
  toRisk,
} from '../../database/writes/references.ts';
import { deleteRow, notBefore, updateRow } from '../../database/writes/rows.ts';
import {
  allOf,
  always,
  equals,
  from,
  hasText,
  holds,
  isActive,
  isIn,
  isNarrowedByIndex,
  isNull,
  since,
} from '../../lists/filters.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import { isOwnedBy, rejectLoneTransitive } from '../groups/membership.ts';
import { assigneeErrors, assigneesOf } from '../personnel/queries.ts';
import { issueDelta, recount } from '../projects/counts.ts';
import {
  type AcrossProjects,
  assertWritable,
  createInProject,
  projectConditions,
} from '../projects/queries.ts';
import { Issue, IssueInput, type IssuePatch, openStatuses, type projectIssueFilters } from './schema.ts';
import { assertIssueTransition, clearStaleIssueFields, issueStateErrors } from './transitions.ts';

export type IssueFilters = AcrossProjects & Filters<typeof projectIssueFilters>;

/** Issues: the most severe first, then the most urgent, then what is due soonest. */
export const issueList = (filters: IssueFilters, moment: Moment): List =>
  memoizedList(['issues', filters, moment.today], () => ({
    schema: Issue,
    json: issueJson(moment),
    reads: issueTables,
    isIndexed: isIndexed(filters),
    order: { key: sql.ref('issues.rank_key') },
    from: issueRows,
    id: sql.ref('issues.id'),
    matches: issueConditions(filters, moment),
  }));

export async function getIssue(
  db: Kysely<Tables>,
  project: string,
  ref: string,
  moment: Moment,
): Promise<Issue> {
  const { json } = await issueRows(db)
    .select(issueJson(moment).as('json'))
    .where((eb) => eb.or([eb('projects.id', '=', project), eb('projects.key', '=', project)]))
    .where((eb) => eb.or([eb('issues.id', '=', ref), eb('issues.key', '=', ref)]))
    .executeTakeFirstOrThrow(() => notFound('issue', `${ref} in the project ${project}`));
  return JSON.parse(json);
}

export async function createIssue(
  db: Transaction<Tables>,
  project: string,
  input: IssueInput,
  change: Change,
): Promise<Issue> {
  const { id } = unwrapSingle(await createIssues(db, project, [input], change));
  return getIssue(db, project, id, change);
}

/** Makes those that can be made, and says why the others cannot. */
export const createIssues = (
  db: Transaction<Tables>,
  project: string,
  inputs: readonly IssueInput[],
  change: Change,
): Promise<(Created | Problem)[]> =>
  createInProject(
    db,
    project,
    inputs,
    {
      kind: 'issue',
      target: toIssue,
      errors: async (project_id) =>
        joined(
          await validate(db, project_id, inputs, change),
          await assigneeErrors(db, assigneesOf(inputs), change),
        ),
      row: (identity, input) => issueRow(identity, input, change),
      delta: ({ severity = 'medium' }) => issueDelta(true, severity),
    },
    change,
  );

export async function updateIssue(
  db: Transaction<Tables>,
  current: Issue,
  { reason, ...patch }: IssuePatch,
  asked: Change,
): Promise<Issue> {
  const change = notBefore(asked, current);
  await assertWritable(db, current.project_id);
  const next = clearStaleIssueFields(current, merged(current, patch));
  if (next.status !== current.status) assertIssueTransition(current.key, current.status, next.status);
  const stateErrors = issueStateErrors(current, next, reason);
  if (stateErrors.length > 0) throw invalidBody(stateErrors);
  const differences = differencesBetween(current, next, Object.keys(Issue.properties));
  if (Object.keys(differences).length === 0) return current;
  const [errors = []] = await validate(db, current.project_id, [next], change);
  // Who has left keeps what they had until it is handed over; only a new assignee must be assignable.
  if ('assignee_user_id' in differences)
    errors.push(...(await assigneeErrors(db, assigneesOf([next]), change)).flat());
  if (errors.length > 0) throw invalidBody(errors);
  if ('external_id' in differences)
    await rejectDuplicateExternalId(db, toIssue, current.project_id, next.external_id);
  const columns = {
    ...storedChanges(Issue, differences),
    search_folded: foldAll([next.key, next.title, next.description]),
  };
  await updateRow(db, 'issues', current, columns, change.now);
  await recordChanges(db, current.id, differences, { ...change, reason });
  const changed = await getIssue(db, current.project_id, current.id, asked);
  await recount(db, current.project_id, deltaOf(current), deltaOf(changed));
  return changed;
}

/** Only an issue to which no task belongs can be deleted. */
export async function deleteIssue(db: Transaction<Tables>, current: Issue, change: Change): Promise<void> {
  const { id, key, project_id } = current;
  await assertWritable(db, project_id);
  const users = await findReferrers(db, [['tasks', sql`issue_id = ${id}`]]);
  if (users) throw inUse(`The issue ${key}`, users);
  await deleteRow(db, 'issues', current);
  await recordDeleted(db, id, key, change);
  await recount(db, project_id, deltaOf(current), null);
}

/** A new issue as it is stored. */
export const issueRow = (
  identity: { id: string; project_id: string; key: string },
  input: IssueInput,
  { now, today }: Moment,
) => ({
  ...identity,
  ...storedFields(IssueInput, input),
  raised_on: input.raised_on ?? today,
  resolution: null,
  search_folded: foldAll([identity.key, input.title, input.description]),
  ...newStamps(now),
});

export const issueRows = (db: Kysely<Tables>) =>
  db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .leftJoin('people as owner', 'owner.user_id', 'issues.owner_user_id')
    .leftJoin('groups as owner_group', 'owner_group.id', 'issues.owner_group_id')
    .leftJoin('people as assignee', 'assignee.user_id', 'issues.assignee_user_id');

const issueJson = (moment: Moment) =>
  rowAsJson(Issue, 'issues', {
    project_key: sql.ref('projects.key'),
    project_name: sql.ref('projects.name'),
    owner_name: sql`coalesce(owner.name, owner_group.name)`,
    assignee_name: sql.ref('assignee.name'),
    owner_active: jsonBoolean(sql`owner.status = 'active'`),
    assignee_active: jsonBoolean(sql`assignee.status = 'active'`),
    age_days: daysBetween(sql.ref('issues.raised_on'), sql`cast(${moment.today} as text)`),
    overdue: jsonBoolean(isOverdue(moment)),
  });

/** What a list of issues is read from. */
export const issueTables: readonly TableName[] = ['issues', 'projects', 'people', 'groups', 'memberships'];

/** Whether an index of the order leads straight to the first rows. */
function isIndexed({ status = [], archived, ...others }: IssueFilters): boolean {
  const byIndex = ['project', 'owner_user_id', 'owner_group_id', 'assignee_user_id'];
  return status.length === openStatuses.length && archived !== 'true' && isNarrowedByIndex(others, byIndex);
}

export const isOverdue = ({ today }: Moment) =>
  sql<boolean>`(issues.open = 1 and coalesce(issues.due_on, '9999-99-99') < ${today})`;

export function issueConditions(filters: IssueFilters, moment: Moment) {
  rejectLoneTransitive(filters, 'owner_group_id');
  return allOf(filters, {
    ...projectConditions('issues.project_id'),
    status: hasStatus,
    severity: isIn('issues.severity'),
    priority: isIn('issues.priority'),
    assignee_user_id: isIn('issues.assignee_user_id'),
    owner_user_id: isIn('issues.owner_user_id'),
    owner_group_id: (ids) => isOwnedBy('issues', ids, filters.transitive ?? false),
    transitive: always,
    owner_active: isActive('owner'),
    assignee_active: isActive('assignee'),
    unassigned: holds(isNull('issues.assignee_user_id')),
    overdue: holds(isOverdue(moment)),
    min_age_days: (days) => sql<boolean>`issues.raised_on <= ${daysLater(moment.today, -days)}`,
    risk_id: equals('issues.risk_id'),
    raised_since: from('issues.raised_on'),
    updated_since: since('issues.updated_at'),
    external_id: equals('issues.external_id'),
    q: hasText('issues.search_folded'),
  });
}

/** The open ones have an index of their own. */
function hasStatus(wanted: readonly string[]): Expression<boolean> {
  if (wanted.includes('all')) return sql`1 = 1`;
  const onlyOpen = wanted.every((status) => openStatuses.some((open) => open === status));
  if (!onlyOpen) return isIn('issues.status')(wanted);
  const isOpen = sql<boolean>`issues.open = 1`;
  return new Set(wanted).size === openStatuses.length
    ? isOpen
    : sql`(${isOpen} and ${isIn('issues.status')(wanted)})`;
}

const deltaOf = ({ status, severity }: Issue) =>
  issueDelta(
    openStatuses.some((open) => open === status),
    severity,
  );

async function validate(
  db: Kysely<Tables>,
  project_id: string,
  inputs: readonly Omit<IssueInput, 'status'>[],
  { today }: Moment,
): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, inputs, {
    owner_user_id: toPerson,
    owner_group_id: toGroup,
    raised_by_user_id: toPerson,
    assignee_user_id: toPerson,
    risk_id: inProject(toRisk, project_id),
  });
  for (const [i, { owner_user_id, owner_group_id, raised_on, due_on }] of inputs.entries()) {
    if (owner_user_id && owner_group_id) {
      const detail = 'An issue is owned by a person or by a group, not by both.';
      errors[i]?.push(fieldError('owner_group_id', 'two_owners', detail));
    }
    if (raised_on && raised_on > today) {
      errors[i]?.push(fieldError('raised_on', 'in_the_future', '`raised_on` has not come yet.'));
    }
    if (due_on && due_on < (raised_on ?? today)) {
      errors[i]?.push(fieldError('due_on', 'date_order', '`due_on` is before the day the issue was raised.'));
    }
  }
  return errors;
}
