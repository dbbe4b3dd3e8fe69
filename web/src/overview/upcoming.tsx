import { useEffect, useRef, useState } from 'react';
import { Button, DialogTrigger, Popover } from 'react-aria-components';
import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { Loaded } from '../components/loading.tsx';
import { notToScale, scaleOf } from '../components/scale.ts';
import { formatDay, formatNumber, pluralize, today } from '../format.ts';
import {
  countDates,
  type DueDate,
  dateKinds,
  listOf,
  personOf,
  type Span,
  spansOf,
  useDueDates,
} from '../report/dates.ts';
import { KindLink } from '../report/timeline.tsx';
import './upcoming.css';

const maxShown = 6;

type Props = { projects: readonly Project[] };

/**
 * What is overdue and what is due or reviewed in the next weeks, as a chart, and the next dates. It reads many rows, so it
 * loads only when it is scrolled into view.
 */
export function Upcoming({ projects }: Props) {
  const card = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
    );
    if (card.current) observer.observe(card.current);
    return () => observer.disconnect();
  }, []);
  return (
    <section ref={card} className="card upcoming" aria-labelledby="upcoming">
      <header>
        <h2 id="upcoming">Due and review dates</h2>
        <Link href="/report#timeline">View in report</Link>
      </header>
      {isSeen && <Dates projects={projects} />}
    </section>
  );
}

const Dates = ({ projects }: Props) => (
  <Loaded query={useDueDates()}>
    {({ dates, isComplete }) => (
      <>
        <Weeks
          spans={spansOf(
            dates.map((date) => ({ ...date, count: 1 })),
            projects,
          )}
        />
        <h3>Next dates</h3>
        <NextDates dates={dates.filter(({ day }) => day >= today()).slice(0, maxShown)} />
        {!isComplete && (
          <p className="hint">There are so many entries that some are left out of the chart.</p>
        )}
      </>
    )}
  </Loaded>
);

function Weeks({ spans }: { spans: readonly Span[] }) {
  const { max, isCut } = scaleOf(spans.map(({ total }) => total));
  return (
    <ol className="weeks">
      {spans.map((span) => (
        <li
          key={span.title}
          title={isCut(span.total) ? `${describe(span)}. ${notToScale}` : describe(span)}
          className={span.isOverdue ? 'overdue' : undefined}
        >
          <Week span={span} max={max} isCut={isCut(span.total)} />
        </li>
      ))}
    </ol>
  );
}

type WeekProps = { span: Span; max: number; isCut: boolean };

/** A bar that opens the links to its dates, which are in several lists. */
const Week = ({ span, max, isCut }: WeekProps) => (
  <DialogTrigger>
    <Button className="week" isDisabled={span.total === 0}>
      <span className="visually-hidden">{describe(span)}</span>
      <span aria-hidden="true">{formatNumber(span.total)}</span>
      <span
        aria-hidden="true"
        className={isCut ? 'week-bar cut' : 'week-bar'}
        style={{ height: `${Math.min(6, (6 * span.total) / max)}rem` }}
      />
      <span aria-hidden="true" className="cut-off">
        {span.title.split(' – ')[0]}
      </span>
    </Button>
    <Popover className="popover week-links" placement="top" aria-label={span.title}>
      <h3>{span.title}</h3>
      {countDates(span.dates).map(({ kind, count }) => (
        <KindLink key={kind} kind={kind} count={count} days={span} period={{ project: undefined }} />
      ))}
    </Popover>
  </DialogTrigger>
);

/** `16 Nov – 22 Nov: 3 (Risk due 1, Task due 2)`. */
function describe({ title, dates, total, projects }: Span): string {
  const counts = countDates(dates).map(({ kind, count }) => `${dateKinds[kind]} ${formatNumber(count)}`);
  const due = projects.length > 0 ? [`${pluralize(projects.length, 'project')} due`] : [];
  const parts = [...counts, ...due];
  return `${title}: ${formatNumber(total)}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

const NextDates = ({ dates }: { dates: readonly DueDate[] }) =>
  dates.length === 0 ? (
    <p className="quiet">Nothing due in the next 90 days</p>
  ) : (
    <ul className="lines">
      {dates.map(({ day, kind, key, title, person }) => (
        <li key={`${kind} ${key}`}>
          <span className="upcoming-day">{formatDay(day)}</span>
          <Link className="grow" href={`/${listOf[kind]}/${key}`}>
            <bdi>{title}</bdi>
          </Link>
          <span className="key">{key}</span>
          <span className="quiet upcoming-kind">{dateKinds[kind]}</span>
          <span className="quiet upcoming-person cut-off">
            <bdi>{personOf({ kind, person })}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
