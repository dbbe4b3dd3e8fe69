import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';
import { daysFromToday, daysLater, formatShortDay, startOfWeek, today } from '../format.ts';
import { listHref, maxRows, type Period } from './queries.ts';

export const dateKinds = { risk: 'Risk due', review: 'Risk review', issue: 'Issue due', task: 'Task due' };

export type DateKind = keyof typeof dateKinds;

/** How many dates of a kind are on a day. */
export type DateCount = { day: string; kind: DateKind; count: number };

/** A day on which something is due. */
export type DueDate = { day: string; kind: DateKind; key: string; title: string; person: string | null };

export const timelineDays = 90;

/** The due and review dates of the next 90 days and all that have passed, earliest first. */
export function useDueDates() {
  return useQuery({
    queryKey: ['report', 'dates'],
    queryFn: async () => {
      const rows = { limit: maxRows };
      const end = daysFromToday(timelineDays + 1);
      const due = { params: { query: { ...rows, due_before: end } } };
      const reviewed = { params: { query: { ...rows, review_before: end } } };
      const [risks, reviews, issues, tasks] = await Promise.all([
        dataOrThrow(api.GET('/v1/risks', due)),
        dataOrThrow(api.GET('/v1/risks', reviewed)),
        dataOrThrow(api.GET('/v1/issues', due)),
        dataOrThrow(api.GET('/v1/tasks', due)),
      ]);
      const dates = [
        ...risks.data.flatMap((risk) => toDate('risk', risk, risk.due_on, risk.owner_name)),
        ...reviews.data.flatMap((risk) => toDate('review', risk, risk.review_on, risk.owner_name)),
        ...issues.data.flatMap((issue) => toDate('issue', issue, issue.due_on, issue.assignee_name)),
        ...tasks.data.flatMap((task) => toDate('task', task, task.due_on, task.assignee_name)),
      ];
      return {
        dates: dates.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)),
        isComplete: [risks, reviews, issues, tasks].every(({ page }) => !page.has_more),
      };
    },
  });
}

const toDate = (
  kind: DateKind,
  { key, title }: { key: string; title: string },
  day: string | null,
  person: string | null,
): DueDate[] => (day === null ? [] : [{ day, kind, key, title, person }]);

/** A week, or all that is overdue. */
export type Span = Days & {
  title: string;
  isOverdue: boolean;
  dates: DateCount[];
  total: number;
  projects: Project[];
};

/** From a day on and before another one. What is overdue has no first day. */
export type Days = { from: string; to: string };

export const listOf = { risk: 'risks', review: 'risks', issue: 'issues', task: 'tasks' } as const;

/** The name of who is responsible. */
export const personOf = ({ kind, person }: Pick<DueDate, 'kind' | 'person'>) =>
  person ?? (listOf[kind] === 'risks' ? 'No owner' : 'Unassigned');

/** The list of the dates of a kind. */
export function datesHref(kind: DateKind, { from, to }: Days, period: Pick<Period, 'project'>) {
  const name = kind === 'review' ? 'review' : 'due';
  return listHref(`/${listOf[kind]}`, period, {
    ...(from && { [`${name}_after`]: daysLater(from, -1) }),
    [`${name}_before`]: to,
  });
}

/** How many dates there are of each kind, without the kinds that have none. */
export const countDates = (dates: readonly DateCount[]) =>
  (Object.keys(dateKinds) as DateKind[])
    .map((kind) => ({ kind, count: sumOf(dates.filter((date) => date.kind === kind)) }))
    .filter(({ count }) => count > 0);

export const sumOf = (dates: readonly DateCount[]) => dates.reduce((sum, { count }) => sum + count, 0);

/** Overdue first, then week by week, as the organization counts weeks. */
export function spansOf(dates: readonly DateCount[], projects: readonly Project[]): Span[] {
  const open = projects.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
  const between = (from: string, to: string) => (day: string | null) =>
    day !== null && day >= from && day < to;
  const span = (title: string, from: string, to: string): Span => {
    const isIn = between(from, to);
    const inSpan = dates.filter(({ day }) => isIn(day));
    return {
      title,
      from,
      to,
      isOverdue: from === '',
      dates: inSpan,
      total: sumOf(inSpan),
      projects: open.filter(({ due_on }) => isIn(due_on)),
    };
  };
  const spans = [span('Overdue', '', today())];
  const end = daysFromToday(timelineDays + 1);
  // The first week begins today, and the last one may be cut off.
  for (let first = today(); first < end; ) {
    const next = daysLater(startOfWeek(first), 7);
    const to = next < end ? next : end;
    const last = daysLater(to, -1);
    const title =
      first === last ? formatShortDay(first) : `${formatShortDay(first)} – ${formatShortDay(last)}`;
    spans.push(span(title, first, to));
    first = to;
  }
  return spans;
}
