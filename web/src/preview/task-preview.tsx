import type { Task } from '../api/openapi.ts';
import { DueDay, DueSummary, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { AssigneeName } from '../issues/assign.tsx';
import { useTaskEditor } from '../tasks/task-form.tsx';
import { isOverdue } from '../tasks/tasks.tsx';
import { type Keys, PreviewFrame } from './frame.tsx';
import { useAssignLast, withLastPerson } from './last-person.ts';

export function TaskPreview({ task, ...keys }: Keys & { task: Task }) {
  const editor = withLastPerson(useTaskEditor(task), 'assignee_user_id');
  const fact = useInlineFacts(editor);
  useAssignLast(editor, 'assignee_user_id');
  return (
    <PreviewFrame
      {...keys}
      editor={editor}
      responsible="assignee_user_id"
      summary={
        <>
          <Status status={task.status} />
          <AssigneeName name={task.assignee_name} />
          <DueSummary day={task.due_on} isOverdue={isOverdue(task)} />
        </>
      }
    >
      <Card id="preview-details" title="Details">
        <Facts
          facts={[
            fact('status', <Status key="status" status={task.status} />),
            fact('assignee_user_id', <AssigneeName key="assignee" name={task.assignee_name} />),
            fact('due_on', task.due_on && <DueDay key="due" day={task.due_on} isOverdue={isOverdue(task)} />),
            fact('start_on'),
            fact('kind'),
          ]}
        />
      </Card>
    </PreviewFrame>
  );
}
