import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { type LargestGroups, type SummedCounts, sumCounts } from '../project-items/counts/groups.ts';
import type { SummarySnapshot } from '../project-items/counts/kept-counts.ts';
import { countMatching } from '../project-items/counts/matching.ts';
import { readPersonNames, readProjectNames } from '../project-items/counts/names.ts';
import type { Countable } from '../project-items/counts/project-counts.ts';
import { boundArrays } from '../project-items/counts/summary-size.ts';
import { ignoresStatusIndex, isNarrow, scanOf } from '../project-items/order.ts';
import { type IssueFilters, isOverdue, issueConditions, issueRows } from './queries.ts';
import { ageBands, type IssueSummary, openStatuses, priorities, severities } from './schema.ts';

/** Counts open issues by their fields. Groups without an order of their own come largest first. */
export async function summarizeIssues(
  snapshot: SummarySnapshot,
  filters: IssueFilters,
  moment: Moment,
  top: number,
  shownFilters: unknown,
): Promise<IssueSummary> {
  const { db } = snapshot;
  const { numbers, projects, assignees } =
    (await sumKept(snapshot, filters, moment, top)) ?? (await countIssues(db, filters, moment, top));
  const keys = await readProjectNames(db, projects.shown);
  const names = await readPersonNames(db, assignees.shown);
  const numberOf = (name: string) => numbers[name] ?? 0;
  const arrays = boundArrays(shownFilters, {
    by_project: { of: projects, rows: projects.shown.map(({ id, count }) => ({ ...keys(id), count })) },
    by_assignee: {
      of: assignees,
      rows: assignees.shown.map(({ id, count }) => ({
        assignee_user_id: id,
        assignee_name: names(id),
        count,
      })),
    },
  });
  return {
    total: numberOf('total'),
    overdue: numberOf('overdue'),
    by_severity: severities.map((severity) => ({ severity, count: numberOf(`severity ${severity}`) })),
    by_priority: priorities.map((priority) => ({ priority, count: numberOf(`priority ${priority}`) })),
    by_age: ageBands.map((age) => ({ age, count: numberOf(`age ${age}`) })),
    by_project: arrays.by_project,
    by_project_rest: arrays.by_project_rest,
    by_assignee: arrays.by_assignee,
    by_assignee_rest: arrays.by_assignee_rest,
  };
}

type IssueCounts = { numbers: Record<string, number>; projects: LargestGroups; assignees: LargestGroups };

const assignee = sql.ref<string | null>('issues.assignee_user_id');

/** What is kept of each project. */
export const countableIssues: Countable = {
  table: 'issues',
  kind: 'issue',
  isCounted: sql`issues.open = 1`,
  counter: 'open_issues',
  conditions: countedConditions,
  holder: assignee,
  countsInactive: false,
  value: undefined,
};

function countedConditions(moment: Moment): Record<string, RawBuilder<boolean>> {
  const age = ageBand(moment);
  const valuesOf = (field: string, column: RawBuilder<unknown>, values: readonly string[]) =>
    Object.fromEntries(
      values.map((value) => [`${field} ${value}`, sql<boolean>`${column} = ${sql.lit(value)}`]),
    );
  return {
    overdue: isOverdue(moment),
    ...valuesOf('severity', sql.ref('issues.severity'), severities),
    ...valuesOf('priority', sql.ref('issues.priority'), priorities),
    ...valuesOf('age', age, ageBands),
  };
}

/** Whether the kept counts have all that a summary needs: those of open issues, of any projects. */
export function isKept(filters: IssueFilters): boolean {
  const { project, project_status, archived, status = [], ...others } = filters;
  return new Set(status).size === openStatuses.length && Object.keys(others).length === 0;
}

async function sumKept(
  snapshot: SummarySnapshot,
  { status, ...filters }: IssueFilters,
  moment: Moment,
  top: number,
): Promise<IssueCounts | undefined> {
  const sums = await sumCounts(snapshot, moment, filters, top);
  return sums && namedCounts(sums, moment);
}

function namedCounts({ numbers, projects, holders }: SummedCounts, moment: Moment): IssueCounts {
  const names = ['total', ...Object.keys(countedConditions(moment))];
  return {
    numbers: Object.fromEntries(names.map((name, i) => [name, numbers[i] ?? 0])),
    projects,
    assignees: holders,
  };
}

async function countIssues(
  db: Kysely<Tables>,
  filters: IssueFilters,
  moment: Moment,
  top: number,
): Promise<IssueCounts> {
  const from = isNarrow(filters) ? issueRows : scanOf('issues', filters);
  const matching = {
    countable: countableIssues,
    conditions: Object.values(countedConditions(moment)),
    parts: [from(db).where(issueConditions(filters, moment))],
    projects: isNarrow(filters) || ignoresStatusIndex(filters) ? undefined : filters,
  };
  return namedCounts(await countMatching(db, matching, top), moment);
}

const ageBand = ({ today }: Moment) => {
  const since = (days: number) => daysLater(today, -days);
  return sql<string>`case when issues.raised_on >= ${sql.lit(since(7))} then '0-7 days'
    when issues.raised_on >= ${sql.lit(since(30))} then '8-30 days'
    when issues.raised_on >= ${sql.lit(since(90))} then '31-90 days' else 'over 90 days' end`;
};
