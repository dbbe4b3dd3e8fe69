import { useDeferredValue, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { Health, Score, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import {
  FilterBar,
  FilterMenu,
  type FilterState,
  FilterToggle,
  NoMatches,
  useFilters,
} from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { type Column, Table } from '../components/table.tsx';
import { enumOptions, formatDay, formatNumber, pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { projectImport } from '../imports/targets.ts';
import { Title } from '../layout/title.tsx';
import { NewProject } from './project-form.tsx';
import { healthStates, projectStatuses, useProjects } from './queries.ts';

const filterNames = ['q', 'status', 'health', 'archived'] as const;

/** All projects with their health. The list is complete, so it is filtered in the browser. */
export function ProjectsPage() {
  const filterState = useFilters(filterNames);
  const { filters, bind } = filterState;
  const [params] = useSearchParams();
  const [isCreating, setCreating] = useState(params.has('new'));
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const query = useProjects(filters.archived === 'true' ? 'true' : 'false');
  const { health: _, ...exported } = filters;
  return (
    <>
      <Title title="Projects">
        {!filters.health && <ExportButton path="/v1/projects" filters={exported} name="projects" />}
        {hasScope('projects.manage') && !isLimited && (
          <>
            <ImportButton targets={[projectImport]} />
            <Button primary icon="plus" onPress={() => setCreating(true)}>
              Create project
            </Button>
          </>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by name or key">
        <FilterMenu label="Health" options={enumOptions(healthStates)} {...bind('health')} />
        <FilterMenu label="Status" options={enumOptions(projectStatuses)} {...bind('status')} />
        <FilterToggle label="Archived" {...bind('archived')} />
      </FilterBar>
      <Loaded query={query}>
        {(projects) => <ProjectTable projects={projects} filterState={filterState} />}
      </Loaded>
      {isCreating && <NewProject onClose={() => setCreating(false)} />}
    </>
  );
}

type TableProps = { projects: Project[]; filterState: FilterState };

function ProjectTable({ projects, filterState: { filters, isFiltered, clear } }: TableProps) {
  const text = useDeferredValue(fold(filters.q ?? ''));
  const rows = projects.filter(
    ({ name, key, status, health }) =>
      (fold(name).includes(text) || fold(key).includes(text)) &&
      matchesFilter(filters.status, status) &&
      matchesFilter(filters.health, health.state),
  );
  if (rows.length === 0 && isFiltered) {
    return <NoMatches title="No projects match these filters" clear={clear} />;
  }
  if (rows.length === 0) {
    return <Empty title="No projects yet">Create a project, then add risks, issues and tasks to it.</Empty>;
  }
  return (
    <>
      <p className="summary-line" role="status">
        {pluralize(rows.length, 'project')}
      </p>
      <Table label="Projects" columns={columns} rows={rows} rowKey={({ id }) => id} />
    </>
  );
}

/** Ignores case and accents, like the service's search. */
const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const matchesFilter = (filter: string | undefined, value: string) =>
  !filter || filter.split(',').includes(value);

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
        <span className="secondary-line">{health.reasons.join(' · ') || key}</span>
      </>
    ),
  },
  {
    name: 'reasons',
    header: 'Reasons',
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
    header: 'Top score',
    width: 5.5,
    cell: ({ counts: { top_score } }) => <Score score={top_score} level={levelOf(top_score)} />,
  },
  {
    name: 'risks',
    header: 'Risks',
    width: 4.5,
    end: true,
    from: 'tablet',
    cell: ({ counts }) => formatNumber(counts.active_risks),
  },
  {
    name: 'issues',
    header: 'Issues',
    width: 4.5,
    end: true,
    from: 'tablet',
    cell: ({ counts }) => formatNumber(counts.open_issues),
  },
  { name: 'due', header: 'Due', width: 7.5, from: 'wide', cell: ({ due_on }) => due_on && formatDay(due_on) },
];

/** The bounds of the levels are part of the API and never change. */
const levelOf = (score: number | null) =>
  score === null ? null : score >= 20 ? 'critical' : score >= 12 ? 'high' : score >= 6 ? 'medium' : 'low';
