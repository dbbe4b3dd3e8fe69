import { useDeferredValue } from 'react';
import { type Project, projectStatusValues } from '../api/openapi.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { type ColumnChoice, useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import {
  FilterBar,
  FilterMenu,
  type FilterState,
  FilterToggle,
  NoMatches,
  useFilters,
} from '../components/filters.tsx';
import { healthStates } from '../components/health-reasons.tsx';
import { ListHead } from '../components/list.tsx';
import { Loaded } from '../components/loading.tsx';
import type { Sort } from '../components/sort-button.tsx';
import { Table } from '../components/table.tsx';
import { enumOptions, matchesText, pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { projectImport } from '../imports/targets.ts';
import { Title } from '../layout/title.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { projectColumns } from './columns.tsx';
import { NewProject } from './project-form.tsx';
import { useProjects } from './queries.ts';

const filterNames = ['q', 'status', 'health', 'archived', 'sort'] as const;

/** All projects with their health. The list is complete, so it is filtered in the browser. */
export function ProjectsPage() {
  const filterState = useFilters(filterNames);
  const sort = useSort('projects', filterState, projectColumns);
  const { filters, bind } = filterState;
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const choice = useColumns('projects', projectColumns);
  const query = useProjects(filters.archived === 'true' ? 'true' : 'false');
  const { health: _, sort: __, ...exported } = filters;
  return (
    <>
      <Title title="Projects">
        <ViewsMenu list="projects" filters={filters} columns={choice.value} />
        <PrintButton loadMore={undefined} />
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
        <FilterMenu label="Status" options={enumOptions(projectStatusValues)} {...bind('status')} />
        <FilterToggle label="Archived" {...bind('archived')} />
      </FilterBar>
      <Loaded query={query}>
        {(projects) => (
          <ProjectTable projects={projects} filterState={filterState} sort={sort} choice={choice} />
        )}
      </Loaded>
    </>
  );
}

type TableProps = {
  projects: Project[];
  filterState: FilterState;
  sort: Sort;
  choice: ColumnChoice<Project>;
};

function ProjectTable({ projects, filterState, sort, choice: { columns, minWidth, menu } }: TableProps) {
  const { filters, isFiltered, clear } = filterState;
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
      <ListHead menu={menu}>{pluralize(rows.length, 'project')}</ListHead>
      <Table
        label="Projects"
        columns={columns}
        minWidth={minWidth}
        rows={sortProjects(rows, filters.sort)}
        rowKey={({ id }) => id}
        sort={sort}
      />
    </>
  );
}

/** The values that projects are compared by; by default, the worst come first. Those without a value come last. */
const sortValues: Record<string, (project: Project) => string | number | null> = {
  '': ({ health, counts }) => healthStates.indexOf(health.state) * 100 - (counts.top_score ?? 0),
  name: ({ name }) => name,
  status: ({ status }) => projectStatusValues.indexOf(status),
  top: ({ counts }) => counts.top_score,
  risks: ({ counts }) => counts.active_risks,
  issues: ({ counts }) => counts.open_issues,
  due: ({ due_on }) => due_on,
  start: ({ start_on }) => start_on,
  overdue: ({ counts }) => counts.overdue_tasks,
  updated_at: ({ updated_at }) => updated_at,
};

function sortProjects(projects: Project[], sort = ''): Project[] {
  const sortValueOf = sortValues[sort.replace('-', '')] ?? sortValues[''];
  if (!sortValueOf) return projects;
  const sign = sort.startsWith('-') ? -1 : 1;
  return projects.toSorted((a, b) => {
    const [one, other] = [sortValueOf(a), sortValueOf(b)];
    if (one === null || other === null) return +(one === null) - +(other === null);
    return sign * (typeof one === 'string' ? one.localeCompare(String(other)) : one - Number(other));
  });
}

const matchesFilter = (filter: string | undefined, value: string) =>
  !filter || filter.split(',').includes(value);
