import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow, enumValues, ifMatch } from '../api/client.ts';
import type { Task, TaskInput, TaskPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { PersonLabel, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { enumOptions, formatDay, today } from '../format.ts';

type Parent = { risk_id?: string; issue_id?: string };
type Props = { project: string; parent?: Parent; kind: Task['kind'] };

/** The tasks of a risk, an issue or a project. A project shows only its open tasks. */
export function Tasks({ project, parent = {}, kind }: Props) {
  const [open, setOpen] = useState<'new' | Task | null>(null);
  const hasScope = useHasScope();
  const query = useQuery({
    queryKey: ['tasks', project, parent],
    queryFn: () =>
      dataOrThrow(
        api.GET('/v1/projects/{project_id}/tasks', {
          params: {
            path: { project_id: project },
            query: { ...parent, ...(parent.risk_id || parent.issue_id ? {} : { status: ['open'] }) },
          },
        }),
      ),
  });
  return (
    <section className="card" aria-labelledby="tasks">
      <header>
        <h2 id="tasks">Tasks</h2>
        {hasScope('projects.manage') && (
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
            <ul className="lines">
              {data.map((task) => (
                <TaskLine key={task.id} task={task} edit={() => setOpen(task)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {open === 'new' && (
        <NewTask project={project} parent={parent} kind={kind} onClose={() => setOpen(null)} />
      )}
      {open !== null && open !== 'new' && <EditTask task={open} onClose={() => setOpen(null)} />}
    </section>
  );
}

const isDone = ({ status }: Task) => status === 'done' || status === 'cancelled';

function TaskLine({ task, edit }: { task: Task; edit: () => void }) {
  const hasScope = useHasScope();
  const patch = usePatchTask();
  const complete = async () => {
    const next = await patch(task, { status: 'done' });
    toast(`Marked ${task.key} as done`, () => patch(next, { status: task.status }));
  };
  const isOverdue = task.due_on !== null && task.due_on < today() && !isDone(task);
  return (
    <li>
      <span className="key">{task.key}</span>
      <span className="grow">
        <bdi>{task.title}</bdi>
      </span>
      {task.assignee_name && <PersonLabel name={task.assignee_name} />}
      {task.due_on && (
        <span className={isOverdue ? 'overdue' : 'quiet'}>
          {isOverdue ? `Due ${formatDay(task.due_on)}` : formatDay(task.due_on)}
        </span>
      )}
      <Status status={task.status} />
      {hasScope('projects.manage') && (
        <>
          {!isDone(task) && (
            <Button
              small
              plain
              icon="check"
              aria-label={`Mark as done: ${task.title}`}
              onPress={() => complete().catch((error: Error) => toast(error.message))}
            />
          )}
          <Button small plain icon="edit" aria-label={`Edit: ${task.title}`} onPress={edit} />
        </>
      )}
    </li>
  );
}

const taskPath = ({ project_key, key }: Task) => ({ path: { project_id: project_key, id: key } });

/** Updates a task unless it has changed since it was read, and refreshes the page. */
function usePatchTask() {
  const refresh = useRefresh();
  return async (task: Task, body: TaskPatch): Promise<Task> => {
    const next = await dataOrThrow(
      api.PATCH('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task), body, ...ifMatch(task) }),
    );
    await refresh();
    return next;
  };
}

const statuses = enumValues<Task['status']>({
  todo: true,
  in_progress: true,
  blocked: true,
  done: true,
  cancelled: true,
});

const fieldsOf = (task?: Task): FieldOf<TaskInput>[] => [
  { name: 'title', label: 'Title', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  { name: 'assignee_user_id', label: 'Assignee', kind: 'person', selectedName: task?.assignee_name ?? null },
  { name: 'start_on', label: 'Start', kind: 'day', half: true },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    required: true,
    options: enumOptions(statuses),
  },
];

function NewTask({ project, parent, kind, onClose }: Required<Props> & { onClose: () => void }) {
  const refresh = useRefresh();
  const create = async (values: TaskInput) => {
    const task = await dataOrThrow(
      api.POST('/v1/projects/{project_id}/tasks', {
        params: { path: { project_id: project } },
        body: { ...values, ...parent, kind },
      }),
    );
    await refresh();
    toast(`Added ${task.key}`);
  };
  return (
    <Dialog title="Add task" onClose={onClose}>
      <Form fields={fieldsOf()} action="Add task" submit={create} onClose={onClose} />
    </Dialog>
  );
}

function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const patch = usePatchTask();
  const refresh = useRefresh();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await dataOrThrow(
      api.DELETE('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task), ...ifMatch(task) }),
    );
    await refresh();
    toast(`Deleted ${task.key}`);
  };
  if (isDeleting) {
    return (
      <Confirm title={`Delete ${task.key}?`} action="Delete" danger act={remove} onClose={onClose}>
        <p>This can't be undone. To keep the task, set its status to Cancelled instead.</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={`Edit ${task.key}`} onClose={onClose}>
      <Form<TaskPatch>
        fields={fieldsOf(task)}
        initial={task}
        action="Save"
        submit={(values) => patch(task, values)}
        onClose={onClose}
      >
        <p>
          <Button small plain icon="trash" onPress={() => setDeleting(true)}>
            Delete task
          </Button>
        </p>
      </Form>
    </Dialog>
  );
}
