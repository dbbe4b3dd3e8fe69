import { Link, useParams } from 'wouter';
import { projectKeyOf, useItem } from '../api/items.ts';
import type { Task, TaskPatch } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { DueDay, DueSummary, PersonLabel, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { ItemLink } from '../components/item-link.tsx';
import { Description } from '../fields/description.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { AssigneeName } from '../issues/assign.tsx';
import { activityOf, ItemColumns } from '../layout/item-page.tsx';
import { ItemTitle } from '../layout/item-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { deleteTaskNote, useTaskEditor } from './task-form.tsx';
import { CompleteTask, isOverdue } from './tasks.tsx';

export function TaskPage() {
  const { key = '' } = useParams();
  const query = useItem('tasks', projectKeyOf(key), key);
  return <LoadedPage query={query}>{(task) => <TaskContents task={task} />}</LoadedPage>;
}

function TaskContents({ task }: { task: Task }) {
  const editor = useTaskEditor(task);
  return (
    <>
      <ItemTitle
        editor={editor}
        summary={
          <>
            <Status status={task.status} />
            <AssigneeName name={task.assignee_name} />
            <DueSummary day={task.due_on} isOverdue={isOverdue(task)} />
          </>
        }
        actions={editor.canEdit && <CompleteTask task={task} isOnPage />}
      >
        {deleteTaskNote}
      </ItemTitle>
      <ItemColumns
        editor={editor}
        main={<Description editor={editor} />}
        side={<Details editor={editor} />}
        activity={activityOf('tasks', task)}
      />
    </>
  );
}

function Details({ editor }: { editor: Editor<TaskPatch, Task> }) {
  const fact = useInlineFacts(editor);
  const task = editor.item;
  const link = (list: 'risks' | 'issues', id: string | null) =>
    id && <ItemLink key={list} project={task.project_key} list={list} id={id} />;
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          fact('status', <Status key="status" status={task.status} />),
          fact('kind'),
          fact(
            'assignee_user_id',
            task.assignee_name ? (
              <Assignee key="assignee" task={task} />
            ) : (
              <AssigneeName key="assignee" name={null} />
            ),
          ),
          fact('start_on'),
          fact('due_on', task.due_on && <DueDay key="due" day={task.due_on} isOverdue={isOverdue(task)} />),
          fact('risk_id', link('risks', task.risk_id)),
          fact('issue_id', link('issues', task.issue_id)),
          fact('external_id'),
        ]}
      />
    </Card>
  );
}

function Assignee({ task: { assignee_name, assignee_user_id } }: { task: Task }) {
  const hasScope = useHasScope();
  const name = <PersonLabel name={assignee_name ?? ''} />;
  return hasScope('personnel.read') ? <Link href={`/personnel/${assignee_user_id}`}>{name}</Link> : name;
}
