import { useHasScope } from '../api/session.ts';
import { useBulk } from '../bulk/use-bulk.tsx';
import { useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { ProjectsFirst } from '../projects/no-projects.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { doneColumn, taskColumns } from './columns.tsx';
import { TaskFilters } from './filters.tsx';
import { taskFilterNames, useTasks } from './queries.ts';
import { NewTask } from './task-form.tsx';

/** The tasks of all projects, earliest due date first; by default the open ones. */
export function TasksPage() {
  const filterState = useFilters(taskFilterNames);
  const sort = useSort('tasks', filterState, taskColumns);
  const { filters, isFiltered, clear } = filterState;
  const hasScope = useHasScope();
  const tasks = useTasks(filters);
  const all = hasScope('projects.manage') ? [...taskColumns, doneColumn] : taskColumns;
  const { columns, value, minWidth, menu } = useColumns('tasks', all);
  const bulk = useBulk('tasks', tasks, filters);
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
      <TaskFilters state={filterState} />
      {bulk.bar}
      <List
        label="Tasks"
        menu={menu}
        list={tasks}
        columns={columns}
        minWidth={minWidth}
        rowKey={({ id }) => id}
        sort={sort}
        selection={bulk.selection}
        summary={total !== null && pluralize(total, noun)}
        empty={
          isFiltered ? (
            <NoMatches title={`No ${noun}s match these filters`} clear={clear} />
          ) : (
            <ProjectsFirst>
              <Empty title="No open tasks">
                Add tasks to a project, or to a risk or an issue on its page.
              </Empty>
            </ProjectsFirst>
          )
        }
      />
    </>
  );
}
