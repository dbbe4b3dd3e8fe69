import type { Issue } from '../api/openapi.ts';
import { DueDay, DueSummary, Severity } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { AssigneeName } from '../issues/assign.tsx';
import { useIssueEditor } from '../issues/issue-form.tsx';
import { IssueStatusCard } from '../issues/issue-status-card.tsx';
import { NoOwner, OwnerLink } from '../personnel/person-link.tsx';
import { type Keys, PreviewFrame } from './frame.tsx';
import { useAssignLast, withLastPerson } from './last-person.ts';
import { usePreviewKey } from './use-preview-key.ts';

export function IssuePreview({ issue, ...keys }: Keys & { issue: Issue }) {
  const editor = withLastPerson(useIssueEditor(issue), 'assignee_user_id');
  const fact = useInlineFacts(editor);
  useAssignLast(editor, 'assignee_user_id');
  usePreviewKey('r', () => {
    const button = document.querySelector<HTMLElement>('.preview-panel [data-field=severity]');
    button?.click();
    return button !== null;
  });
  const owner = issue.owner_name ? <OwnerLink item={issue} /> : <NoOwner />;
  return (
    <PreviewFrame
      {...keys}
      editor={editor}
      responsible="assignee_user_id"
      summary={
        <>
          <Severity severity={issue.severity} />
          <AssigneeName name={issue.assignee_name} />
          <DueSummary day={issue.due_on} isOverdue={issue.overdue} />
        </>
      }
    >
      <IssueStatusCard editor={editor} />
      <Card id="preview-details" title="Details">
        <Facts
          facts={[
            fact('assignee_user_id', <AssigneeName key="assignee" name={issue.assignee_name} />),
            fact('severity', <Severity key="severity" severity={issue.severity} />),
            fact('priority'),
            fact('due_on', issue.due_on && <DueDay key="due" day={issue.due_on} isOverdue={issue.overdue} />),
            ['Owner', owner],
          ]}
        />
      </Card>
    </PreviewFrame>
  );
}
