import { useDeferredValue, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { useIsLimited, useMay } from '../api/session.ts';
import { Health, Score, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import { Choice, FilterBar, NoMatch, Toggle, useFilters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { type Column, Table } from '../components/table.tsx';
import { day, number, plural, withWords } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { projects as projectImport } from '../imports/importables.ts';
import { Title } from '../layout/title.tsx';
import { NewProject } from './project-form.tsx';
import { healthStates, projectStatuses, useProjects } from './queries.ts';

const filterNames = ['q', 'status', 'health', 'archived'] as const;

/** All projects with their health; the list is whole, so it is filtered here. */
export function ProjectsPage() {
  const bar = useFilters(filterNames);
  const { filters, choice } = bar;
  const [params] = useSearchParams();
  const [isNew, setNew] = useState(params.has('new'));
  const may = useMay();
  const isLimited = useIsLimited();
  const query = useProjects(filters.archived === 'true' ? 'true' : 'false');
  const { health: _, ...exported } = filters;
  return (
    <>
      <Title title="Projects">
        {!filters.health && <ExportButton path="/v1/projects" filters={exported} name="projects" />}
        {may('projects.manage') && !isLimited && (
          <>
            <ImportButton among={[projectImport]} />
            <Button primary icon="plus" onPress={() => setNew(true)}>
              New project
            </Button>
          </>
        )}
      </Title>
      <FilterBar bar={bar} search="Find by name or key">
        <Choice label="Health" options={withWords(healthStates)} {...choice('health')} />
        <Choice label="Status" options={withWords(projectStatuses)} {...choice('status')} />
        <Toggle label="Archived" {...choice('archived')} />
      </FilterBar>
      <Loaded query={query}>{(projects) => <ProjectTable projects={projects} bar={bar} />}</Loaded>
      {isNew && <NewProject onClose={() => setNew(false)} />}
    </>
  );
}

type TableProps = { projects: Project[]; bar: ReturnType<typeof useFilters> };

function ProjectTable({ projects, bar: { filters, isFiltered, clear } }: TableProps) {
  const text = useDeferredValue(folded(filters.q ?? ''));
  const rows = projects.filter(
    ({ name, key, status, health }) =>
      (folded(name).includes(text) || folded(key).includes(text)) &&
      isAmong(filters.status, status) &&
      isAmong(filters.health, health.state),
  );
  if (rows.length === 0 && isFiltered) {
    return (
      <NoMatch title="No project matches" clear={clear}>
        None has all that you asked for.
      </NoMatch>
    );
  }
  if (rows.length === 0) {
    return (
      <Empty title="No project yet">
        Risks, issues and tasks live in projects. Make the first with “New project”.
      </Empty>
    );
  }
  return (
    <>
      <p className="summary-line" role="status">
        {plural(rows.length, 'project')}
      </p>
      <Table label="Projects" columns={columns} rows={rows} rowKey={({ id }) => id} />
    </>
  );
}

/** As the service compares: case and accents do not matter. */
const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const isAmong = (wanted: string | undefined, value: string) => !wanted || wanted.split(',').includes(value);

const columns: readonly Column<Project>[] = [
  { name: 'health', header: 'Health', width: 6.5, cell: ({ health }) => <Health state={health.state} /> },
  {
    name: 'name',
    header: 'Project',
    cell: ({ key, name, health }) => (
      <>
        <Link className="row-link" href={`/projects/${key}`} title={health.reasons.join('\n')}>
          <bdi>{name}</bdi>
        </Link>
        <span className="under">{health.reasons.join(' · ') || key}</span>
      </>
    ),
  },
  {
    name: 'reasons',
    header: 'Why',
    width: 18,
    from: 'desktop',
    cell: ({ health }) => (
      <span className="quiet" title={health.reasons.join('\n')}>
        {health.reasons.join(' · ')}
      </span>
    ),
  },
  {
    name: 'key',
    header: 'Key',
    width: 7,
    from: 'tablet',
    cell: ({ key }) => <span className="key">{key}</span>,
  },
  {
    name: 'status',
    header: 'Status',
    width: 7,
    from: 'tablet',
    cell: ({ status }) => <Status status={status} />,
  },
  {
    name: 'top',
    header: 'Top',
    width: 4,
    cell: ({ counts: { top_score } }) => <Score score={top_score} level={levelOf(top_score)} />,
  },
  {
    name: 'risks',
    header: 'Risks',
    width: 4.5,
    end: true,
    from: 'tablet',
    cell: ({ counts }) => number(counts.active_risks),
  },
  {
    name: 'issues',
    header: 'Issues',
    width: 4.5,
    end: true,
    from: 'tablet',
    cell: ({ counts }) => number(counts.open_issues),
  },
  { name: 'due', header: 'Due', width: 7.5, from: 'wide', cell: ({ due_on }) => due_on && day(due_on) },
];

/** The bounds of the levels are part of the API, and do not change. */
const levelOf = (score: number | null) =>
  score === null ? null : score >= 20 ? 'critical' : score >= 12 ? 'high' : score >= 6 ? 'medium' : 'low';
