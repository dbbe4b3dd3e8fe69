import type { Issue, IssuePatch } from '../api/openapi.ts';
import { Facts } from '../components/card.tsx';
import { StatusCard } from '../components/status-card.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { IssueStatusDialog, labelOf, needsInput, useIssueStatus } from './issue-status.tsx';

export function IssueStatusCard({ editor }: { editor: Editor<IssuePatch, Issue> }) {
  const issue = editor.item;
  const fact = useInlineFacts(editor);
  const { transitions, changeStatus } = useIssueStatus(issue);
  return (
    <StatusCard
      status={issue.status}
      transitions={editor.canEdit ? transitions : []}
      labelOf={(to) => labelOf(issue.status, to)}
      needsInput={(to) => needsInput(issue.status, to)}
      changeStatus={(status) => changeStatus({ status })}
      dialog={(to, onClose) => <IssueStatusDialog issue={issue} to={to} onClose={onClose} />}
    >
      <Facts
        facts={[
          ...(issue.status === 'blocked' ? [fact('blocked_reason')] : []),
          ...(issue.resolution ? [fact('resolution')] : []),
          ...(issue.resolution_note ? [fact('resolution_note')] : []),
        ]}
      />
    </StatusCard>
  );
}
