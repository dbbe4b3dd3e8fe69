import { usePatchItem } from '../api/items.ts';
import type { Issue, IssuePatch } from '../api/openapi.ts';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { humanize } from '../format.ts';
import { useTransitions } from '../risks/model.ts';
import { blockerField, ResolveIssue } from './issue-form.tsx';

export type IssueStatus = Issue['status'];

const labels: Record<IssueStatus, string> = {
  open: 'Reopen',
  in_progress: 'Start work',
  blocked: 'Mark as blocked…',
  resolved: 'Resolve…',
  closed: 'Close',
};

/** The name of the action that changes the status of an issue. */
export function labelOf(from: IssueStatus, to: IssueStatus): string {
  if (from === 'resolved' && to === 'in_progress') return labels.open;
  // An issue that is worked on has not been resolved, so it is not reopened.
  if (from !== 'closed' && to === 'open') return 'Move to Open';
  return labels[to];
}

/** Whether a change of the status needs more input, which `IssueStatusDialog` asks for. */
export const needsInput = (from: IssueStatus, to: IssueStatus) =>
  ['blocked', 'resolved'].includes(to) || from === 'closed';

/** The statuses that an issue can go to, and how it gets there. */
export function useIssueStatus(issue: Issue) {
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
  return { transitions: transitionsFrom(issue.status), changeStatus };
}

type Props = { issue: Issue; to: IssueStatus; onClose: () => void };

/** Asks how an issue was resolved, or why it is blocked or reopened. */
export const IssueStatusDialog = (props: Props) =>
  props.to === 'resolved' ? <ResolveIssue {...props} /> : <ReasonDialog {...props} />;

function ReasonDialog({ issue: live, to, onClose }: Props) {
  const { item: issue, former } = useOpened(live);
  const { changeStatus } = useIssueStatus(issue);
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
      >
        <Theirs item={issue} former={former} />
      </Form>
    </Dialog>
  );
}
