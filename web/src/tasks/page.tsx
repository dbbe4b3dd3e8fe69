import { api, dataOrThrow, enumValues } from '../api/client.ts';
import type { paths, Task } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { useBulk } from '../bulk/use-bulk.tsx';
import { useColumns } from '../columns/use-columns.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import {
  FilterBar,
  FilterMenu,
  type Filters,
  FilterToggle,
  NoMatches,
  useFilters,
} from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { enumOptions, pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { PersonFilter } from '../personnel/person-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { doneColumn, taskColumns } from './columns.tsx';
import { NewTask, taskStatuses } from './task-form.tsx';

type Query = NonNullable<paths['/v1/tasks']['get']['parameters']['query']>;

/** The filters that the URL can contain. The service validates their values. */
const filterNames = ['q', 'project', 'status', 'kind', 'assignee_user_id', 'unassigned', 'overdue'] as const;

const kinds = enumValues<Task['kind']>({ work: true, mitigation: true, resolution: true });

const useTasks = (filters: Filters) =>
  useRows(['tasks', 'list', filters], (paging) =>
    dataOrThrow(api.GET('/v1/tasks', { params: { query: { ...(filters as unknown as Query), ...paging } } })),
  );

/** The tasks of all projects, earliest due date first; by default the open ones. */
export function TasksPage() {
  const filterState = useFilters(filterNames);
  const { filters, bind, isFiltered, clear } = filterState;
  const hasScope = useHasScope();
  const tasks = useTasks(filters);
  const all = hasScope('projects.manage') ? [...taskColumns, doneColumn] : taskColumns;
  const { columns, value, minWidth, menu } = useColumns('tasks', all);
  const bulk = useBulk('tasks', tasks.rows, filters);
  const { total, hasNextPage, fetchNextPage } = tasks;
  const noun = filters.status ? 'task' : 'open task';
  return (
    <>
      <Title title="Tasks">
        <ViewsMenu list="tasks" filters={filters} columns={value} />
        <PrintButton loadMore={hasNextPage ? fetchNextPage : undefined} />
        <ExportButton path="/v1/tasks" filters={filters} name="tasks" />
        {hasScope('projects.manage') && (
          <CreateButton
            dialog={(onClose) => (
              <NewTask
                project={filters.project?.includes(',') ? undefined : filters.project}
                kind="work"
                onClose={onClose}
              />
            )}
          >
            Add task
          </CreateButton>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by title or key" menu={menu}>
        <ProjectFilter {...bind('project')} />
        <FilterMenu label="Status" options={enumOptions([...taskStatuses, 'all'])} {...bind('status')} />
        <FilterMenu label="Kind" options={enumOptions(kinds)} {...bind('kind')} />
        <PersonFilter label="Assignee" {...bind('assignee_user_id')} />
        <FilterToggle label="Overdue" {...bind('overdue')} />
        <FilterToggle label="Unassigned" {...bind('unassigned')} />
      </FilterBar>
      {bulk.bar}
      <List
        label="Tasks"
        list={tasks}
        columns={columns}
        minWidth={minWidth}
        rowKey={({ id }) => id}
        selection={bulk.selection}
        summary={total !== null && pluralize(total, noun)}
        empty={
          isFiltered ? (
            <NoMatches title={`No ${noun}s match these filters`} clear={clear} />
          ) : (
            <Empty title="No open tasks">Add tasks to a project, or to a risk or an issue on its page.</Empty>
          )
        }
      />
    </>
  );
}
