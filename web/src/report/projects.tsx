import { Link } from 'wouter';
import type { Project, ReportContent } from '../api/openapi.ts';
import { Health } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { HealthReasons } from '../components/health-reasons.tsx';
import { formatDay, formatNumber, pluralize } from '../format.ts';
import { listHref, type Period } from './queries.ts';
import { More, OverdueIssues, type ReportColumn, ReportTable, TopRisks } from './tables.tsx';

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

type SectionsProps = { period: Period } & ReportContent['projects'];

/** A page for each project, up to as many as a report has. */
export const ProjectSections = ({ period, total, items }: SectionsProps) => {
  const pages = items.flatMap(({ page, ...project }) => (page ? [{ project, page }] : []));
  return (
    <>
      {pages.map(({ project, page }) => (
        <ProjectSection
          key={project.id}
          project={project}
          page={page}
          period={{ ...period, project: [project.key] }}
        />
      ))}
      {total > pages.length && (
        <p className="quiet">
          {pluralize(total - pages.length, 'more project')} without a section. Filter by project to include
          them.
        </p>
      )}
    </>
  );
};

type Item = ReportContent['projects']['items'][number];
type SectionProps = { project: Omit<Item, 'page'>; page: NonNullable<Item['page']>; period: Period };

const ProjectSection = ({ project, page, period }: SectionProps) => {
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
      <TopRisks period={period} risks={page.top_risks} />
      <More
        total={counts.active_risks}
        shown={page.top_risks.length}
        href={listHref('/risks', period, { kind: 'threat' })}
      />
      <h3>Overdue issues</h3>
      <OverdueIssues period={period} {...page.overdue_issues} />
    </section>
  );
};
