import { type Expression, type Kysely, sql } from 'kysely';
import { dayKey, daysLater, type Moment } from '../../core/clock.ts';
import { invalidBody } from '../../core/errors.ts';
import { foldAll } from '../../core/text.ts';
import { consoleUrl, daysBetween, jsonBoolean, notIndexed } from '../../database/sql/functions.ts';
import { merged, newStamps, rowAsJson, storedFields } from '../../database/sql/rows.ts';
import {
  allOf,
  always,
  atLeast,
  equals,
  holds,
  isActive,
  isIn,
  isNarrowedByIndex,
  isNull,
  since,
} from '../../lists/filters.ts';
import { type List, memoizedList, type Order, type RowsQuery } from '../../lists/list.ts';
import { byKey, byText, positionIn } from '../../lists/orders.ts';
import type { Filters } from '../../lists/query.ts';
import type { TableName, Tables } from '../../store/tables.ts';
import { subjectOf } from '../../store/writes/events.ts';
import { isOwnedBy, rejectLoneTransitive } from '../groups/membership.ts';
import {
  byName,
  commonOrders,
  findItems,
  ignoresStatusIndex,
  itemHasText,
  itemOrder,
  rankOf,
} from '../project-items/order.ts';
import { joinAssignee, joinOwner } from '../project-items/people.ts';
import { itemReader } from '../project-items/read.ts';
import type { ItemIdentity, ItemWrites } from '../project-items/writes.ts';
import { issueDelta } from '../projects/counts.ts';
import { type AcrossProjects, projectConditions } from '../projects/queries.ts';
import { assertTransition, ownerAndDateErrors } from '../validation.ts';
import {
  Issue,
  IssueInput,
  type IssuePatch,
  issueResource,
  issueStatuses,
  openStatuses,
  priorities,
  type projectIssueFilters,
} from './schema.ts';
import { clearStaleIssueFields, issueStateErrors, issueTransitions } from './transitions.ts';

export type IssueFilters = AcrossProjects & Filters<typeof projectIssueFilters>;

const rank = rankOf('issues');

/** The sort orders of a list of issues; `rank` is by severity, then priority, then due date. */
export const issueOrders: Record<string, Order> = {
  rank: { key: rank },
  ...commonOrders('issues', issueStatuses),
  ...byText('due_on', rank, sql.ref('issues.due_on')),
  ...byKey('priority', rank, positionIn('issues.priority', priorities)),
  ...byName('owner_name', 'issues', ['owner_user_id', 'owner_group_id']),
  ...byName('assignee_name', 'issues', ['assignee_user_id']),
  ...byKey('raised_on', rank, sql.ref('issues.raised_on')),
};

export const issueList = (filters: IssueFilters, moment: Moment, sort = 'rank'): List =>
  memoizedList(['issues', filters, dayKey(moment), sort], () => ({
    schema: Issue,
    json: issueJson(moment),
    reads: filters.risk_id ? [...issueTables, 'risks'] : issueTables,
    isIndexed: isIndexed(filters) && sort === 'rank',
    order: itemOrder('issues', issueOrders, sort, filters),
    from: issueRows,
    joins: withPeople,
    ...findItems('issues', filters, isOpenOrAll(filters)),
    matches: issueConditions(filters, moment),
  }));

export const issueRow = (identity: ItemIdentity, input: IssueInput, { now, today }: Moment) => ({
  ...identity,
  ...storedFields(IssueInput, input),
  raised_on: input.raised_on ?? today,
  resolution: null,
  resolution_note: null,
  search_folded: foldAll([identity.key, input.title, input.description]),
  ...newStamps(now),
});

export const issueRows = (db: Kysely<Tables>): RowsQuery =>
  db.selectFrom('issues').innerJoin('projects', 'projects.id', 'issues.project_id');

const withPeople = (rows: RowsQuery) => joinAssignee(joinOwner(rows, 'issues'), 'issues');

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
    web_url: consoleUrl('/issues/', sql.ref('issues.key')),
  });

/** The tables that a list of issues depends on. */
export const issueTables: readonly TableName[] = ['issues', 'projects', 'people', 'groups', 'memberships'];

export const issueSubject = subjectOf(issueResource, issueJson, (db) => withPeople(issueRows(db)));

export const getIssue = itemReader<Issue>(issueSubject);

export const issueWrites: ItemWrites<Issue, IssueInput, IssuePatch> = {
  target: issueResource,
  subject: issueSubject,
  schema: Issue,
  get: getIssue,
  row: issueRow,
  itemErrors: ownerAndDateErrors,
  next(current, patch, reason) {
    const next = clearStaleIssueFields(current, merged(current, patch));
    if (next.status !== current.status) assertTransition(issueTransitions, current, next.status);
    const stateErrors = issueStateErrors(current, next, reason);
    if (stateErrors.length > 0) throw invalidBody(stateErrors);
    return { next };
  },
  delta: issueDelta,
  referrers: (id) => [['tasks', sql`issue_id = ${id}`]],
};

/** Whether these are all statuses of open issues, and no others. */
const isOpen = (status: readonly string[]) =>
  new Set(status).size === openStatuses.length && openStatuses.every((one) => status.includes(one));

const isOpenOrAll = ({ status = [] }: IssueFilters) => isOpen(status) || String(status) === 'all';

/** Whether an index yields the first rows in order, without sorting. */
function isIndexed({ status = [], archived, ...rest }: IssueFilters): boolean {
  const byIndex = ['project', 'owner_user_id', 'owner_group_id', 'assignee_user_id'];
  return isOpen(status) && archived !== 'true' && isNarrowedByIndex(rest, byIndex);
}

export const isOverdue = ({ today }: Moment) =>
  sql<boolean>`(issues.open = 1 and coalesce(issues.due_on, '9999-99-99') < ${today})`;

export function issueConditions(filters: IssueFilters, moment: Moment) {
  rejectLoneTransitive(filters, 'owner_group_id');
  return allOf(filters, {
    ...projectConditions('issues.project_id'),
    status: (statuses) => hasStatus(statuses, ignoresStatusIndex(filters) ? notIndexed(open) : open),
    severity: isIn('issues.severity'),
    priority: isIn('issues.priority'),
    assignee_user_id: isIn('issues.assignee_user_id'),
    owner_user_id: isIn('issues.owner_user_id'),
    owner_group_id: (ids) => isOwnedBy('issues', ids, filters.transitive ?? false),
    transitive: always,
    owner_active: isActive('issues.owner_user_id'),
    assignee_active: isActive('issues.assignee_user_id'),
    unassigned: holds(isNull('issues.assignee_user_id')),
    overdue: holds(isOverdue(moment)),
    min_age_days: (days) => sql<boolean>`issues.raised_on <= ${daysLater(moment.today, -days)}`,
    risk_id: equals('issues.risk_id'),
    due_before: (day) => sql<boolean>`issues.due_on < ${day}`,
    due_after: (day) => sql<boolean>`issues.due_on > ${day}`,
    raised_since: atLeast('issues.raised_on'),
    updated_since: since('issues.updated_at'),
    resolved_since: wasResolvedSince,
    external_id: equals('issues.external_id'),
    q: itemHasText('issues', filters.search),
    search: always,
  });
}

const open = sql.ref('issues.open');

/** Uses the partial index of open issues where possible. */
function hasStatus(statuses: readonly string[], open: Expression<unknown>): Expression<boolean> {
  if (statuses.includes('all')) return sql`1 = 1`;
  const onlyOpen = statuses.every((status) => openStatuses.some((open) => open === status));
  if (!onlyOpen) return isIn('issues.status')(statuses);
  const isOpen = sql<boolean>`${open} = 1`;
  return new Set(statuses).size === openStatuses.length
    ? isOpen
    : sql`(${isOpen} and ${isIn('issues.status')(statuses)})`;
}

/** The time is in the history. Comparing `updated_at` too leaves only the issues that changed since. */
const wasResolvedSince = (time: string) => sql<boolean>`(
  issues.open = 0 and ${since('issues.updated_at')(time)} and exists (
    select 1 from history
    where history.subject_id = issues.id and history.field = 'status'
      and history."to" in ('"resolved"', '"closed"') and ${since('history.at')(time)}))`;
