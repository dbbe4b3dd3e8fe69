import { api } from '../api/client.ts';
import { itemName, useItem } from '../api/items.ts';
import {
  type Task,
  type TaskInput,
  type TaskPatch,
  taskKindValues,
  taskStatusValues,
} from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { choiceField, type FieldOf, referenceField } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { CreateItemDialog } from '../fields/create-dialog.tsx';
import { EditDialog } from '../fields/edit-dialog.tsx';
import { type Editor, useItemEditor } from '../fields/editor.ts';
import { enumOptions } from '../format.ts';
import { useTitleIn } from '../projects/queries.ts';

export type Parent = { risk_id?: string; issue_id?: string };

const fieldsOf = (
  project: string | undefined,
  task?: Task,
  names: { risk?: string | undefined; issue?: string | undefined } = {},
): FieldOf<TaskInput>[] => [
  { name: 'title', label: 'Title', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  referenceField('assignee_user_id', 'Assignee', 'person', task?.assignee_name),
  { name: 'start_on', label: 'Start', kind: 'day', half: true },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
  choiceField('status', 'Status', enumOptions(taskStatusValues), { required: true }),
  referenceField('risk_id', 'Risk', 'risk', names.risk, { project }),
  referenceField('issue_id', 'Issue', 'issue', names.issue, { project }),
  choiceField('kind', 'Kind', enumOptions(taskKindValues), { required: true, isOnPageOnly: true }),
  { name: 'external_id', label: 'External ID', kind: 'line', isOnPageOnly: true },
];

type NewProps = { project?: string | undefined; parent?: Parent; kind: Task['kind']; onClose: () => void };

/** Without a parent, the form asks for the risk or the issue that the task addresses. */
export const NewTask = ({ project, parent, kind, onClose }: NewProps) => (
  <CreateItemDialog<TaskInput, Task>
    project={project}
    title={useTitleIn(parent ? undefined : project, 'Add task')}
    action="Add task"
    fields={fieldsOf(project).filter(({ name }) => !parent || !['risk_id', 'issue_id'].includes(name))}
    create={(project_id, values) =>
      api.POST('/v1/projects/{project_id}/tasks', {
        params: { path: { project_id } },
        body: { ...values, ...parent, kind: kindOf(values) ?? kind },
      })
    }
    done={({ key }) => ({ message: `Added ${key}` })}
    onClose={onClose}
  />
);

/** The kind that tasks have which are added on the page of a risk or an issue. */
function kindOf({ risk_id, issue_id }: TaskInput): Task['kind'] | undefined {
  if (risk_id) return 'mitigation';
  return issue_id ? 'resolution' : undefined;
}

/** Shown before a task is deleted. */
export const deleteTaskNote = "This can't be undone. To keep the task, set its status to Canceled instead.";

export function useTaskEditor(task: Task): Editor<TaskPatch, Task> {
  const { data: risk } = useItem('risks', task.project_key, task.risk_id);
  const { data: issue } = useItem('issues', task.project_key, task.issue_id);
  const names = { risk: risk && itemName(risk), issue: issue && itemName(issue) };
  return useItemEditor('tasks', task, fieldsOf(task.project_key, task, names));
}

export function EditTask({ task: live, onClose }: { task: Task; onClose: () => void }) {
  const { item: task } = useOpened(live);
  const editor = useTaskEditor(task);
  const refresh = useRefresh();
  const remove = async () => {
    await editor.remove();
    onClose();
    await refresh();
    toast(`Deleted ${task.key}`);
  };
  return (
    <EditDialog editor={editor} onClose={onClose}>
      <p>
        <DialogButton
          small
          plain
          icon="trash"
          dialog={(close) => (
            <Confirm title={`Delete ${task.key}?`} action="Delete" danger act={remove} onClose={close}>
              <p>{deleteTaskNote}</p>
            </Confirm>
          )}
        >
          Delete task
        </DialogButton>
      </p>
    </EditDialog>
  );
}
