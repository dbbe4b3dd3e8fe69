import { useLocation } from 'wouter';
import { api, basePath, dataOrThrow, ifMatch } from '../api/client.ts';
import {
  type Project,
  type ProjectInput,
  type ProjectPatch,
  projectAcceptanceValues,
  projectStatusValues,
  type RiskModel,
} from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { choiceField, type FieldOf, referenceField } from '../components/form-values.ts';
import { CreateDialog } from '../fields/create-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { enumOptions } from '../format.ts';
import { useReadablePerson } from '../personnel/queries.ts';
import { highestScore, useRiskModel } from '../risks/model.ts';

const fieldsOf = (model?: RiskModel, project?: Project, lead?: string): FieldOf<ProjectInput>[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  {
    name: 'key',
    label: 'Key',
    kind: 'line',
    half: true,
    hint: project
      ? '2 to 10 characters, A-Z and 0-9. Existing risks, issues and tasks keep their keys.'
      : '2 to 10 characters, A-Z and 0-9. Leave blank to derive it from the name.',
  },
  {
    name: 'appetite',
    label: 'Risk appetite (score)',
    kind: 'number',
    min: 1,
    ...(model && { max: highestScore(model) }),
    half: true,
    hint: `Risks with a higher score need attention.${model ? ` Leave blank to use ${model.default_appetite}.` : ''}`,
  },
  choiceField(
    'acceptance',
    'Who may accept a risk above the appetite',
    enumOptions(projectAcceptanceValues),
    { required: !!project },
  ),
  { name: 'description', label: 'Description', kind: 'text' },
  // Blank in a new project: the service has the default.
  choiceField('status', 'Status', enumOptions(projectStatusValues), { required: !!project, half: true }),
  referenceField('lead_user_id', 'Lead', 'person', lead, { half: true }),
  { name: 'start_on', label: 'Start', kind: 'day', half: true },
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
  { name: 'external_id', label: 'External ID', kind: 'line', isOnPageOnly: true },
];

export const NewProject = ({ onClose }: { onClose: () => void }) => (
  <CreateDialog<ProjectInput, Project>
    action="Create project"
    fields={fieldsOf(useRiskModel().data)}
    create={(body) => api.POST('/v1/projects', { body })}
    done={({ key }) => ({ message: `Created ${key}`, path: `/projects/${key}` })}
    onClose={onClose}
  />
);

export function useProjectEditor(project: Project): Editor<ProjectPatch, Project> {
  const lead = useReadablePerson(project.lead_user_id)?.name;
  const { data: model } = useRiskModel();
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const canEdit = useHasScope()('projects.manage');
  const params = { path: { project_id: project.id } };
  return {
    id: project.id,
    name: project.key,
    list: '/projects',
    item: project,
    fields: fieldsOf(model, project, lead),
    canEdit: canEdit && project.archived_at === null,
    save: async (body, base) => {
      const next = await dataOrThrow(
        api.PATCH('/v1/projects/{project_id}', { params, body, ...ifMatch(base) }),
      );
      // Undo can be pressed on another page, which must stay. The former address is gone.
      const isHere = location.pathname === `${basePath}/projects/${base.key}`;
      if (isHere && next.key !== base.key)
        navigate(`/projects/${next.key}${location.search}`, { replace: true });
      await refresh();
      return next;
    },
    reload: () => dataOrThrow(api.GET('/v1/projects/{project_id}', { params })),
    remove: () => dataOrThrow(api.DELETE('/v1/projects/{project_id}', { params, ...ifMatch(project) })),
  };
}
