import { useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Issue, IssuePatch } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Person, Severity, Status } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Facts } from '../components/facts.tsx';
import { Form } from '../components/form.tsx';
import { History } from '../components/history.tsx';
import { StateCard } from '../components/state-card.tsx';
import { toast } from '../components/toast.tsx';
import { day, plural, words } from '../format.ts';
import { EntryTitle } from '../layout/entry-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { Assignee } from './assign.tsx';
import { EditIssue, ResolveIssue } from './issue-form.tsx';
import { type IssueStatus, issueMoves } from './model.ts';
import { issuePath, useIssue, usePatchIssue } from './queries.ts';

export function IssuePage() {
  const { key = '' } = useParams();
  const may = useMay();
  return (
    <LoadedPage query={useIssue(key)}>
      {(issue) => (
        <>
          <Head issue={issue} />
          <div className="columns">
            <div className="stack">
              {may('projects.manage') && <IssueState issue={issue} />}
              {issue.description && (
                <Card id="description" title="Description">
                  <p className="long" dir="auto">
                    {issue.description}
                  </p>
                </Card>
              )}
              <Tasks project={issue.project_key} of={{ issue_id: issue.id }} kind="resolution" />
            </div>
            <div className="stack">
              <Details issue={issue} />
              <History
                of={issue.id}
                read={(client) =>
                  client.GET('/v1/projects/{project_id}/issues/{id}/history', { params: issuePath(issue) })
                }
              />
            </div>
          </div>
        </>
      )}
    </LoadedPage>
  );
}

const Head = ({ issue }: { issue: Issue }) => (
  <EntryTitle
    entry={issue}
    list="issues"
    edit={(onClose) => <EditIssue issue={issue} onClose={onClose} />}
    remove={() =>
      answerOf(
        api.DELETE('/v1/projects/{project_id}/issues/{id}', { params: issuePath(issue), ...ifMatch(issue) }),
      )
    }
  >
    This cannot be taken back. To end an issue and keep it, resolve it instead.
  </EntryTitle>
);

const labels: Record<IssueStatus, string> = {
  open: 'Reopen',
  in_progress: 'Start work',
  blocked: 'Blocked…',
  resolved: 'Resolve…',
  closed: 'Close',
};

function IssueState({ issue }: { issue: Issue }) {
  const patch = usePatchIssue();
  const move = async (body: IssuePatch) => {
    const next = await patch(issue, body);
    const canReturn =
      issueMoves[next.status].includes(issue.status) && !['resolved', 'closed'].includes(issue.status);
    toast(
      `${issue.key} is ${words(next.status).toLowerCase()}.`,
      canReturn
        ? () => patch(next, { status: issue.status, blocked_reason: issue.blocked_reason })
        : undefined,
    );
  };
  return (
    <StateCard
      state={issue.status}
      moves={issueMoves}
      labels={labels}
      needsMore={(to) => ['blocked', 'resolved'].includes(to) || issue.status === 'closed'}
      move={(status) => move({ status })}
      dialog={(to, onClose) =>
        to === 'resolved' ? (
          <ResolveIssue issue={issue} onClose={onClose} />
        ) : (
          <AskReason issue={issue} to={to} move={move} onClose={onClose} />
        )
      }
    />
  );
}

type ReasonProps = {
  issue: Issue;
  to: IssueStatus;
  move: (body: IssuePatch) => Promise<void>;
  onClose: () => void;
};

function AskReason({ issue, to, move, onClose }: ReasonProps) {
  const action = labels[to].replace('…', '');
  const label = to === 'blocked' ? 'What blocks it' : 'Why it is open again';
  const name = issue.status === 'closed' ? 'reason' : 'blocked_reason';
  return (
    <Dialog title={`${action}: ${issue.key}`} onClose={onClose}>
      <Form
        fields={[{ name, label, kind: 'text', required: true }]}
        action={action}
        submit={(values) => move({ ...values, status: to })}
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
        ['Priority', words(issue.priority)],
        ['Assignee', <Assignee key="assignee" issue={issue} />],
        ['Owner', issue.owner_name && <Person key="owner" name={issue.owner_name} />],
        ['Raised', `${day(issue.raised_on)}, ${plural(issue.age_days, 'day')} ago`],
        [
          'Due',
          issue.due_on && <span className={issue.overdue ? 'late' : undefined}>{day(issue.due_on)}</span>,
        ],
        ['Blocked by', issue.blocked_reason],
        ['Resolution', issue.resolution && words(issue.resolution)],
        ['Your id', issue.external_id],
      ]}
    />
  </Card>
);
