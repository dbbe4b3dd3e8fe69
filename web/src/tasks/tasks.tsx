import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import { usePatchItem } from '../api/items.ts';
import type { Task } from '../api/openapi.ts';
import { latestOf } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { RowAction } from '../bulk/row-menu.tsx';
import { ActionButton } from '../components/action-button.tsx';
import { PersonLabel, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { formatDay, today } from '../format.ts';
import { useCanEditIn } from '../projects/queries.ts';
import { EditTask, NewTask, type Parent } from './task-form.tsx';

type Props = { project: string; parent: Parent; kind: Task['kind'] };

export const useTasksOf = (project: string, parent: Parent) =>
  useQuery({
    queryKey: ['tasks', project, parent],
    queryFn: () =>
      dataOrThrow(
        api.GET('/v1/projects/{project_id}/tasks', {
          params: { path: { project_id: project }, query: parent },
        }),
      ),
  });

/** The tasks of a risk or an issue. */
export function Tasks({ project, parent, kind }: Props) {
  const [open, setOpen] = useState<'new' | Task | null>(null);
  const canEdit = useCanEditIn(project);
  const query = useTasksOf(project, parent);
  return (
    <section className="card" aria-labelledby="tasks">
      <header>
        <h2 id="tasks">Tasks</h2>
        {canEdit && (
          <Button small icon="plus" onPress={() => setOpen('new')}>
            Add task
          </Button>
        )}
      </header>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">No tasks yet</p>
          ) : (
            <ul className="lines tasks">
              {data.map((task) => (
                <TaskLine key={task.id} task={task} {...(canEdit && { edit: () => setOpen(task) })} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {open === 'new' && (
        <NewTask project={project} parent={parent} kind={kind} onClose={() => setOpen(null)} />
      )}
      {open !== null && open !== 'new' && (
        <EditTask task={latestOf(query.data?.data, open)} onClose={() => setOpen(null)} />
      )}
    </section>
  );
}

export const isDone = ({ status }: Pick<Task, 'status'>) => status === 'done' || status === 'cancelled';

export const isOverdue = (task: Task) => task.due_on !== null && task.due_on < today() && !isDone(task);

function useComplete() {
  const patch = usePatchItem('tasks');
  return async (task: Task) => {
    const next = await patch(task, { status: 'done' });
    toast(`Marked ${task.key} as done`, () => patch(next, { status: task.status }));
  };
}

export const useDoneAction = (): RowAction<Task> => ({
  label: 'Mark as done',
  isOffered: (task) => !isDone(task),
  act: useComplete(),
});

/** A button that marks an open task as done: an icon in a row, with words on the page of the task. */
export function CompleteTask({ task, isOnPage = false }: { task: Task; isOnPage?: boolean }) {
  const hasScope = useHasScope();
  const completeTask = useComplete();
  const complete = () => completeTask(task);
  if (isDone(task) || !hasScope('projects.manage')) return null;
  if (isOnPage) {
    return (
      <ActionButton icon="check" act={complete}>
        Mark as done
      </ActionButton>
    );
  }
  return <ActionButton small plain icon="check" aria-label={`Mark as done: ${task.title}`} act={complete} />;
}

/** Without `edit` it is read-only. */
function TaskLine({ task, edit }: { task: Task; edit?: () => void }) {
  const isLate = isOverdue(task);
  return (
    <li>
      <span className="key">{task.key}</span>
      <Link className="grow" href={`/tasks/${task.key}`}>
        <bdi>{task.title}</bdi>
      </Link>
      {task.assignee_name && <PersonLabel name={task.assignee_name} />}
      {task.due_on && (
        <span className={isLate ? 'overdue' : 'quiet'}>
          {isLate ? `Overdue, due ${formatDay(task.due_on)}` : formatDay(task.due_on)}
        </span>
      )}
      <Status status={task.status} />
      {edit && (
        <>
          <CompleteTask task={task} />
          <Button small plain icon="edit" aria-label={`Edit: ${task.title}`} onPress={edit} />
        </>
      )}
    </li>
  );
}
