import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import { itemName, useItem } from '../api/items.ts';
import {
  type Task,
  type TaskInput,
  type TaskPatch,
  taskKindValues,
  taskStatusValues,
} from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Button } from '../components/button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { type FieldOf, inForm } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { EditDialog } from '../fields/edit-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { enumOptions } from '../format.ts';
import { useCanEditIn, useTitleIn } from '../projects/queries.ts';
import { projectKeyOf } from '../risks/queries.ts';

export type Parent = { risk_id?: string; issue_id?: string };

const taskPath = ({ project_key, key }: Pick<Task, 'project_key' | 'key'>) => ({
  path: { project_id: project_key, id: key },
});

export function useTask(key: string) {
  return useQuery({
    queryKey: ['task', key],
    queryFn: () =>
      dataOrThrow(
        api.GET('/v1/projects/{project_id}/tasks/{id}', {
          params: taskPath({ project_key: projectKeyOf(key), key }),
        }),
      ),
  });
}

/** Updates a task unless it has changed since it was read, and refreshes the page. */
export function usePatchTask() {
  const refresh = useRefresh();
  return async (task: Task, body: TaskPatch): Promise<Task> => {
    const next = await dataOrThrow(
      api.PATCH('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task), body, ...ifMatch(task) }),
    );
    await refresh();
    return next;
  };
}

const fieldsOf = (
  project: string | undefined,
  task?: Task,
  names: { risk?: string | undefined; issue?: string | undefined } = {},
): FieldOf<TaskInput>[] => [
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
    options: enumOptions(taskStatusValues),
  },
  { name: 'risk_id', label: 'Risk', kind: 'risk', project, selectedName: names.risk ?? null },
  { name: 'issue_id', label: 'Issue', kind: 'issue', project, selectedName: names.issue ?? null },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'choice',
    required: true,
    options: enumOptions(taskKindValues),
    isOnPageOnly: true,
  },
  { name: 'external_id', label: 'External ID', kind: 'line', isOnPageOnly: true },
];

type NewTaskInput = TaskInput & { project: string };

type NewProps = { project?: string | undefined; parent?: Parent; kind: Task['kind']; onClose: () => void };

/** Without a parent, the form asks for the risk or the issue that the task addresses. */
export function NewTask({ project, parent, kind, onClose }: NewProps) {
  const title = useTitleIn(parent ? undefined : project, 'Add task');
  const refresh = useRefresh();
  const create = async ({ project: project_id, ...values }: NewTaskInput) => {
    const task = await dataOrThrow(
      api.POST('/v1/projects/{project_id}/tasks', {
        params: { path: { project_id } },
        body: { ...values, ...parent, kind: kindOf(values) ?? kind },
      }),
    );
    await refresh();
    toast(`Added ${task.key}`);
  };
  const fields: FieldOf<NewTaskInput>[] = inForm(fieldsOf(project)).filter(
    ({ name }) => !parent || !['risk_id', 'issue_id'].includes(name),
  );
  const projectField = { name: 'project', label: 'Project', kind: 'project', required: true } as const;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form<NewTaskInput>
        fields={project ? fields : [projectField, ...fields]}
        action="Add task"
        submit={(values) => create(project ? { ...values, project } : values)}
        onClose={onClose}
      />
    </Dialog>
  );
}

/** The kind that tasks have which are added on the page of a risk or an issue. */
function kindOf({ risk_id, issue_id }: TaskInput): Task['kind'] | undefined {
  if (risk_id) return 'mitigation';
  return issue_id ? 'resolution' : undefined;
}

export const deleteTask = (task: Task) =>
  dataOrThrow(
    api.DELETE('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task), ...ifMatch(task) }),
  );

/** Shown before a task is deleted. */
export const deleteTaskNote = "This can't be undone. To keep the task, set its status to Canceled instead.";

export function useTaskEditor(task: Task): Editor<TaskPatch, Task> {
  const risk = useItem(task.project_key, 'risks', task.risk_id);
  const issue = useItem(task.project_key, 'issues', task.issue_id);
  const patch = usePatchTask();
  return {
    id: task.id,
    name: task.key,
    item: task,
    fields: fieldsOf(task.project_key, task, {
      risk: risk && itemName(risk),
      issue: issue && itemName(issue),
    }),
    canEdit: useCanEditIn(task.project_key),
    save: (values, base) => patch(base, values),
    reload: () => dataOrThrow(api.GET('/v1/projects/{project_id}/tasks/{id}', { params: taskPath(task) })),
  };
}

export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const editor = useTaskEditor(task);
  const refresh = useRefresh();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await deleteTask(task);
    onClose();
    await refresh();
    toast(`Deleted ${task.key}`);
  };
  return (
    <EditDialog editor={editor} onClose={onClose}>
      <p>
        <Button small plain icon="trash" onPress={() => setDeleting(true)}>
          Delete task
        </Button>
      </p>
      {isDeleting && (
        <Confirm
          title={`Delete ${task.key}?`}
          action="Delete"
          danger
          act={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{deleteTaskNote}</p>
        </Confirm>
      )}
    </EditDialog>
  );
}
