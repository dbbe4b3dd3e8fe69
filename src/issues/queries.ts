import { type Expression, type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { daysBetween, jsonBoolean } from '../database/functions.ts';
import { missingReferences, refuseDuplicate, toGroup, toIssue, toPerson } from '../database/references.ts';
import { newStamps, rowAsJson, storedFields } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { type Fault, fieldFault, invalidBody, notFound } from '../errors.ts';
import { newId } from '../ids.ts';
import { allOf, contains, equals, from, holds, isIn, isNull, since } from '../lists/filters.ts';
import type { List } from '../lists/list.ts';
import type { Filters } from '../lists/query.ts';
import { getPerson } from '../personnel/queries.ts';
import { type AcrossProjects, nextKey, projectConditions } from '../projects/queries.ts';
import { fold, foldAll } from '../text.ts';
import { Issue, IssueInput, openStatuses, type projectIssueFilters } from './schema.ts';

export type IssueFilters = AcrossProjects & Filters<typeof projectIssueFilters>;

/** Issues: the most severe first, then the most urgent, then what is due soonest. */
export function issueList(filters: IssueFilters, moment: Moment): List {
  return {
    schema: Issue,
    json: issueJson(moment),
    reads: ['issues', 'projects', 'people', 'groups'],
    order: { key: sql.ref('issues.rank_key') },
    from: issueRows,
    id: sql.ref('issues.id'),
    matches: conditions(filters, moment),
  };
}

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
  moment: Moment,
): Promise<Issue> {
  const { project_id, key } = await nextKey(db, project, 'issues_made');
  await refuseBrokenRules(db, project_id, input, moment);
  const same = sql<boolean>`external_id = ${input.external_id} and project_id = ${project_id}`;
  await refuseDuplicate(db, toIssue, 'external_id', input.external_id, same);
  const id = newId('issue');
  await db
    .insertInto('issues')
    .values(issueRow({ id, project_id, key }, input, moment))
    .execute();
  return getIssue(db, project_id, id, moment);
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

const issueRows = (db: Kysely<Tables>) =>
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
    assignee_active: jsonBoolean(sql`assignee.status = 'active'`),
    age_days: daysBetween(sql.ref('issues.raised_on'), sql`cast(${moment.today} as text)`),
    overdue: jsonBoolean(isOverdue(moment)),
  });

const isOverdue = ({ today }: Moment) =>
  sql<boolean>`(issues.open = 1 and coalesce(issues.due_on, '9999-99-99') < ${today})`;

function conditions(filters: IssueFilters, moment: Moment) {
  return allOf(filters, {
    ...projectConditions,
    status: hasStatus,
    severity: isIn('issues.severity'),
    priority: isIn('issues.priority'),
    assignee_user_id: isIn('issues.assignee_user_id'),
    owner_user_id: isIn('issues.owner_user_id'),
    owner_group_id: isIn('issues.owner_group_id'),
    unassigned: holds(isNull('issues.assignee_user_id')),
    overdue: holds(isOverdue(moment)),
    min_age_days: (days) => sql<boolean>`issues.raised_on <= ${daysBefore(moment.today, days)}`,
    risk_id: equals('issues.risk_id'),
    raised_since: from('issues.raised_on'),
    updated_since: since('issues.updated_at'),
    external_id: equals('issues.external_id'),
    q: (text) => contains('issues.search_folded', fold(text)),
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

const daysBefore = (day: string, days: number) =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

async function refuseBrokenRules(
  db: Transaction<Tables>,
  project_id: string,
  input: IssueInput,
  moment: Moment,
): Promise<void> {
  const faults: Fault[] = await missingReferences(db, input, {
    owner_user_id: toPerson,
    owner_group_id: toGroup,
    raised_by_user_id: toPerson,
    assignee_user_id: toPerson,
  });
  if (input.owner_user_id && input.owner_group_id) {
    faults.push(
      fieldFault('owner_group_id', 'two_owners', 'An issue is owned by a person or by a group, not by both.'),
    );
  }
  if (input.due_on && input.due_on < (input.raised_on ?? moment.today)) {
    faults.push(fieldFault('due_on', 'date_order', '`due_on` is before the day the issue was raised.'));
  }
  if (input.risk_id) {
    const risk = await db
      .selectFrom('risks')
      .select('id')
      .where('id', '=', input.risk_id)
      .where('project_id', '=', project_id)
      .executeTakeFirst();
    if (!risk)
      faults.push(fieldFault('risk_id', 'unknown_reference', `This project has no risk ${input.risk_id}.`));
  }
  if (input.assignee_user_id && !faults.some((fault) => fault.pointer === '#/assignee_user_id')) {
    const { assignable, name, status } = await getPerson(db, input.assignee_user_id, moment);
    if (!assignable) {
      const why = status === 'inactive' ? 'is inactive' : 'is not here today: see `start_on` and `end_on`';
      faults.push(
        fieldFault('assignee_user_id', 'not_assignable', `${name} cannot be assigned: ${name} ${why}.`),
      );
    }
  }
  if (faults.length > 0) throw invalidBody(faults);
}
