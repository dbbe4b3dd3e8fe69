import { useParams } from 'wouter';
import { projectKeyOf, useItem, usePatchItem } from '../api/items.ts';
import type { Issue, IssuePatch } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { DueDay, DueSummary, Severity, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { ItemLink, SourceLink } from '../components/item-link.tsx';
import { StatusCard } from '../components/status-card.tsx';
import { toast } from '../components/toast.tsx';
import { Attributes } from '../fields/attributes.tsx';
import { Description } from '../fields/description.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { formatDay, humanize, pluralize } from '../format.ts';
import { activityOf, ItemColumns } from '../layout/item-page.tsx';
import { ItemTitle } from '../layout/item-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { NoOwner, OwnerLink, PersonLink } from '../personnel/person-link.tsx';
import { useTransitions } from '../risks/model.ts';
import { Tasks } from '../tasks/tasks.tsx';
import { Assignee, AssigneeName } from './assign.tsx';
import { blockerField, ResolveIssue, useIssueEditor } from './issue-form.tsx';

export function IssuePage() {
  const { key = '' } = useParams();
  const query = useItem('issues', projectKeyOf(key), key);
  return <LoadedPage query={query}>{(issue) => <IssueContents issue={issue} />}</LoadedPage>;
}

function IssueContents({ issue }: { issue: Issue }) {
  const editor = useIssueEditor(issue);
  return (
    <>
      <Head editor={editor} />
      <ItemColumns
        main={
          <>
            <IssueStatusCard editor={editor} />
            <Description editor={editor} />
            <Tasks project={issue.project_key} parent={{ issue_id: issue.id }} kind="resolution" />
          </>
        }
        side={
          <>
            <Details editor={editor} />
            <Attributes editor={editor} />
          </>
        }
        activity={activityOf('issues', issue)}
      />
    </>
  );
}

type IssueStatus = Issue['status'];
type Props = { editor: Editor<IssuePatch, Issue> };

const Head = ({ editor }: Props) => {
  const issue = editor.item;
  return (
    <ItemTitle
      editor={editor}
      summary={
        <>
          <Severity severity={issue.severity} />
          <Status status={issue.status} />
          <AssigneeName name={issue.assignee_name} />
          <DueSummary day={issue.due_on} isOverdue={issue.overdue} />
        </>
      }
    >
      This can't be undone. To keep the issue, resolve it instead.
    </ItemTitle>
  );
};

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

function IssueStatusCard({ editor }: Props) {
  const issue = editor.item;
  const fact = useInlineFacts(editor);
  const patch = usePatchItem('issues');
  const transitionsFrom = useTransitions<IssueStatus>('issues');
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
      transitions={editor.canEdit ? transitionsFrom(issue.status) : []}
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
          ...(issue.status === 'blocked' ? [fact('blocked_reason')] : []),
          ...(issue.resolution ? [fact('resolution')] : []),
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
          isBlocked ? blockerField : { name: 'reason', label: 'Reason', kind: 'text', required: true },
        ]}
        action={isBlocked ? 'Mark as blocked' : 'Reopen'}
        submit={(values) => changeStatus({ ...values, status: to })}
        onClose={onClose}
      />
    </Dialog>
  );
}

const ageOf = ({ age_days }: Issue) => (age_days === 0 ? 'today' : `${pluralize(age_days, 'day')} ago`);

function Details({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const issue = editor.item;
  const raisedBy = useHasScope()('personnel.read') && issue.raised_by_user_id;
  const owner = issue.owner_name && <OwnerLink key="owner" item={issue} />;
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          fact('severity', <Severity key="severity" severity={issue.severity} />),
          fact('priority'),
          [
            'Assignee',
            editor.canEdit ? (
              <Assignee key="assignee" issue={issue} />
            ) : (
              <AssigneeName key="assignee" name={issue.assignee_name} />
            ),
          ],
          fact('owner_user_id', issue.owner_group_id ? null : (owner ?? <NoOwner key="owner" />)),
          fact('owner_group_id', issue.owner_group_id && owner),
          fact('raised_on', `${formatDay(issue.raised_on)}, ${ageOf(issue)}`),
          fact('raised_by_user_id', raisedBy && <PersonLink key="raised" user_id={raisedBy} />),
          fact('due_on', issue.due_on && <DueDay key="due" day={issue.due_on} isOverdue={issue.overdue} />),
          fact(
            'risk_id',
            issue.risk_id && (
              <ItemLink key="risk" project={issue.project_key} list="risks" id={issue.risk_id} />
            ),
          ),
          fact('source_url', issue.source_url && <SourceLink key="source" url={issue.source_url} />),
          fact('external_id'),
        ]}
      />
    </Card>
  );
}
