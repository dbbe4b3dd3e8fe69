import { useIsFetching } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Empty } from '../components/empty.tsx';
import { useFilters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatDay, formatNumber, pluralize, today } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { useProjects } from '../projects/queries.ts';
import { Changes, Comparison, criticalIn } from './changes.tsx';
import { Decisions } from './decisions.tsx';
import { ProjectSections, ProjectTable, worstFirst } from './projects.tsx';
import {
  isDay,
  type Period,
  useComparison,
  useIssueCounts,
  useReportIssues,
  useTopRisks,
  validSince,
} from './queries.ts';
import { IssueTable, More, RiskTable } from './tables.tsx';
import './report.css';

/** The state of the portfolio on paper, for a steering committee. */
export function ReportPage() {
  const { filters, bind, set } = useFilters(['project', 'since']);
  const projects = useProjects();
  const isLoading = useIsFetching() > 0;
  const period = { project: filters.project?.split(','), since: validSince(filters.since) };
  return (
    <div className="report">
      <Title title="Report" summary={<Subject period={period} projects={projects.data ?? []} />}>
        <Button icon="print" isPending={isLoading} onPress={() => print()}>
          Print or save as PDF
        </Button>
      </Title>
      <search className="filters">
        <ProjectFilter {...bind('project')} />
        <SinceInput since={period.since} onChange={(since) => set({ since })} />
      </search>
      <Loaded query={projects}>
        {(all) => {
          const chosen = all.filter(({ key }) => !period.project || period.project.includes(key));
          if (chosen.length === 0)
            return <Empty title="No projects yet">The report needs a project with risks or issues.</Empty>;
          return <Contents projects={worstFirst(chosen)} period={period} />;
        }}
      </Loaded>
    </div>
  );
}

/** The date and the filters, which a printout can't show otherwise. */
const Subject = ({ period, projects }: { period: Period; projects: readonly Project[] }) => (
  <p className="quiet">
    {formatDay(today())} · Changes since {formatDay(period.since)} ·{' '}
    {period.project
      ? projects
          .filter(({ key }) => period.project?.includes(key))
          .map(({ name }) => name)
          .join(', ')
      : 'All projects'}
  </p>
);

type SinceProps = { since: string; onChange: (since: string) => void };

/** While a year is typed, the browser reports years such as 0002. */
function SinceInput({ since, onChange }: SinceProps) {
  const id = useId();
  const [text, setText] = useState(since);
  return (
    <span className="since">
      <label htmlFor={id}>Changes since</label>
      <input
        id={id}
        type="date"
        value={text}
        min="2000-01-01"
        max={today()}
        onChange={({ target: { value } }) => {
          setText(value);
          if (isDay(value) && value >= '2000-01-01' && value <= today()) onChange(value);
        }}
        onBlur={() => setText(since)}
      />
    </span>
  );
}

const Contents = ({ projects, period }: { projects: readonly Project[]; period: Period }) => (
  <div className="stack">
    <Headline projects={projects} period={period} />
    <TopRisks period={period} />
    <Decisions period={period} />
    <Comparison period={period} />
    <Changes period={period} />
    <OverdueIssues period={period} />
    <ProjectTable projects={projects} />
    <ProjectSections projects={projects} period={period} />
  </div>
);

/** The state of the portfolio in one sentence. */
function Headline({ projects, period }: { projects: readonly Project[]; period: Period }) {
  const { data: comparison } = useComparison(period);
  const { data: issues } = useIssueCounts(period);
  if (!comparison || !issues) return <p className="headline" />;
  const stateCount = (state: string) => projects.filter(({ health }) => health.state === state).length;
  const offTrack = stateCount('off_track');
  const critical = criticalIn(comparison.now);
  const change = critical - criticalIn(comparison.then);
  return (
    <p className="headline">
      {formatNumber(offTrack)} of {pluralize(projects.length, 'project')} {offTrack === 1 ? 'is' : 'are'} off
      track and {formatNumber(stateCount('at_risk'))} at risk; {pluralize(critical, 'critical risk')},{' '}
      {change === 0
        ? `as many as on ${formatDay(period.since)}`
        : `${formatNumber(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than on ${formatDay(period.since)}`}
      ; {formatNumber(issues.overdue)} of {pluralize(issues.total, 'open issue')} overdue.
    </p>
  );
}

const filtersIn = ({ project }: Period) => (project ? `project=${project}` : '');

function TopRisks({ period }: { period: Period }) {
  const query = useTopRisks(period, 10);
  return (
    <Card id="top-risks" title="Top risks">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">No active risks</p>
          ) : (
            <RiskTable risks={data} since={period.since} />
          )
        }
      </Loaded>
      <p className="more no-print">
        <Link href={`/risks?${filtersIn(period)}`}>View all risks</Link>
      </p>
    </Card>
  );
}

function OverdueIssues({ period }: { period: Period }) {
  const query = useReportIssues(period, { overdue: true, limit: 10, count: true });
  return (
    <Card id="overdue" title="Overdue issues">
      <Loaded query={query}>
        {({ data, page: { total } }) => (
          <>
            {data.length === 0 ? <p className="quiet">No overdue issues</p> : <IssueTable issues={data} />}
            <More total={total ?? 0} shown={data.length} href={`/issues?overdue=true&${filtersIn(period)}`} />
          </>
        )}
      </Loaded>
    </Card>
  );
}
