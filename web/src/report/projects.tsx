import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { Health } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatDay, formatNumber, pluralize } from '../format.ts';
import { healthStates } from '../projects/queries.ts';
import { type Period, useReportIssues, useTopRisks } from './queries.ts';
import { IssueTable, More, RiskTable } from './tables.tsx';

const maxRows = 5;

/** Each section reads two lists, and a key has a limited number of requests a minute. */
const maxSections = 50;

export const worstFirst = (projects: readonly Project[]) =>
  projects.toSorted(
    (a, b) =>
      healthStates.indexOf(a.health.state) - healthStates.indexOf(b.health.state) ||
      (b.counts.top_score ?? 0) - (a.counts.top_score ?? 0),
  );

/** One line per project, worst first. */
export const ProjectTable = ({ projects }: { projects: readonly Project[] }) => (
  <Card id="projects" title="Projects">
    <table className="report-table">
      <thead>
        <tr>
          <th scope="col" className="fill">
            Project
          </th>
          <th scope="col">Health</th>
          <th scope="col">Top score</th>
          <th scope="col" className="from-tablet">
            Active risks
          </th>
          <th scope="col" className="from-tablet">
            Open issues
          </th>
          <th scope="col" className="from-tablet">
            Overdue tasks
          </th>
          <th scope="col" className="from-tablet">
            Due
          </th>
        </tr>
      </thead>
      <tbody>
        {projects.map(({ id, key, name, health, counts, due_on }) => (
          <tr key={id}>
            <td>
              <Link href={`/projects/${key}`}>
                <bdi>{name}</bdi>
              </Link>
            </td>
            <td>
              <Health state={health.state} />
            </td>
            <td>{counts.top_score ?? '–'}</td>
            <td className="from-tablet">{formatNumber(counts.active_risks)}</td>
            <td className="from-tablet">{formatNumber(counts.open_issues)}</td>
            <td className="from-tablet">{formatNumber(counts.overdue_tasks)}</td>
            <td className="from-tablet day">{due_on && formatDay(due_on)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Card>
);

/** A page for each project. */
export const ProjectSections = ({ projects, period }: { projects: readonly Project[]; period: Period }) => (
  <>
    {projects.slice(0, maxSections).map((project) => (
      <ProjectSection key={project.id} project={project} since={period.since} />
    ))}
    {projects.length > maxSections && (
      <p className="quiet">
        {pluralize(projects.length - maxSections, 'more project')} without a section. Filter by project to
        include them.
      </p>
    )}
  </>
);

function ProjectSection({ project, since }: { project: Project; since: string }) {
  const { id, key, name, health, counts } = project;
  const period = { project: [key], since };
  const risks = useTopRisks(period, maxRows);
  const overdue = useReportIssues(period, { overdue: true, limit: maxRows, count: true });
  return (
    <section className="card project-section" aria-labelledby={`project-${id}`}>
      <header>
        <h2 id={`project-${id}`}>
          <Link href={`/projects/${key}`}>
            <bdi>{name}</bdi>
          </Link>{' '}
          <span className="key">{key}</span>
        </h2>
        <Health state={health.state} />
      </header>
      {health.reasons.length > 0 && (
        <ul className="health-reasons">
          {health.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <h3>Top risks</h3>
      <Loaded query={risks}>
        {({ data }) => (
          <>
            {data.length === 0 ? (
              <p className="quiet">No active risks</p>
            ) : (
              <RiskTable risks={data} since={since} />
            )}
            <More total={counts.active_risks} shown={data.length} href={`/risks?project=${key}`} />
          </>
        )}
      </Loaded>
      <h3>Overdue issues</h3>
      <Loaded query={overdue}>
        {({ data, page: { total } }) => (
          <>
            {data.length === 0 ? <p className="quiet">No overdue issues</p> : <IssueTable issues={data} />}
            <More total={total ?? 0} shown={data.length} href={`/issues?overdue=true&project=${key}`} />
          </>
        )}
      </Loaded>
    </section>
  );
}
