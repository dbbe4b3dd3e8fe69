import { useDeferredValue } from 'react';
import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { Health, Score, Status } from '../components/badges.tsx';
import { CreateButton } from '../components/create-button.tsx';
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
import { enumOptions, formatDay, formatNumber, matchesText, pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { projectImport } from '../imports/targets.ts';
import { Title } from '../layout/title.tsx';
import { levelOf } from '../risks/model.ts';
import { NewProject } from './project-form.tsx';
import { healthStates, projectStatuses, useProjects } from './queries.ts';

const filterNames = ['q', 'status', 'health', 'archived', 'sort'] as const;

/** All projects with their health. The list is complete, so it is filtered in the browser. */
export function ProjectsPage() {
  const filterState = useFilters(filterNames);
  const { filters, bind } = filterState;
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const query = useProjects(filters.archived === 'true' ? 'true' : 'false');
  const { health: _, sort: __, ...exported } = filters;
  return (
    <>
      <Title title="Projects">
        {!filters.health && <ExportButton path="/v1/projects" filters={exported} name="projects" />}
        {hasScope('projects.manage') && !isLimited && (
          <>
            <ImportButton targets={[projectImport]} />
            <CreateButton dialog={(onClose) => <NewProject onClose={onClose} />}>Create project</CreateButton>
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
    </>
  );
}

type TableProps = { projects: Project[]; filterState: FilterState };

function ProjectTable({ projects, filterState: { filters, bind, isFiltered, clear } }: TableProps) {
  const text = useDeferredValue(filters.q ?? '');
  const rows = projects.filter(
    ({ name, key, status, health }) =>
      (matchesText(text, name) || matchesText(text, key)) &&
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
      <Table
        label="Projects"
        columns={columns}
        rows={sortProjects(rows, filters.sort)}
        rowKey={({ id }) => id}
        sort={bind('sort')}
      />
    </>
  );
}

/** The values that projects are compared by; by default, the worst come first. */
const sortValues: Record<string, (project: Project) => string | number> = {
  '': ({ health, counts }) => healthStates.indexOf(health.state) * 100 - (counts.top_score ?? 0),
  name: ({ name }) => name,
  status: ({ status }) => projectStatuses.indexOf(status),
  top: ({ counts }) => counts.top_score ?? 0,
  risks: ({ counts }) => counts.active_risks,
  issues: ({ counts }) => counts.open_issues,
  due: ({ due_on }) => due_on ?? '9999-99-99',
};

function sortProjects(projects: Project[], sort = ''): Project[] {
  const sortValueOf = sortValues[sort.replace('-', '')] ?? sortValues[''];
  if (!sortValueOf) return projects;
  const sign = sort.startsWith('-') ? -1 : 1;
  return projects.toSorted((a, b) => {
    const [one, other] = [sortValueOf(a), sortValueOf(b)];
    return sign * (typeof one === 'string' ? one.localeCompare(String(other)) : one - Number(other));
  });
}

const matchesFilter = (filter: string | undefined, value: string) =>
  !filter || filter.split(',').includes(value);

const columns: readonly Column<Project>[] = [
  {
    name: 'health',
    header: 'Health',
    width: 6.5,
    sorts: [''],
    cell: ({ health }) => <Health state={health.state} />,
  },
  {
    name: 'name',
    header: 'Project',
    sorts: ['name', '-name'],
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
    sorts: ['status', '-status'],
    width: 7,
    from: 'tablet',
    cell: ({ status }) => <Status status={status} />,
  },
  {
    name: 'top',
    header: 'Top score',
    width: 6.5,
    sorts: ['-top', 'top'],
    cell: ({ counts: { top_score } }) => (
      <Score score={top_score} level={top_score === null ? null : levelOf(top_score)} />
    ),
  },
  {
    name: 'risks',
    header: 'Risks',
    width: 5,
    sorts: ['-risks', 'risks'],
    end: true,
    from: 'tablet',
    cell: ({ counts }) => formatNumber(counts.active_risks),
  },
  {
    name: 'issues',
    header: 'Issues',
    width: 5,
    sorts: ['-issues', 'issues'],
    end: true,
    from: 'tablet',
    cell: ({ counts }) => formatNumber(counts.open_issues),
  },
  {
    name: 'due',
    header: 'Due',
    width: 7.5,
    from: 'wide',
    sorts: ['due', '-due'],
    cell: ({ due_on }) => due_on && formatDay(due_on),
  },
];
