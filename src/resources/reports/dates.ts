import { type RawBuilder, sql } from 'kysely';
import { daysLater } from '../../core/clock.ts';
import type { List } from '../../lists/list.ts';
import { issueList } from '../issues/queries.ts';
import { openStatuses } from '../issues/schema.ts';
import { riskList } from '../risks/register.ts';
import { taskList } from '../tasks/queries.ts';
import { inProjects, readRows, type Source, type Subject } from './rows.ts';
import { type dateKinds, maxRows, type ReportContent } from './schema.ts';

/** How far a report looks ahead. */
const nextDays = 90;
/** The dates of so many days are listed. */
const listedDays = 14;

type Kind = (typeof dateKinds)[number];
type Range = { before: string; after?: string };
type Item = { key: string; title: string; owner_name?: string | null; assignee_name?: string | null };

type DatedList = { kind: Kind; column: string; field: 'due_on' | 'review_on'; list(range: Range): List };

/** The due and review dates that have passed, and those of the next days. */
export async function readDates(source: Source, subject: Subject): Promise<ReportContent['dates']> {
  const { today } = subject.moment;
  const lists = datedLists(subject);
  const past = { before: today };
  const dates: ReportContent['dates'] = { overdue: [], next: [], first_overdue: [], first_next: [] };
  for (const dated of lists) {
    const { kind } = dated;
    const [{ count = 0 } = {}] = await countBy(source, dated.list(past), sql`''`);
    if (count > 0) dates.overdue.push({ kind, count });
    const next = dated.list({ after: daysLater(today, -1), before: daysLater(today, nextDays + 1) });
    for (const { day, count } of await countBy(source, next, sql.ref(dated.column)))
      dates.next.push({ day, kind, count });
    dates.first_overdue.push(...(await readFirst(source, dated, past)));
    const soon = { after: daysLater(today, -1), before: daysLater(today, listedDays) };
    dates.first_next.push(...(await readFirst(source, dated, soon)));
  }
  for (const name of ['first_overdue', 'first_next'] as const)
    dates[name] = dates[name].sort(byDay).slice(0, maxRows.dates);
  dates.next.sort(byDay);
  return dates;
}

const byDay = (a: { day: string }, b: { day: string }) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0);

function datedLists(subject: Subject): DatedList[] {
  const { moment } = subject;
  const filters = inProjects(subject);
  const risks = (name: 'due' | 'review') => (range: Range) =>
    riskList({ filters: { ...filters, status: ['active'], ...between(name, range) }, moment }, `${name}_on`);
  const issues = { ...filters, status: [...openStatuses] };
  const tasks = { ...filters, status: ['open' as const] };
  return [
    { kind: 'risk', column: 'risks.due_on', field: 'due_on', list: risks('due') },
    { kind: 'review', column: 'risks.review_on', field: 'review_on', list: risks('review') },
    {
      kind: 'issue',
      column: 'issues.due_on',
      field: 'due_on',
      list: (range) => issueList({ ...issues, ...between('due', range) }, moment, 'due_on'),
    },
    {
      kind: 'task',
      column: 'tasks.due_on',
      field: 'due_on',
      list: (range) => taskList({ ...tasks, ...between('due', range) }, moment),
    },
  ];
}

const between = (name: 'due' | 'review', { before, after }: Range) => ({
  [`${name}_before`]: before,
  ...(after && { [`${name}_after`]: after }),
});

/** Counts the rows of a list by day. */
async function countBy({ db }: Source, list: List, day: RawBuilder<unknown>) {
  const rows = await (list.scan ?? list.from)(db)
    .where(list.matches)
    .select([sql<string>`${day}`.as('day'), sql<number>`count(*)`.as('count')])
    .groupBy(sql.ref('day'))
    .orderBy(sql.ref('day'))
    .execute();
  return rows as { day: string; count: number }[];
}

async function readFirst(source: Source, { kind, field, list }: DatedList, range: Range) {
  const rows = await readRows<Item & Record<typeof field, string>>(source, list(range), maxRows.dates);
  return rows.map(({ key, title, owner_name, assignee_name, ...row }) => ({
    day: row[field],
    kind,
    key,
    title,
    person: (kind === 'risk' || kind === 'review' ? owner_name : assignee_name) ?? null,
  }));
}
