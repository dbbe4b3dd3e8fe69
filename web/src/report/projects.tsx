import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { Health } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { HealthReasons } from '../components/health-reasons.tsx';
import { formatDay, formatNumber, pluralize } from '../format.ts';
import { listHref, type Period } from './queries.ts';
import { More, OverdueIssues, type ReportColumn, ReportTable, TopRisks } from './tables.tsx';

const maxRows = 5;

/** Each section reads two lists, and a key has a limited number of requests a minute. */
const maxSections = 50;

const count = (header: string, of: (project: Project) => number): ReportColumn<Project> => ({
  header,
  className: 'from-tablet',
  cell: (project) => formatNumber(of(project)),
});

const columns: readonly ReportColumn<Project>[] = [
  {
    header: 'Project',
    className: 'fill',
    cell: ({ key, name }) => (
      <Link href={`/projects/${key}`}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  { header: 'Health', cell: ({ health }) => <Health state={health.state} /> },
  { header: 'Top score', cell: ({ counts }) => counts.top_score ?? '–' },
  count('Active risks', ({ counts }) => counts.active_risks),
  count('Open issues', ({ counts }) => counts.open_issues),
  count('Overdue tasks', ({ counts }) => counts.overdue_tasks),
  { header: 'Due', className: 'from-tablet day', cell: ({ due_on }) => due_on && formatDay(due_on) },
];

/** One line per project, worst first. */
export const ProjectTable = ({ projects }: { projects: readonly Project[] }) => (
  <Card id="projects" title="Projects">
    <ReportTable columns={columns} rows={projects} rowKey={({ id }) => id} />
  </Card>
);

/** A page for each project. */
export const ProjectSections = ({ projects, period }: { projects: readonly Project[]; period: Period }) => (
  <>
    {projects.slice(0, maxSections).map((project) => (
      <ProjectSection key={project.id} project={project} period={{ ...period, project: [project.key] }} />
    ))}
    {projects.length > maxSections && (
      <p className="quiet">
        {pluralize(projects.length - maxSections, 'more project')} without a section. Filter by project to
        include them.
      </p>
    )}
  </>
);

const ProjectSection = ({ project, period }: { project: Project; period: Period }) => {
  const { id, key, name, health, counts } = project;
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
      <HealthReasons health={health} />
      <h3>Top risks</h3>
      <TopRisks period={period} limit={maxRows} />
      <More
        total={counts.active_risks}
        shown={maxRows}
        href={listHref('/risks', period, { kind: 'threat' })}
      />
      <h3>Overdue issues</h3>
      <OverdueIssues period={period} limit={maxRows} />
    </section>
  );
};
