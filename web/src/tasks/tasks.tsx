import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, ifMatch } from '../api/client.ts';
import { everyOf } from '../api/enums.ts';
import type { Task, TaskInput, TaskPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { Person, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { day, today, withWords } from '../format.ts';

type Of = { risk_id?: string; issue_id?: string };
type Props = { project: string; of?: Of; kind: Task['kind'] };

/** The work about a risk, an issue or a whole project: added, changed and ticked off in place. */
export function Tasks({ project, of = {}, kind }: Props) {
  const [open, setOpen] = useState<'new' | Task | null>(null);
  const may = useMay();
  const query = useQuery({
    queryKey: ['tasks', project, of],
    queryFn: () =>
      answerOf(
        api.GET('/v1/projects/{project_id}/tasks', {
          params: {
            path: { project_id: project },
            query: { ...of, ...(of.risk_id || of.issue_id ? {} : { status: ['open'] }) },
          },
        }),
      ),
  });
  return (
    <section className="card" aria-labelledby="tasks">
      <header>
        <h2 id="tasks">Tasks</h2>
        {may('projects.manage') && (
          <Button small icon="plus" onPress={() => setOpen('new')}>
            Add task
          </Button>
        )}
      </header>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">
              No task yet.{may('projects.manage') && ' Add what is to be done, and who does it.'}
            </p>
          ) : (
            <ul className="lines">
              {data.map((task) => (
                <TaskLine key={task.id} task={task} edit={() => setOpen(task)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {open === 'new' && <NewTask project={project} of={of} kind={kind} onClose={() => setOpen(null)} />}
      {open !== null && open !== 'new' && <EditTask task={open} onClose={() => setOpen(null)} />}
    </section>
  );
}

const isDone = ({ status }: Task) => status === 'done' || status === 'cancelled';

function TaskLine({ task, edit }: { task: Task; edit: () => void }) {
  const may = useMay();
  const patch = usePatchTask();
  const finish = async () => {
    const next = await patch(task, { status: 'done' });
    toast(`${task.key} is done.`, () => patch(next, { status: task.status }));
  };
  const isLate = task.due_on !== null && task.due_on < today() && !isDone(task);
  return (
    <li>
      <span className="key">{task.key}</span>
      <span className="grow">
        <bdi>{task.title}</bdi>
      </span>
      {task.assignee_name && <Person name={task.assignee_name} />}
      {task.due_on && (
        <span className={isLate ? 'late' : 'quiet'}>
          {isLate ? `Due ${day(task.due_on)}` : day(task.due_on)}
        </span>
      )}
      <Status status={task.status} />
      {may('projects.manage') && (
        <>
          {!isDone(task) && (
            <Button
              small
              plain
              icon="check"
              aria-label={`Done: ${task.title}`}
              onPress={() => finish().catch((error: Error) => toast(error.message))}
            />
          )}
          <Button small plain icon="edit" aria-label={`Edit: ${task.title}`} onPress={edit} />
        </>
      )}
    </li>
  );
}

const taskPath = ({ project_key, key }: Task) => ({ path: { project_id: project_key, id: key } });

/** Changes a task as it was read, and shows what became of it everywhere. */
function usePatchTask() {
  const refresh = useRefresh();
  return async (task: Task, body: TaskPatch): Promise<Task> => {
    const next = await answerOf(
      api.PATCH('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task), body, ...ifMatch(task) }),
    );
    await refresh();
    return next;
  };
}

const statuses = everyOf<Task['status']>({
  todo: true,
  in_progress: true,
  blocked: true,
  done: true,
  cancelled: true,
});

const fieldsOf = (task?: Task): Field[] => [
  { name: 'title', label: 'Title', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  { name: 'assignee_user_id', label: 'Assign to', kind: 'person', shown: task?.assignee_name ?? null },
  { name: 'start_on', label: 'Start', kind: 'day', half: true },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    required: true,
    options: withWords(statuses),
  },
];

function NewTask({ project, of, kind, onClose }: Required<Props> & { onClose: () => void }) {
  const refresh = useRefresh();
  const create = async (values: Values) => {
    const task = await answerOf(
      api.POST('/v1/projects/{project_id}/tasks', {
        params: { path: { project_id: project } },
        body: { ...values, ...of, kind } as TaskInput,
      }),
    );
    await refresh();
    toast(`${task.key} is added.`);
  };
  return (
    <Dialog title="New task" onClose={onClose}>
      <Form fields={fieldsOf()} action="Add task" submit={create} onClose={onClose} />
    </Dialog>
  );
}

function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const patch = usePatchTask();
  const refresh = useRefresh();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await answerOf(
      api.DELETE('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task), ...ifMatch(task) }),
    );
    await refresh();
    toast(`${task.key} is deleted.`);
  };
  if (isDeleting) {
    return (
      <Confirm title={`Delete ${task.key}?`} action="Delete" danger act={remove} onClose={onClose}>
        <p>This cannot be taken back. To keep a trace of it, cancel it instead.</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={`Edit ${task.key}`} onClose={onClose}>
      <Form
        fields={fieldsOf(task)}
        initial={task}
        action="Save"
        submit={(values) => patch(task, values as TaskPatch)}
        onClose={onClose}
      >
        <p>
          <Button small plain icon="trash" onPress={() => setDeleting(true)}>
            Delete this task
          </Button>
        </p>
      </Form>
    </Dialog>
  );
}
