import { useLocation } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Project, ProjectInput, ProjectPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';
import { withWords } from '../format.ts';
import { projectStatuses } from './queries.ts';

const fields: Field[] = [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  {
    name: 'key',
    label: 'Key',
    kind: 'line',
    half: true,
    hint: '2 to 10 of A-Z and 0-9. Made from the name when left empty.',
  },
  {
    name: 'appetite',
    label: 'Appetite',
    kind: 'number',
    min: 1,
    max: 25,
    half: true,
    hint: 'The score above which a risk needs attention; 12 when left empty.',
  },
  { name: 'description', label: 'Description', kind: 'text' },
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: withWords(projectStatuses),
    half: true,
  },
  { name: 'lead_user_id', label: 'Lead', kind: 'person', half: true },
  { name: 'start_on', label: 'Start', kind: 'day', half: true },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
];

export function NewProject({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async (values: Values) => {
    const project = await answerOf(api.POST('/v1/projects', { body: values as ProjectInput }));
    await refresh();
    toast(`${project.key} is made.`);
    navigate(`/projects/${project.key}`);
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form fields={fields} action="Create project" submit={create} onClose={onClose} />
    </Dialog>
  );
}

export function EditProject({
  project,
  lead,
  onClose,
}: {
  project: Project;
  lead: string | null;
  onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const save = async (values: Values) => {
    const { key } = await answerOf(
      api.PATCH('/v1/projects/{project_id}', {
        params: { path: { project_id: project.id } },
        body: values as ProjectPatch,
        ...ifMatch(project),
      }),
    );
    await refresh();
    toast(`${key} is saved.`);
    if (key !== project.key) navigate(`/projects/${key}`);
  };
  const shown = fields.map((field) => (field.name === 'lead_user_id' ? { ...field, shown: lead } : field));
  return (
    <Dialog title={`Edit ${project.key}`} onClose={onClose}>
      <Form fields={shown} initial={project} action="Save" submit={save} onClose={onClose} />
    </Dialog>
  );
}
