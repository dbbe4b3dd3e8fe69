import { api } from '../api/client.ts';
import { itemName, useItem, usePatchItem } from '../api/items.ts';
import {
  type Issue,
  type IssueInput,
  type IssuePatch,
  issuePriorityValues,
  issueResolutionValues,
  issueSeverityValues,
} from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { restore } from '../bulk/change.ts';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { choiceField, type FieldOf, referenceField } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { CreateItemDialog } from '../fields/create-dialog.tsx';
import { type Editor, useItemEditor } from '../fields/editor.ts';
import { enumOptions } from '../format.ts';
import { useReadablePerson } from '../personnel/queries.ts';
import { useTitleIn } from '../projects/queries.ts';

/** The fields of an issue without its status, which has dialogs of its own. */
const fieldsOf = (
  project: string | undefined,
  issue?: Issue,
  names: { raisedBy?: string | undefined; risk?: string | undefined } = {},
): FieldOf<IssueInput>[] => [
  { name: 'title', label: 'Title', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  // Blank in a new issue: the service has the defaults.
  choiceField('severity', 'Severity', enumOptions(issueSeverityValues), { required: !!issue, half: true }),
  choiceField('priority', 'Priority', enumOptions(issuePriorityValues), { required: !!issue, half: true }),
  referenceField('assignee_user_id', 'Assignee', 'person', issue?.assignee_name, { half: true }),
  referenceField('owner_user_id', 'Owner', 'person', issue?.owner_user_id && issue.owner_name, {
    half: true,
  }),
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
  referenceField('risk_id', 'Risk', 'risk', names.risk, { project }),
  referenceField('owner_group_id', 'Owning group', 'group', issue?.owner_group_id && issue.owner_name, {
    isOnPageOnly: true,
  }),
  { name: 'raised_on', label: 'Raised', kind: 'day', required: true, isOnPageOnly: true },
  referenceField('raised_by_user_id', 'Raised by', 'person', names.raisedBy, { isOnPageOnly: true }),
  { name: 'external_id', label: 'External ID', kind: 'line', isOnPageOnly: true },
  { name: 'source_url', label: 'Source', kind: 'line', isOnPageOnly: true },
];

export const blockerField = {
  name: 'blocked_reason',
  label: 'Blocker',
  kind: 'text',
  required: true,
} as const;

export const resolutionField = choiceField('resolution', 'Resolution', enumOptions(issueResolutionValues), {
  required: true,
});

/** The blocker and the resolution can be corrected on the page. */
const statusFields: FieldOf<IssuePatch>[] = [
  { ...blockerField, isOnPageOnly: true },
  { ...resolutionField, isOnPageOnly: true },
  { name: 'resolution_note', label: 'Resolution note', kind: 'text', isOnPageOnly: true },
];

type NewProps = { project: string | undefined; onClose: () => void };

export const NewIssue = ({ project, onClose }: NewProps) => (
  <CreateItemDialog<IssueInput, Issue>
    project={project}
    title={useTitleIn(project, 'Create issue')}
    action="Create issue"
    fields={fieldsOf(project)}
    create={(project_id, body) =>
      api.POST('/v1/projects/{project_id}/issues', { params: { path: { project_id } }, body })
    }
    done={({ key }) => ({ message: `Created ${key}`, path: `/issues/${key}` })}
    onClose={onClose}
  />
);

export function useIssueEditor(issue: Issue): Editor<IssuePatch, Issue> {
  const raisedBy = useReadablePerson(issue.raised_by_user_id);
  const { data: risk } = useItem('risks', issue.project_key, issue.risk_id);
  return useItemEditor('issues', issue, [
    ...fieldsOf(issue.project_key, issue, { raisedBy: raisedBy?.name, risk: risk && itemName(risk) }),
    ...statusFields,
  ]);
}

export function ResolveIssue({ issue, onClose }: { issue: Issue; onClose: () => void }) {
  const patch = usePatchItem('issues');
  const refresh = useRefresh();
  // The list of open issues no longer has an issue that someone else has resolved.
  const { data: latest = issue } = useItem('issues', issue.project_key, issue.key);
  const { item: current, former } = useOpened(latest.version > issue.version ? latest : issue);
  const resolve = async (values: IssuePatch) => {
    const { id, key, version } = await patch(current, { ...values, status: 'resolved' });
    const { status, blocked_reason } = current;
    // A resolved issue reaches the other open statuses only through this one. The service makes both steps or none.
    const steps: IssuePatch[] = [{ status: 'in_progress' }];
    if (status !== 'in_progress') steps.push({ status, blocked_reason });
    toast(`Resolved ${key}`, async () => {
      await restore(
        'issues',
        steps.map((previous, i) => ({ id, key, version: version + i, previous })),
      );
      await refresh();
    });
  };
  return (
    <Dialog title={`Resolve ${issue.key}`} onClose={onClose}>
      <Form
        fields={[resolutionField, { name: 'reason', label: 'Comment', kind: 'text' }]}
        action="Resolve"
        submit={resolve}
        onClose={onClose}
      >
        <p>
          <bdi>{current.title}</bdi>
        </p>
        <Theirs item={current} former={former} />
      </Form>
    </Dialog>
  );
}
