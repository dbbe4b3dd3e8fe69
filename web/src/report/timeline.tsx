import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { daysFromToday, formatDay, formatNumber, today } from '../format.ts';
import {
  countDates,
  type DateKind,
  type Days,
  type DueDate,
  dateKinds,
  datesHref,
  type Span,
  spansOf,
  timelineDays,
  useDueDates,
} from './dates.ts';
import type { Period } from './queries.ts';
import { ItemGroup, ItemName, type ReportColumn, ReportTable } from './tables.tsx';

const maxShown = 8;

const countColumn = (kind: DateKind, period: Period): ReportColumn<Span> => ({
  header: dateKinds[kind],
  className: 'from-tablet',
  cell: (span) => {
    const count = span.dates.filter((date) => date.kind === kind).length;
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
    cell: ({ dates, isOverdue }) => (
      <span className="load-bar">
        <span
          className={isOverdue ? 'bar overdue-bar' : 'bar'}
          style={{ width: `${(100 * dates.length) / max}%` }}
        />
        {formatNumber(dates.length)}
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

/** What is overdue, and what is due in the next 90 days. */
export function Timeline({ projects, period }: { projects: readonly Project[]; period: Period }) {
  const soon = daysFromToday(14);
  return (
    <Card id="timeline" title={`Due in the next ${timelineDays} days`}>
      <Loaded query={useDueDates(period)}>
        {({ dates, isComplete }) => {
          const spans = spansOf(dates, projects);
          const max = Math.max(1, ...spans.map((span) => span.dates.length));
          return (
            <>
              <div className="changes">
                <DateList title="Overdue" dates={dates} days={{ from: '', to: today() }} period={period} />
                <DateList
                  title="Next 14 days"
                  dates={dates}
                  days={{ from: today(), to: soon }}
                  period={period}
                />
              </div>
              <ReportTable
                isCounts
                columns={columnsOf(max, period)}
                rows={spans}
                rowKey={({ title }) => title}
              />
              {!isComplete && (
                <p className="notice">
                  There are so many entries that some are left out. Choose fewer projects.
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

type ListProps = { title: string; dates: readonly DueDate[]; days: Days; period: Period };

/** The first dates of some days. They are in several lists, so each kind has its own link to the others. */
function DateList({ title, dates: all, days, period }: ListProps) {
  const dates = all.filter(({ day }) => day >= days.from && day < days.to);
  return (
    <ItemGroup
      title={title}
      total={dates.length}
      shown={maxShown}
      more={
        <>
          All:{' '}
          {countDates(dates).map(({ kind, count }, index) => (
            <span key={kind}>
              {index > 0 && ' · '}
              <KindLink kind={kind} count={count} days={days} period={period} />
            </span>
          ))}
        </>
      }
    >
      {dates.slice(0, maxShown).map(({ day, kind, list, key, title: name, person }) => (
        <li key={`${kind} ${key}`}>
          <span className={day < today() ? 'overdue day' : 'day'}>{formatDay(day)}</span>{' '}
          <ItemName list={list} item={{ key, title: name }} />{' '}
          <span className="quiet">
            · {dateKinds[kind]} · <bdi>{person ?? (list === 'risks' ? 'No owner' : 'Unassigned')}</bdi>
          </span>
        </li>
      ))}
    </ItemGroup>
  );
}

type LinkProps = { kind: DateKind; count: number; days: Days; period: Pick<Period, 'project'> };

/** `Risk due 3`, with a link to them. */
export const KindLink = ({ kind, count, days, period }: LinkProps) => (
  <Link href={datesHref(kind, days, period)}>
    {dateKinds[kind]} {formatNumber(count)}
  </Link>
);
