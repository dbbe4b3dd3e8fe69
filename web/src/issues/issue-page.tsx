import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Issue, IssuePatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { Person, Severity, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Confirm, Dialog } from '../components/dialog.tsx';
import { Facts } from '../components/facts.tsx';
import { Form } from '../components/form.tsx';
import { History } from '../components/history.tsx';
import { toast } from '../components/toast.tsx';
import { day, plural, words } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
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
              {may('projects.manage') && (
                <section className="card" aria-labelledby="state">
                  <h2 id="state">
                    State <Status status={issue.status} />
                  </h2>
                  <Moves issue={issue} />
                </section>
              )}
              {issue.description && (
                <section className="card" aria-labelledby="description">
                  <h2 id="description">Description</h2>
                  <p className="long" dir="auto">
                    {issue.description}
                  </p>
                </section>
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

function Head({ issue }: { issue: Issue }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const may = useMay();
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const remove = async () => {
    await answerOf(
      api.DELETE('/v1/projects/{project_id}/issues/{id}', { params: issuePath(issue), ...ifMatch(issue) }),
    );
    navigate('/issues');
    await refresh();
    toast(`${issue.key} is deleted.`);
  };
  const close = () => setOpen(null);
  return (
    <Title
      title={issue.title}
      above={
        <>
          <Link href="/issues">Issues</Link> /{' '}
          <Link href={`/projects/${issue.project_key}`}>{issue.project_name}</Link> / {issue.key}
        </>
      }
    >
      {may('projects.manage') && (
        <>
          <Button icon="edit" onPress={() => setOpen('edit')}>
            Edit
          </Button>
          <Button plain icon="trash" aria-label="Delete" onPress={() => setOpen('delete')} />
        </>
      )}
      {open === 'edit' && <EditIssue issue={issue} onClose={close} />}
      {open === 'delete' && (
        <Confirm title={`Delete ${issue.key}?`} action="Delete" danger act={remove} onClose={close}>
          <p>This cannot be taken back. To end an issue and keep it, resolve it instead.</p>
        </Confirm>
      )}
    </Title>
  );
}

const labels: Record<IssueStatus, string> = {
  open: 'Reopen',
  in_progress: 'Start work',
  blocked: 'Blocked…',
  resolved: 'Resolve…',
  closed: 'Close',
};

/** The states an issue may go to from where it is; those that need more ask for it. */
function Moves({ issue }: { issue: Issue }) {
  const [target, setTarget] = useState<IssueStatus | null>(null);
  const patch = usePatchIssue();
  const close = () => setTarget(null);
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
  const needs = (to: IssueStatus) => ['blocked', 'resolved'].includes(to) || issue.status === 'closed';
  const field = issue.status === 'closed' ? 'reason' : 'blocked_reason';
  return (
    <div className="moves">
      {issueMoves[issue.status].map((to) => (
        <Button
          key={to}
          small
          onPress={() =>
            needs(to) ? setTarget(to) : move({ status: to }).catch((error: Error) => toast(error.message))
          }
        >
          {labels[to]}
        </Button>
      ))}
      {target === 'resolved' && <ResolveIssue issue={issue} onClose={close} />}
      {target !== null && target !== 'resolved' && (
        <Dialog title={`${labels[target].replace('…', '')}: ${issue.key}`} onClose={close}>
          <Form
            fields={[
              {
                name: field,
                label: target === 'blocked' ? 'What blocks it' : 'Why it is open again',
                kind: 'text',
                required: true,
              },
            ]}
            action={labels[target].replace('…', '')}
            submit={(values) => move({ ...values, status: target })}
            onClose={close}
          />
        </Dialog>
      )}
    </div>
  );
}

const Details = ({ issue }: { issue: Issue }) => (
  <section className="card" aria-labelledby="details">
    <h2 id="details">Details</h2>
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
  </section>
);
