import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { IssueSummary, Project, RankedRisk } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Health, healthPhrase, Movement, Score } from '../components/badges.tsx';
import { Bars } from '../components/bars.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { HealthReasonsLine, HealthRules, healthStates } from '../components/health-reasons.tsx';
import { lazy } from '../components/lazy.tsx';
import { Loaded, Loading } from '../components/loading.tsx';
import { daysFromToday, formatNumber, humanize, pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { type Period, usePeriod } from '../period/period.ts';
import { PeriodMenu } from '../period/period-menu.tsx';
import { NoProjects } from '../projects/no-projects.tsx';
import { useProjects, worstFirst } from '../projects/queries.ts';
import { HeatMap } from '../risks/heat-map.tsx';
import { levelLabel, useRiskModel } from '../risks/model.ts';
import { useHeatMap, useRisks } from '../risks/queries.ts';
import { Activity } from './activity.tsx';
import { Exposure, RiskTiles, useRiskChange } from './exposure.tsx';
import { WithGuide } from './guide.tsx';
import './overview.css';

/** Its code loads after the page's, which does not wait for it. */
const Upcoming = lazy(() => import('./upcoming.tsx'), 'Upcoming');

/** The health of the portfolio. Every number links to the list it counts. */
export function OverviewPage() {
  const projects = useProjects();
  return (
    <>
      <Title title="Overview">{projects.data?.length !== 0 && <PeriodMenu />}</Title>
      <Loaded query={projects}>
        {(all) => {
          const page = all.length === 0 ? <NoProjects /> : <Portfolio projects={all} />;
          return <WithGuide projects={all} page={page} />;
        }}
      </Loaded>
    </>
  );
}

function Portfolio({ projects }: { projects: Project[] }) {
  const hasScope = useHasScope();
  return (
    <div className="overview">
      <Headline projects={projects} />
      <RiskTiles opportunities={projects.reduce((sum, { counts }) => sum + counts.opportunities, 0)} />
      <ProjectHealth projects={projects} />
      <TopRisks />
      <Matrix unassessed={projects.reduce((sum, { counts }) => sum + counts.unassessed_risks, 0)} />
      <OpenIssues />
      <Exposure />
      <Upcoming projects={projects} />
      {hasScope('events.read') && <Activity projects={projects} />}
    </div>
  );
}

/** The state of the portfolio in one sentence. */
function Headline({ projects }: { projects: Project[] }) {
  const { data: issues } = useIssueSummary();
  const { now, before } = useRiskChange();
  const period = usePeriod();
  const { data: model } = useRiskModel();
  if (!issues || !now || !before) return <p className="headline" />;
  const critical = levelLabel(model, 'critical').toLowerCase();
  return (
    <p className="headline">
      <HealthOf projects={projects} />;{' '}
      <Link href="/risks?kind=threat&level=critical">{pluralize(now.critical, `${critical} risk`)}</Link>,{' '}
      {comparison(now.critical - before.critical, period)};{' '}
      <Link href="/issues?overdue=true">{pluralize(issues.data.overdue, 'issue')} overdue</Link>.
    </p>
  );
}

function HealthOf({ projects }: { projects: Project[] }) {
  const [first, ...others] = projects;
  if (first && others.length === 0) {
    return (
      <>
        <Link href={`/projects/${first.key}`}>
          <bdi>{first.name}</bdi>
        </Link>{' '}
        {healthPhrase(first)}
      </>
    );
  }
  const offTrack = projects.filter(({ health }) => health.state === 'off_track').length;
  return (
    <>
      <Link href="/projects?health=off_track">
        {formatNumber(offTrack)} of {pluralize(projects.length, 'project')}
      </Link>{' '}
      {offTrack === 1 ? 'is' : 'are'} off track
    </>
  );
}

const comparison = (difference: number, { within, start }: Period) => {
  if (difference === 0) return `unchanged ${within}`;
  return `${formatNumber(Math.abs(difference))} ${difference > 0 ? 'more' : 'fewer'} than ${start}`;
};

function ProjectHealth({ projects }: { projects: Project[] }) {
  const worst = worstFirst(projects).filter(({ health }) => ['off_track', 'at_risk'].includes(health.state));
  return (
    <section className="card project-health" aria-labelledby="project-health">
      <h2 id="project-health">Project health</h2>
      <ul className="tiles">
        {healthStates.map((state) => (
          <li key={state}>
            <Link href={`/projects?health=${state}`}>
              <strong>{formatNumber(projects.filter(({ health }) => health.state === state).length)}</strong>
              <Health state={state} />
            </Link>
          </li>
        ))}
      </ul>
      <ul className="reasons">
        {worst.slice(0, 5).map(({ id, key, name, health }) => (
          <li key={id}>
            <Link href={`/projects/${key}`} className={`health health-${health.state}`}>
              <bdi>{name}</bdi>
              <span className="visually-hidden">, {humanize(health.state)}</span>
            </Link>
            <p>
              <HealthReasonsLine health={health} />
            </p>
          </li>
        ))}
      </ul>
      <HealthRules />
      {worst.length > 5 && (
        <Link className="view-all" href="/projects?health=off_track,at_risk">
          View {pluralize(worst.length, 'project')}
        </Link>
      )}
    </section>
  );
}

function TopRisks() {
  const risks = useRisks({ kind: 'threat' }, { limit: 10, isCounted: false });
  const { since, within } = usePeriod();
  return (
    <section className="card top-risks" aria-labelledby="top-risks">
      <header>
        <h2 id="top-risks">Top 10 risks</h2>
        <span className="quiet">Score change {within}</span>
      </header>
      {risks.isError && <ErrorNotice error={risks.error} retry={() => risks.refetch()} />}
      {risks.isPending && <Loading />}
      {risks.firstPage && risks.rows.length === 0 && <p className="quiet">No active risks</p>}
      <ol className="ranking">
        {risks.rows.map((risk) => (
          <TopRisk key={risk.id} risk={risk} since={since} />
        ))}
      </ol>
      <Link className="view-all" href="/risks?kind=threat">
        View all risks
      </Link>
    </section>
  );
}

const TopRisk = ({ risk, since }: { risk: RankedRisk; since: string }) => (
  <li>
    <span className="rank">{risk.rank}</span>
    <Score {...risk} />
    <Link href={`/risks/${risk.key}`}>
      <bdi>{risk.title}</bdi>
    </Link>
    <span className="key">{risk.key}</span>
    <Movement risk={risk} since={since} />
  </li>
);

function Matrix({ unassessed }: { unassessed: number }) {
  const query = useHeatMap({ kind: 'threat' });
  return (
    <section className="card matrix" aria-labelledby="matrix">
      <header>
        <h2 id="matrix">Risk matrix</h2>
        <Link href="/risks?kind=threat&assessed=false">{formatNumber(unassessed)} not assessed</Link>
      </header>
      <Loaded query={query}>
        {({ data }) => (
          <HeatMap
            cells={data}
            hrefOf={({ probability, impact }) =>
              `/risks?kind=threat&probability=${probability}&impact=${impact}`
            }
          />
        )}
      </Loaded>
    </section>
  );
}

const useIssueSummary = () =>
  useQuery({
    queryKey: ['issues', 'summary'],
    queryFn: () => dataOrThrow(api.GET('/v1/issues/summary')),
  });

function OpenIssues() {
  const query = useIssueSummary();
  return (
    <section className="card issues" aria-labelledby="open-issues">
      <Loaded query={query}>
        {({ data }) => (
          <>
            <header>
              <h2 id="open-issues">
                <Link href="/issues">{pluralize(data.total, 'open issue')}</Link>
              </h2>
              <Link href="/issues?overdue=true">{formatNumber(data.overdue)} overdue</Link>
            </header>
            <div className="two">
              <div>
                <h3>By severity</h3>
                <Bars
                  bars={data.by_severity.map(({ severity, count }) => ({
                    label: humanize(severity),
                    count,
                    href: `/issues?severity=${severity}`,
                    level: severity,
                  }))}
                />
              </div>
              <div>
                <h3>By age</h3>
                <Bars
                  bars={data.by_age.map(({ age, count }) => ({
                    label: humanize(age).replace('-', '–'),
                    count,
                    href: `/issues?${ageFilters[age]()}`,
                  }))}
                />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </section>
  );
}

/** The filters that select the issues of an age group. */
const ageFilters: Record<IssueSummary['by_age'][number]['age'], () => string> = {
  '0-7 days': () => `raised_since=${daysFromToday(-7)}`,
  '8-30 days': () => `min_age_days=8&raised_since=${daysFromToday(-30)}`,
  '31-90 days': () => `min_age_days=31&raised_since=${daysFromToday(-90)}`,
  'over 90 days': () => 'min_age_days=91',
};
