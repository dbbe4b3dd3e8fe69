import { useParams } from 'wouter';
import { projectKeyOf, useItem } from '../api/items.ts';
import type { Issue, IssuePatch } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { DueDay, DueSummary, Severity, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { ItemLink, SourceLink } from '../components/item-link.tsx';
import { Attributes } from '../fields/attributes.tsx';
import { Description } from '../fields/description.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { formatDay, pluralize } from '../format.ts';
import { activityOf, ItemColumns } from '../layout/item-page.tsx';
import { ItemTitle } from '../layout/item-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { NoOwner, OwnerLink, PersonLink } from '../personnel/person-link.tsx';
import { useRiskModel } from '../risks/model.ts';
import { Tasks } from '../tasks/tasks.tsx';
import { Assignee, AssigneeName } from './assign.tsx';
import { useIssueEditor } from './issue-form.tsx';
import { IssueStatusCard } from './issue-status-card.tsx';

export function IssuePage() {
  const { key = '' } = useParams();
  const query = useItem('issues', projectKeyOf(key), key);
  return (
    <LoadedPage query={query} needed={useRiskModel()}>
      {(issue) => <IssueContents issue={issue} />}
    </LoadedPage>
  );
}

function IssueContents({ issue }: { issue: Issue }) {
  const editor = useIssueEditor(issue);
  return (
    <>
      <Head editor={editor} />
      <ItemColumns
        editor={editor}
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
