import { Link } from 'wouter';
import type { Project, ReportContent } from '../api/openapi.ts';
import { Card } from '../components/card.tsx';
import { daysFromToday, formatDay, formatNumber, today } from '../format.ts';
import {
  countDates,
  type DateCount,
  type DateKind,
  type Days,
  type DueDate,
  dateKinds,
  datesHref,
  listOf,
  personOf,
  type Span,
  spansOf,
  sumOf,
  timelineDays,
} from './dates.ts';
import type { Period } from './queries.ts';
import { ItemGroup, ItemName, type ReportColumn, ReportTable } from './tables.tsx';

const countColumn = (kind: DateKind, period: Period): ReportColumn<Span> => ({
  header: dateKinds[kind],
  className: 'from-tablet',
  cell: (span) => {
    const count = sumOf(span.dates.filter((date) => date.kind === kind));
    if (count === 0) return '–';
    return <Link href={datesHref(kind, span, period)}>{formatNumber(count)}</Link>;
  },
});

/** The widths are relative to the fullest span. */
const columnsOf = (max: number, period: Period): ReportColumn<Span>[] => [
  {
    header: 'Week',
    className: 'day',
    cell: ({ title, isOverdue }) => <span className={isOverdue ? 'overdue' : undefined}>{title}</span>,
  },
  ...(Object.keys(dateKinds) as DateKind[]).map((kind) => countColumn(kind, period)),
  {
    header: 'All',
    className: 'load',
    cell: ({ total, isOverdue }) => (
      <span className="load-bar">
        <span
          className={isOverdue ? 'bar overdue-bar' : 'bar'}
          style={{ width: `${(100 * total) / max}%` }}
        />
        {formatNumber(total)}
      </span>
    ),
  },
  {
    header: 'Projects due',
    className: 'from-tablet',
    cell: ({ projects }) =>
      projects.map(({ id, key, name }) => (
        <Link key={id} className="project-due" href={`/projects/${key}`} title={name}>
          {key}
        </Link>
      )),
  },
];

type Props = { projects: readonly Project[]; period: Period; dates: ReportContent['dates'] };

/** What is overdue, and what is due in the next 90 days. */
export function Timeline({ projects, period, dates: { overdue, next, first_overdue, first_next } }: Props) {
  const soon = { from: today(), to: daysFromToday(14) };
  const past = overdue.map((count) => ({ ...count, day: '' }));
  const spans = spansOf([...past, ...next], projects);
  const max = Math.max(1, ...spans.map(({ total }) => total));
  return (
    <Card id="timeline" title={`Due in the next ${timelineDays} days`}>
      <div className="changes">
        <DateList
          title="Overdue"
          dates={first_overdue}
          counts={past}
          days={{ from: '', to: today() }}
          period={period}
        />
        <DateList
          title="Next 14 days"
          dates={first_next}
          counts={next.filter(({ day }) => day < soon.to)}
          days={soon}
          period={period}
        />
      </div>
      <ReportTable isCounts columns={columnsOf(max, period)} rows={spans} rowKey={({ title }) => title} />
    </Card>
  );
}

type ListProps = {
  title: string;
  dates: readonly DueDate[];
  counts: readonly DateCount[];
  days: Days;
  period: Period;
};

/** The first dates of some days. They are in several lists, so each kind has its own link to the others. */
const DateList = ({ title, dates, counts, days, period }: ListProps) => (
  <ItemGroup
    title={title}
    total={sumOf(counts)}
    shown={dates.length}
    more={
      <>
        All:{' '}
        {countDates(counts).map(({ kind, count }, index) => (
          <span key={kind}>
            {index > 0 && ' · '}
            <KindLink kind={kind} count={count} days={days} period={period} />
          </span>
        ))}
      </>
    }
  >
    {dates.map((date) => (
      <li key={`${date.kind} ${date.key}`}>
        <span className={date.day < today() ? 'overdue day' : 'day'}>{formatDay(date.day)}</span>{' '}
        <ItemName list={listOf[date.kind]} item={date} />{' '}
        <span className="quiet">
          · {dateKinds[date.kind]} · <bdi>{personOf(date)}</bdi>
        </span>
      </li>
    ))}
  </ItemGroup>
);

type LinkProps = { kind: DateKind; count: number; days: Days; period: Pick<Period, 'project'> };

/** `Risk due 3`, with a link to them. */
export const KindLink = ({ kind, count, days, period }: LinkProps) => (
  <Link href={datesHref(kind, days, period)}>
    {dateKinds[kind]} {formatNumber(count)}
  </Link>
);
