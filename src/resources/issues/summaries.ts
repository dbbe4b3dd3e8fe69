import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { type IssueFilters, isOverdue, issueConditions, issueRows } from './queries.ts';
import { ageBands, type IssueSummary, priorities, severities } from './schema.ts';

/** Counts open issues by their fields. Groups without an order of their own come largest first. */
export async function summarizeIssues(
  db: Kysely<Tables>,
  filters: IssueFilters,
  moment: Moment,
): Promise<IssueSummary> {
  const matches = issueConditions(filters, moment);
  const groups = await countGroups(db, matches, moment);
  const sumOf = (some: readonly Group[]) => some.reduce((sum, { count }) => sum + count, 0);
  const inOrder = <Field extends 'severity' | 'priority' | 'age', Value extends string>(
    field: Field,
    values: readonly Value[],
  ) =>
    values.map((value) => ({
      [field]: value,
      count: sumOf(groups.filter((group) => group[field] === value)),
    })) as ({ [F in Field]: Value } & { count: number })[];
  return {
    total: sumOf(groups),
    overdue: groups.reduce((sum, { overdue }) => sum + overdue, 0),
    by_severity: inOrder('severity', severities),
    by_priority: inOrder('priority', priorities),
    by_age: inOrder('age', ageBands),
    by_project: await countByProject(db, matches),
    by_assignee: await countByAssignee(db, matches),
  };
}

type Group = { severity: string; priority: string; age: string; count: number; overdue: number };

/** Counts by all fields with few distinct values in one query; the caller sums these counts for each field. */
const countGroups = (db: Kysely<Tables>, matches: RawBuilder<boolean>, moment: Moment): Promise<Group[]> => {
  const age = ageBand(moment);
  return issueRows(db)
    .where(matches)
    .select(['issues.severity', 'issues.priority', age.as('age'), sql<number>`count(*)`.as('count')])
    .select(sql<number>`count(case when ${isOverdue(moment)} then 1 end)`.as('overdue'))
    .groupBy(['issues.severity', 'issues.priority', age])
    .execute();
};

const countByProject = (db: Kysely<Tables>, matches: RawBuilder<boolean>) =>
  db
    .selectFrom(countBy(db, matches, sql.ref<string>('issues.project_id')).as('counted'))
    .innerJoin('projects', 'projects.id', 'counted.id')
    .select(['projects.id as project_id', 'projects.key as project_key', 'projects.name as project_name'])
    .select('counted.count')
    .orderBy('counted.count', 'desc')
    .orderBy('projects.id')
    .execute();

const countByAssignee = (db: Kysely<Tables>, matches: RawBuilder<boolean>) =>
  db
    .selectFrom(countBy(db, matches, sql.ref<string | null>('issues.assignee_user_id')).as('counted'))
    .leftJoin('people', 'people.user_id', 'counted.id')
    .select(['counted.id as assignee_user_id', 'people.name as assignee_name', 'counted.count'])
    .orderBy('counted.count', 'desc')
    .orderBy(sql`counted.id nulls last`)
    .execute();

/** Counts by id alone. The caller joins the names to the counts, which are fewer than the issues. */
const countBy = <Id>(db: Kysely<Tables>, matches: RawBuilder<boolean>, id: RawBuilder<Id>) =>
  issueRows(db)
    .where(matches)
    .select([id.as('id'), sql<number>`count(*)`.as('count')])
    .groupBy(id);

const ageBand = ({ today }: Moment) => {
  const since = (days: number) => daysLater(today, -days);
  return sql<string>`case when issues.raised_on >= ${sql.lit(since(7))} then '0-7 days'
    when issues.raised_on >= ${sql.lit(since(30))} then '8-30 days'
    when issues.raised_on >= ${sql.lit(since(90))} then '31-90 days' else 'over 90 days' end`;
};
