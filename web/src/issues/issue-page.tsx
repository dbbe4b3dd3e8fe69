import { useParams } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Issue, IssuePatch } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Activity } from '../comments/activity.tsx';
import { PersonLabel, Severity, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { ItemLink } from '../components/item-link.tsx';
import { StatusCard } from '../components/status-card.tsx';
import { toast } from '../components/toast.tsx';
import { formatDay, humanize, pluralize } from '../format.ts';
import { ItemTitle } from '../layout/item-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { Assignee } from './assign.tsx';
import { EditIssue, ResolveIssue } from './issue-form.tsx';
import { type IssueStatus, useIssueTransitions } from './model.ts';
import { issuePath, useIssue, usePatchIssue } from './queries.ts';

export function IssuePage() {
  const { key = '' } = useParams();
  return (
    <LoadedPage query={useIssue(key)}>
      {(issue) => (
        <>
          <Head issue={issue} />
          <div className="columns with-activity">
            <div className="stack">
              <IssueStatusCard issue={issue} />
              {issue.description && (
                <Card id="description" title="Description">
                  <p className="long" dir="auto">
                    {issue.description}
                  </p>
                </Card>
              )}
              <Tasks project={issue.project_key} parent={{ issue_id: issue.id }} kind="resolution" />
            </div>
            <div className="stack side">
              <Details issue={issue} />
            </div>
            <Activity
              subject={{ id: issue.id, path: `/v1/projects/${issue.project_key}/issues/${issue.key}` }}
              project={issue.project_key}
            />
          </div>
        </>
      )}
    </LoadedPage>
  );
}

const Head = ({ issue }: { issue: Issue }) => (
  <ItemTitle
    item={issue}
    list="issues"
    summary={
      <>
        <Severity severity={issue.severity} />
        <Status status={issue.status} />
        {issue.assignee_name ? (
          <PersonLabel name={issue.assignee_name} />
        ) : (
          <span className="quiet">Unassigned</span>
        )}
        <span className={issue.overdue ? 'overdue' : 'quiet'}>
          {issue.due_on ? `Due ${formatDay(issue.due_on)}` : 'No due date'}
        </span>
      </>
    }
    edit={(onClose) => <EditIssue issue={issue} onClose={onClose} />}
    remove={() =>
      dataOrThrow(
        api.DELETE('/v1/projects/{project_id}/issues/{id}', { params: issuePath(issue), ...ifMatch(issue) }),
      )
    }
  >
    This can't be undone. To keep the issue, resolve it instead.
  </ItemTitle>
);

const labels: Record<IssueStatus, string> = {
  open: 'Reopen',
  in_progress: 'Start work',
  blocked: 'Mark as blocked…',
  resolved: 'Resolve…',
  closed: 'Close',
};

function labelOf(from: IssueStatus, to: IssueStatus): string {
  if (from === 'resolved' && to === 'in_progress') return labels.open;
  // An issue that is worked on has not been resolved, so it is not reopened.
  if (from !== 'closed' && to === 'open') return 'Move to Open';
  return labels[to];
}

function IssueStatusCard({ issue }: { issue: Issue }) {
  const patch = usePatchIssue();
  const transitionsFrom = useIssueTransitions();
  const hasScope = useHasScope();
  const changeStatus = async (body: IssuePatch) => {
    const next = await patch(issue, body);
    const canUndo =
      transitionsFrom(next.status).includes(issue.status) && !['resolved', 'closed'].includes(issue.status);
    toast(
      `Moved ${issue.key} to ${humanize(next.status)}`,
      canUndo ? () => patch(next, { status: issue.status, blocked_reason: issue.blocked_reason }) : undefined,
    );
  };
  return (
    <StatusCard
      status={issue.status}
      transitions={hasScope('projects.manage') ? transitionsFrom(issue.status) : []}
      labelOf={(to) => labelOf(issue.status, to)}
      needsInput={(to) => ['blocked', 'resolved'].includes(to) || issue.status === 'closed'}
      changeStatus={(status) => changeStatus({ status })}
      dialog={(to, onClose) =>
        to === 'resolved' ? (
          <ResolveIssue issue={issue} onClose={onClose} />
        ) : (
          <ReasonDialog issue={issue} to={to} changeStatus={changeStatus} onClose={onClose} />
        )
      }
    >
      <Facts
        facts={[
          ['Blocker', issue.blocked_reason],
          ['Resolution', issue.resolution && humanize(issue.resolution)],
        ]}
      />
    </StatusCard>
  );
}

type ReasonProps = {
  issue: Issue;
  to: IssueStatus;
  changeStatus: (body: IssuePatch) => Promise<void>;
  onClose: () => void;
};

/** Asks why an issue is blocked or reopened. */
function ReasonDialog({ issue, to, changeStatus, onClose }: ReasonProps) {
  const isBlocked = to === 'blocked';
  return (
    <Dialog title={isBlocked ? `Mark ${issue.key} as blocked` : `Reopen ${issue.key}`} onClose={onClose}>
      <Form<IssuePatch>
        fields={[
          isBlocked
            ? { name: 'blocked_reason', label: 'Blocker', kind: 'text', required: true }
            : { name: 'reason', label: 'Reason', kind: 'text', required: true },
        ]}
        action={isBlocked ? 'Mark as blocked' : 'Reopen'}
        submit={(values) => changeStatus({ ...values, status: to })}
        onClose={onClose}
      />
    </Dialog>
  );
}

const Details = ({ issue }: { issue: Issue }) => (
  <Card id="details" title="Details">
    <Facts
      facts={[
        ['Status', <Status key="status" status={issue.status} />],
        ['Severity', <Severity key="severity" severity={issue.severity} />],
        ['Priority', humanize(issue.priority)],
        ['Assignee', <Assignee key="assignee" issue={issue} />],
        ['Owner', issue.owner_name && <PersonLabel key="owner" name={issue.owner_name} />],
        ['Raised', `${formatDay(issue.raised_on)}, ${pluralize(issue.age_days, 'day')} ago`],
        [
          'Due',
          issue.due_on && (
            <span className={issue.overdue ? 'overdue' : undefined}>{formatDay(issue.due_on)}</span>
          ),
        ],
        [
          'Risk',
          issue.risk_id && (
            <ItemLink key="risk" project={issue.project_key} list="risks" id={issue.risk_id} />
          ),
        ],
        ['External ID', issue.external_id],
      ]}
    />
  </Card>
);
