import { useLocation } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import type { Issue, IssueInput, IssuePatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';
import { withWords } from '../format.ts';
import { priorities, resolutions, severities } from './model.ts';
import { usePatchIssue } from './queries.ts';

/** What can be said of an issue; its states have dialogs of their own. */
const fieldsOf = (issue?: Issue): Field[] => [
  { name: 'title', label: 'Title', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  {
    name: 'severity',
    label: 'Severity',
    kind: 'choice',
    options: withWords(severities),
    required: true,
    half: true,
  },
  {
    name: 'priority',
    label: 'Priority',
    kind: 'choice',
    options: withWords(priorities),
    required: true,
    half: true,
  },
  {
    name: 'assignee_user_id',
    label: 'Assign to',
    kind: 'person',
    half: true,
    shown: issue?.assignee_name ?? null,
  },
  {
    name: 'owner_user_id',
    label: 'Owner',
    kind: 'person',
    half: true,
    shown: issue?.owner_user_id ? (issue.owner_name ?? null) : null,
  },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
];

export function NewIssue({ project, onClose }: { project: string | undefined; onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async ({ project: project_id, ...body }: Values) => {
    const issue = await answerOf(
      api.POST('/v1/projects/{project_id}/issues', {
        params: { path: { project_id: String(project_id) } },
        body: body as IssueInput,
      }),
    );
    await refresh();
    toast(`${issue.key} is open.`);
    navigate(`/issues/${issue.key}`);
  };
  const chosen: Field = { name: 'project', label: 'Project', kind: 'project', required: true };
  return (
    <Dialog title="New issue" onClose={onClose}>
      <Form
        fields={project ? newFields : [chosen, ...newFields]}
        action="Create issue"
        submit={(values) => create(project ? { ...values, project } : values)}
        onClose={onClose}
      />
    </Dialog>
  );
}

/** New issues are medium and normal unless it is said otherwise: the service decides, so nothing is chosen here. */
const newFields = fieldsOf().map((field) =>
  field.kind === 'choice' ? { ...field, required: false } : field,
);

export function EditIssue({ issue, onClose }: { issue: Issue; onClose: () => void }) {
  const patch = usePatchIssue();
  const save = async (values: Values) => {
    await patch(issue, values as IssuePatch);
    toast(`${issue.key} is saved.`);
  };
  return (
    <Dialog title={`Edit ${issue.key}`} onClose={onClose}>
      <Form fields={fieldsOf(issue)} initial={issue} action="Save" submit={save} onClose={onClose} />
    </Dialog>
  );
}

export function ResolveIssue({ issue, onClose }: { issue: Issue; onClose: () => void }) {
  const patch = usePatchIssue();
  const resolve = async (values: Values) => {
    const next = await patch(issue, { ...(values as IssuePatch), status: 'resolved' });
    toast(`${issue.key} is resolved.`, () =>
      patch(next, { status: 'in_progress', reason: 'Resolved by mistake.' }),
    );
  };
  return (
    <Dialog title={`Resolve ${issue.key}`} onClose={onClose}>
      <Form
        fields={[
          {
            name: 'resolution',
            label: 'How',
            kind: 'choice',
            options: withWords(resolutions),
            required: true,
          },
          { name: 'reason', label: 'Remark for the history', kind: 'text' },
        ]}
        action="Resolve"
        submit={resolve}
        onClose={onClose}
      >
        <p>
          <bdi>{issue.title}</bdi>
        </p>
      </Form>
    </Dialog>
  );
}
