import { useHasScope } from '../api/session.ts';
import { useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { Empty } from '../components/empty.tsx';
import { useFilters } from '../components/filters.tsx';
import { ItemsPage } from '../layout/items-page.tsx';
import { ProjectsFirst } from '../projects/no-projects.tsx';
import { doneColumn, taskColumns } from './columns.tsx';
import { TaskFilters } from './filters.tsx';
import { taskFilterNames, useTasks } from './queries.ts';
import { NewTask } from './task-form.tsx';
import { useDoneAction } from './tasks.tsx';

/** The tasks of all projects, earliest due date first; by default the open ones. */
export function TasksPage() {
  const state = useFilters(taskFilterNames);
  const canEdit = useHasScope()('projects.manage');
  return (
    <ItemsPage
      list="tasks"
      noun={state.filters.status ? 'task' : 'open task'}
      state={state}
      sort={useSort('tasks', state, taskColumns)}
      rows={useTasks(state.filters)}
      choice={useColumns('tasks', canEdit ? [...taskColumns, doneColumn] : taskColumns)}
      action={useDoneAction()}
      exportPath="/v1/tasks"
      createLabel="Add task"
      createDialog={(project, onClose) => <NewTask project={project} kind="work" onClose={onClose} />}
      controls={<TaskFilters state={state} />}
      empty={
        <ProjectsFirst>
          <Empty title="No open tasks">Add tasks to a project, or to a risk or an issue on its page.</Empty>
        </ProjectsFirst>
      }
    />
  );
}
