import { Link, useParams } from 'wouter';
import type { Task } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { PersonLabel, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { History } from '../components/history.tsx';
import { ItemLink } from '../components/item-link.tsx';
import { formatDay, humanize } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { EditTask, taskPath, useTask } from './task-form.tsx';
import { CompleteTask } from './tasks.tsx';

export function TaskPage() {
  const { key = '' } = useParams();
  const hasScope = useHasScope();
  return (
    <LoadedPage query={useTask(key)}>
      {(task) => (
        <>
          <Title
            title={task.title}
            breadcrumbs={
              <>
                <Link href="/tasks">Tasks</Link> /{' '}
                <Link href={`/projects/${task.project_key}`}>{task.project_name}</Link> / {task.key}
              </>
            }
          >
            <CompleteTask task={task} />
            {hasScope('projects.manage') && (
              <DialogButton icon="edit" dialog={(onClose) => <EditTask task={task} onClose={onClose} />}>
                Edit
              </DialogButton>
            )}
          </Title>
          <div className="columns">
            <Details task={task} />
            <History
              id={task.id}
              project={task.project_key}
              read={(client) =>
                client.GET('/v1/projects/{project_id}/tasks/{id}/history', { params: taskPath(task) })
              }
            />
          </div>
        </>
      )}
    </LoadedPage>
  );
}

const Details = ({ task }: { task: Task }) => (
  <Card id="details" title="Details">
    <Facts
      facts={[
        ['Status', <Status key="status" status={task.status} />],
        ['Kind', humanize(task.kind)],
        ['Assignee', task.assignee_name && <Assignee key="assignee" task={task} />],
        ['Start', task.start_on && formatDay(task.start_on)],
        ['Due', task.due_on && formatDay(task.due_on)],
        [
          'Risk',
          task.risk_id && <ItemLink key="risk" project={task.project_key} list="risks" id={task.risk_id} />,
        ],
        [
          'Issue',
          task.issue_id && (
            <ItemLink key="issue" project={task.project_key} list="issues" id={task.issue_id} />
          ),
        ],
        ['Description', task.description],
        ['External ID', task.external_id],
      ]}
    />
  </Card>
);

function Assignee({ task: { assignee_name, assignee_user_id } }: { task: Task }) {
  const hasScope = useHasScope();
  const name = <PersonLabel name={assignee_name ?? ''} />;
  return hasScope('personnel.read') ? <Link href={`/personnel/${assignee_user_id}`}>{name}</Link> : name;
}
