import { useLocation } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Project, ProjectInput, ProjectPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { enumOptions } from '../format.ts';
import { projectStatuses } from './queries.ts';

const fieldsOf = (lead: string | null): FieldOf<ProjectInput>[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  {
    name: 'key',
    label: 'Key',
    kind: 'line',
    half: true,
    hint: '2 to 10 characters, A-Z and 0-9. Leave blank to derive it from the name.',
  },
  {
    name: 'appetite',
    label: 'Appetite',
    kind: 'number',
    min: 1,
    max: 25,
    half: true,
    hint: 'Risks with a higher score need attention. Leave blank to use 12.',
  },
  { name: 'description', label: 'Description', kind: 'text' },
  { name: 'status', label: 'Status', kind: 'choice', options: enumOptions(projectStatuses), half: true },
  { name: 'lead_user_id', label: 'Lead', kind: 'person', half: true, selectedName: lead },
  { name: 'start_on', label: 'Start', kind: 'day', half: true },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
];

export function NewProject({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async (body: ProjectInput) => {
    const project = await dataOrThrow(api.POST('/v1/projects', { body }));
    await refresh();
    toast(`Created ${project.key}`);
    navigate(`/projects/${project.key}`);
  };
  return (
    <Dialog title="Create project" onClose={onClose}>
      <Form fields={fieldsOf(null)} action="Create project" submit={create} onClose={onClose} />
    </Dialog>
  );
}

type EditProps = { project: Project; lead: string | null; onClose: () => void };

export function EditProject({ project, lead, onClose }: EditProps) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const params = { path: { project_id: project.id } };
  const save = async (body: ProjectPatch, edited: Project) => {
    const { key } = await dataOrThrow(
      api.PATCH('/v1/projects/{project_id}', { params, body, ...ifMatch(edited) }),
    );
    await refresh();
    toast(`Saved ${key}`);
    if (key !== project.key) navigate(`/projects/${key}`);
  };
  return (
    <Dialog title={`Edit ${project.key}`} onClose={onClose}>
      <Form
        fields={fieldsOf(lead)}
        initial={project}
        action="Save"
        submit={save}
        reload={() => dataOrThrow(api.GET('/v1/projects/{project_id}', { params }))}
        onClose={onClose}
      />
    </Dialog>
  );
}
