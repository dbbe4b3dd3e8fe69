import { useIsFetching } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
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
import { Loaded } from '../components/loading.tsx';
import { formatDay, formatNumber, pluralize, today } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { choosePeriod, periodSince } from '../period/period.ts';
import { PeriodMenu } from '../period/period-menu.tsx';
import { NoProjects } from '../projects/no-projects.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { useProjects, worstFirst } from '../projects/queries.ts';
import { levelLabel, useRiskModel } from '../risks/model.ts';
import { Changes, IssueChanges } from './changes.tsx';
import { Comparison, countIn, TopRisksOfBoth } from './comparison.tsx';
import { Decisions } from './decisions.tsx';
import { ProjectSections, ProjectTable } from './projects.tsx';
import {
  dayName,
  listHref,
  type Period,
  type Registers,
  useDays,
  useRegisters,
  useReportContent,
  useRiskChanges,
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
  const content = useReportContent(period);
  return (
    <div className="report">
      <Title
        title={name === null ? 'Steering report' : `${name}: Steering report`}
        summary={<Subject period={period} projects={projects.data ?? []} />}
      >
        {canSave && !period.asOf && (
          <DialogButton
            isDisabled={content.isPending || projects.isPending}
            dialog={(onClose) => (
              <SaveReport
                period={period}
                projects={chosenOf(projects.data ?? [], period)}
                risks={content.data?.top_risks ?? []}
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
  <Loaded query={useReportContent(period)}>
    {(content) => (
      <div className="stack">
        <p className="headline">
          <HealthOf projects={projects} />; <CriticalRisks register={content.register} since={period.since} />
          ; {formatNumber(content.issues.overdue)} of {pluralize(content.issues.open, 'open issue')} overdue.
        </p>
        <Card id="top-risks" title="Top risks">
          <TopRisks period={period} risks={content.top_risks} />
          <p className="more no-print">
            <Link href={listHref('/risks', period, { kind: 'threat' })}>View all risks</Link>
          </p>
        </Card>
        <TopOpportunities period={period} risks={content.opportunities} />
        <Decisions period={period} content={content} />
        <Timeline projects={projects} period={period} dates={content.dates} />
        <Comparison period={period} register={content.register} />
        <Changes period={period} register={content.register} changes={content.changes}>
          <IssueChanges period={period} changes={content.changes} />
        </Changes>
        <Card id="overdue" title="Overdue issues">
          <OverdueIssues period={period} {...content.overdue_issues} />
        </Card>
        <ProjectTable projects={projects} />
        <ProjectSections period={period} {...content.projects} />
      </div>
    )}
  </Loaded>
);

/** Only the risk register can be read as of an earlier day. */
const EarlierDay = ({ period }: Props) => (
  <Loaded query={useRegisters(period)}>
    {(register) => (
      <div className="stack">
        {register.before.total === 0 && register.after.total === 0 ? (
          <Empty title={`No risks on ${dayName(period)}`}>
            The register had no active risks at the end of that day, nor on {formatDay(period.since)}.
          </Empty>
        ) : (
          <>
            <RegisterHeadline register={register} period={period} />
            <TopRisksOfBoth period={period} limit={10} />
            <Comparison period={period} register={register} />
          </>
        )}
        <EarlierChanges period={period} register={register} />
      </div>
    )}
  </Loaded>
);

type RegisterProps = { register: Registers; period: Period };

const EarlierChanges = ({ period, register }: RegisterProps) => (
  <Loaded query={useRiskChanges(period)}>
    {({ isComplete, ...changes }) => (
      <Changes period={period} register={register} changes={changes} isComplete={isComplete} />
    )}
  </Loaded>
);

const RegisterHeadline = ({ register, period }: RegisterProps) => (
  <p className="headline">
    On {dayName(period)}, {pluralize(register.after.total, 'risk')}{' '}
    {register.after.total === 1 ? 'was' : 'were'} active;{' '}
    <CriticalRisks register={register} since={period.since} />.
  </p>
);

type CriticalProps = { register: Registers; since: string };

/** How many risks are critical, and how many more that is than before. */
function CriticalRisks({ register: { before, after }, since }: CriticalProps) {
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
