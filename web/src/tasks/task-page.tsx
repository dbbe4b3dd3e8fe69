import { Link, useParams } from 'wouter';
import type { Task } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Activity } from '../comments/activity.tsx';
import { PersonLabel, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { ItemLink } from '../components/item-link.tsx';
import { formatDay, humanize } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { EditTask, useTask } from './task-form.tsx';
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
          <div className="columns with-activity">
            {task.description && (
              <Card id="description" title="Description">
                <p className="long" dir="auto">
                  {task.description}
                </p>
              </Card>
            )}
            <div className="stack side">
              <Details task={task} />
            </div>
            <Activity
              subject={{ id: task.id, path: `/v1/projects/${task.project_key}/tasks/${task.key}` }}
              project={task.project_key}
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
