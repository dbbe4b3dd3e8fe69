import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import type { Tables } from '../../database/tables.ts';
import { type IssueFilters, isOverdue, issueConditions, issueRows } from './queries.ts';
import { ageBands, type IssueSummary, priorities, severities } from './schema.ts';

/** Counts open issues by their fields. Groups without an order of their own come largest first. */
export async function summarizeIssues(
  db: Kysely<Tables>,
  filters: IssueFilters,
  moment: Moment,
): Promise<IssueSummary> {
  const matches = issueConditions(filters, moment);
  const countBy = (columns: Record<string, RawBuilder<unknown>>) => countIssues(db, matches, columns);
  const inOrder = async <Name extends string, Value extends string>(
    name: Name,
    column: RawBuilder<unknown>,
    values: readonly Value[],
  ) => {
    const rows = await countBy({ [name]: column });
    return values.map((value) => ({
      [name]: value,
      count: rows.find((row) => row[name] === value)?.count ?? 0,
    })) as ({ [N in Name]: Value } & { count: number })[];
  };
  const [totals] = await countIssues(db, matches, {}, sql`count(case when ${isOverdue(moment)} then 1 end)`);
  return {
    total: totals?.count ?? 0,
    overdue: totals?.overdue ?? 0,
    by_severity: await inOrder('severity', sql`issues.severity`, severities),
    by_priority: await inOrder('priority', sql`issues.priority`, priorities),
    by_age: await inOrder('age', ageBand(moment), ageBands),
    by_project: await countBy({
      project_id: sql`projects.id`,
      project_key: sql`projects.key`,
      project_name: sql`projects.name`,
    }),
    by_assignee: await countBy({
      assignee_user_id: sql`issues.assignee_user_id`,
      assignee_name: sql`assignee.name`,
    }),
  };
}

async function countIssues(
  db: Kysely<Tables>,
  matches: RawBuilder<boolean>,
  columns: Record<string, RawBuilder<unknown>>,
  overdue: RawBuilder<unknown> = sql`0`,
) {
  const groups = Object.entries(columns);
  const rows = await issueRows(db)
    .where(matches)
    .select(groups.map(([name, value]) => value.as(name)))
    .select([sql<number>`count(*)`.as('count'), overdue.as('overdue')])
    .orderBy('count', 'desc')
    .$if(groups.length > 0, (query) =>
      query
        .groupBy(groups.map(([, value]) => value))
        .orderBy(sql.join(groups.map(([, value]) => sql`${value} nulls last`))),
    )
    .execute();
  // biome-ignore lint/suspicious/noExplicitAny: the type of each column depends on its expression
  return rows.map(({ overdue, ...row }: any) => (groups.length > 0 ? row : { ...row, overdue }));
}

const ageBand = ({ today }: Moment) => {
  const since = (days: number) => daysLater(today, -days);
  return sql`case when issues.raised_on >= ${sql.lit(since(7))} then '0-7 days'
    when issues.raised_on >= ${sql.lit(since(30))} then '8-30 days'
    when issues.raised_on >= ${sql.lit(since(90))} then '31-90 days' else 'over 90 days' end`;
};
