import { useIsFetching } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Project, RiskSummary } from '../api/openapi.ts';
import { useHasScope, useIsLimited, useMe } from '../api/session.ts';
import { AsOfInput, AsOfNotice } from '../components/as-of.tsx';
import { healthPhrase } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { DayInput } from '../components/day-input.tsx';
import { DialogButton, DialogLoading } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { NoMatches, useFilters } from '../components/filters.tsx';
import { lazy } from '../components/lazy.tsx';
import { Loaded, Loading } from '../components/loading.tsx';
import { formatDay, formatNumber, pluralize, today } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { choosePeriod, periodSince } from '../period/period.ts';
import { PeriodMenu } from '../period/period-menu.tsx';
import { NoProjects } from '../projects/no-projects.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { useProjects, worstFirst } from '../projects/queries.ts';
import { levelLabel, useRiskModel } from '../risks/model.ts';
import { Changes } from './changes.tsx';
import { Comparison, countIn, TopRisksOfBoth } from './comparison.tsx';
import { Decisions } from './decisions.tsx';
import { ProjectSections, ProjectTable } from './projects.tsx';
import {
  dayName,
  listHref,
  type Period,
  useComparison,
  useDays,
  useIssueCounts,
  useTopRisks,
} from './queries.ts';
import { useReports } from './saved/queries.ts';
import { OverdueIssues, TopOpportunities, TopRisks } from './tables.tsx';
import { Timeline } from './timeline.tsx';
import './report.css';

const SaveReport = lazy(() => import('./saved/save.tsx'), 'SaveReport', DialogLoading);

/** The state of the portfolio on paper, for a steering committee. */
export function ReportPage() {
  const { filters, bind, set } = useFilters(['project', 'since', 'as_of']);
  const projects = useProjects();
  const { name } = useMe().organization;
  const isLoading = useIsFetching() > 0;
  const canSave = useHasScope()('projects.manage');
  const period = { project: filters.project?.split(','), ...useDays(filters.since, filters.as_of) };
  const topRisks = useTopRisks(period, 10);
  return (
    <div className="report">
      <Title
        title={name === null ? 'Steering report' : `${name}: Steering report`}
        summary={<Subject period={period} projects={projects.data ?? []} />}
      >
        {canSave && !period.asOf && (
          <DialogButton
            isDisabled={topRisks.isPending || projects.isPending}
            dialog={(onClose) => (
              <SaveReport
                period={period}
                projects={chosenOf(projects.data ?? [], period)}
                risks={topRisks.data?.data ?? []}
                onClose={onClose}
              />
            )}
          >
            Save report…
          </DialogButton>
        )}
        <Button icon="print" isPending={isLoading} onPress={() => print()}>
          Print or save as PDF
        </Button>
      </Title>
      <search className="filters no-print">
        <ProjectFilter {...bind('project')} />
        <DayInput
          label="Changes since"
          day={period.since}
          max={period.asOf ?? today()}
          onChange={(since) => {
            choosePeriod(since);
            // Also in the URL, so that others see the same report.
            set({ since });
          }}
        />
        <PeriodMenu
          {...(filters.since && { shown: periodSince(period.since) })}
          onChoose={() => set({ since: null })}
        />
        <AsOfInput value={period.asOf} onChange={(as_of) => set({ as_of })} />
      </search>
      <SavedReports />
      {period.asOf && (
        <AsOfNotice day={period.asOf} onToday={() => set({ as_of: null })}>
          Only the risk register is known for earlier days, so issues, tasks, decisions and project health are
          left out.
        </AsOfNotice>
      )}
      <Loaded query={projects}>
        {(all) => {
          const chosen = chosenOf(all, period);
          if (all.length === 0) return <NoProjects />;
          if (chosen.length === 0)
            return <NoMatches title="No projects match these filters" clear={() => set({ project: null })} />;
          return <Contents projects={worstFirst(chosen)} period={period} />;
        }}
      </Loaded>
    </div>
  );
}

const chosenOf = (projects: readonly Project[], { project }: Period) =>
  projects.filter(({ key }) => !project || project.includes(key));

/** The date and the filters, which a printout can't show otherwise. */
function Subject({ period, projects }: { period: Period; projects: readonly Project[] }) {
  const isLimited = useIsLimited();
  const names = projects.filter(({ key }) => period.project?.includes(key)).map(({ name }) => name);
  const all = isLimited ? 'All projects you can see' : 'All projects';
  return (
    <p className="quiet">
      {formatDay(period.asOf ?? today())} · Changes since {formatDay(period.since)} ·{' '}
      {period.project ? names.join(', ') : all}
    </p>
  );
}

type Props = { projects: readonly Project[]; period: Period };

const Contents = (props: Props) => (props.period.asOf ? <EarlierDay {...props} /> : <Today {...props} />);

const Today = ({ projects, period }: Props) => (
  <div className="stack">
    <Headline projects={projects} period={period} />
    <Card id="top-risks" title="Top risks">
      <TopRisks period={period} limit={10} />
      <p className="more no-print">
        <Link href={listHref('/risks', period, { kind: 'threat' })}>View all risks</Link>
      </p>
    </Card>
    <TopOpportunities period={period} />
    <Decisions period={period} />
    <Timeline projects={projects} period={period} />
    <Comparison period={period} />
    <Changes period={period} />
    <Card id="overdue" title="Overdue issues">
      <OverdueIssues period={period} limit={10} />
    </Card>
    <ProjectTable projects={projects} />
    <ProjectSections projects={projects} period={period} />
  </div>
);

/** Only the risk register can be read as of an earlier day. */
const EarlierDay = ({ period }: Props) => (
  <div className="stack">
    <Loaded query={useComparison(period)}>
      {({ before, after }) =>
        before.total === 0 && after.total === 0 ? (
          <Empty title={`No risks on ${dayName(period)}`}>
            The register had no active risks at the end of that day, nor on {formatDay(period.since)}.
          </Empty>
        ) : (
          <>
            <RegisterHeadline comparison={{ before, after }} period={period} />
            <TopRisksOfBoth period={period} limit={10} />
            <Comparison period={period} />
          </>
        )
      }
    </Loaded>
    <Changes period={period} />
  </div>
);

type Registers = { before: RiskSummary; after: RiskSummary };

const RegisterHeadline = ({ comparison, period }: { comparison: Registers; period: Period }) => (
  <p className="headline">
    On {dayName(period)}, {pluralize(comparison.after.total, 'risk')}{' '}
    {comparison.after.total === 1 ? 'was' : 'were'} active;{' '}
    <CriticalRisks comparison={comparison} since={period.since} />.
  </p>
);

type CriticalProps = { comparison: Registers; since: string };

/** How many risks are critical, and how many more that is than before. */
function CriticalRisks({ comparison: { before, after }, since }: CriticalProps) {
  const { data: model } = useRiskModel();
  const critical = countIn(after, 'critical');
  const change = critical - countIn(before, 'critical');
  return (
    <>
      {pluralize(critical, `${levelLabel(model, 'critical').toLowerCase()} risk`)},{' '}
      {change === 0
        ? `unchanged since ${formatDay(since)}`
        : `${formatNumber(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than on ${formatDay(since)}`}
    </>
  );
}

function HealthOf({ projects }: { projects: readonly Project[] }) {
  const [first, ...others] = projects;
  if (first && others.length === 0) {
    return (
      <>
        <bdi>{first.name}</bdi> {healthPhrase(first)}
      </>
    );
  }
  const stateCount = (state: string) => projects.filter(({ health }) => health.state === state).length;
  const offTrack = stateCount('off_track');
  return (
    <>
      {formatNumber(offTrack)} of {pluralize(projects.length, 'project')} {offTrack === 1 ? 'is' : 'are'} off
      track and {formatNumber(stateCount('at_risk'))} at risk
    </>
  );
}

/** The state of the portfolio in one sentence. */
function Headline({ projects, period }: Props) {
  const comparison = useComparison(period);
  const issues = useIssueCounts(period);
  if (comparison.isPending || issues.isPending) return <Loading />;
  if (!comparison.data || !issues.data) return null;
  return (
    <p className="headline">
      <HealthOf projects={projects} />; <CriticalRisks comparison={comparison.data} since={period.since} />;{' '}
      {formatNumber(issues.data.overdue)} of {pluralize(issues.data.total, 'open issue')} overdue.
    </p>
  );
}

/** Links to the reports that were saved. */
function SavedReports() {
  const { data: reports = [] } = useReports();
  if (reports.length === 0) return null;
  return (
    <details className="saved-reports no-print">
      <summary>{pluralize(reports.length, 'saved report')}</summary>
      <ul>
        {reports.map(({ id, title, day, author_name }) => (
          <li key={id}>
            <Link href={`/reports/${id}`}>
              <bdi>{title}</bdi>
            </Link>{' '}
            <span className="quiet">
              {formatDay(day)} · <bdi>{author_name}</bdi>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
