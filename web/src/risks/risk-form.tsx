import { useLocation } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import type { Risk, RiskInput, RiskPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';
import { withWords, words } from '../format.ts';
import { strategies, useRiskModel } from './model.ts';
import { usePatchRisk } from './queries.ts';

type Scale = { value: number; word: string }[];

/** What can be said of a risk; its states have dialogs of their own. */
function fieldsOf(probability: Scale, impact: Scale, risk?: Risk): Field[] {
  const steps = (scale: Scale) =>
    scale.map(({ value, word }) => [String(value), `${value} – ${words(word)}`] as const);
  const owner = risk?.owner_name ?? null;
  return [
    { name: 'title', label: 'Title', kind: 'line', required: true },
    { name: 'description', label: 'Description', kind: 'text' },
    { name: 'probability', label: 'Probability', kind: 'choice', options: steps(probability), half: true },
    { name: 'impact', label: 'Impact', kind: 'choice', options: steps(impact), half: true },
    {
      name: 'residual_probability',
      label: 'Residual probability',
      kind: 'choice',
      options: steps(probability),
      half: true,
    },
    { name: 'residual_impact', label: 'Residual impact', kind: 'choice', options: steps(impact), half: true },
    {
      name: 'owner_user_id',
      label: 'Owner',
      kind: 'person',
      half: true,
      shown: risk?.owner_user_id ? owner : null,
    },
    {
      name: 'owner_group_id',
      label: 'Or owning group',
      kind: 'group',
      half: true,
      shown: risk?.owner_group_id ? owner : null,
    },
    { name: 'due_on', label: 'Due', kind: 'day', half: true },
    { name: 'review_on', label: 'Review', kind: 'day', half: true },
    {
      name: 'kind',
      label: 'Kind',
      kind: 'choice',
      options: withWords(['threat', 'opportunity']),
      required: true,
      half: true,
    },
    {
      name: 'strategy',
      label: 'Strategy',
      kind: 'choice',
      options: withWords(strategies),
      half: true,
    },
    { name: 'category', label: 'Category', kind: 'line' },
    { name: 'response_plan', label: 'Response plan', kind: 'text' },
    { name: 'contingency_plan', label: 'Contingency plan', kind: 'text' },
    { name: 'trigger', label: 'Trigger', kind: 'text', hint: 'What would show that it is happening.' },
  ];
}

export function NewRisk({ project, onClose }: { project: string | undefined; onClose: () => void }) {
  const { data: model } = useRiskModel();
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  if (!model) return null;
  const create = async ({ project: project_id, ...body }: Values) => {
    const risk = await answerOf(
      api.POST('/v1/projects/{project_id}/risks', {
        params: { path: { project_id: String(project_id) } },
        body: body as RiskInput,
      }),
    );
    await refresh();
    toast(`${risk.key} is in the register.`);
    navigate(`/risks/${risk.key}`);
  };
  const chosen: Field = { name: 'project', label: 'Project', kind: 'project', required: true };
  return (
    <Dialog title="New risk" wide onClose={onClose}>
      <Form
        fields={
          project
            ? fieldsOf(model.probability, model.impact)
            : [chosen, ...fieldsOf(model.probability, model.impact)]
        }
        action="Create risk"
        submit={(values) => create(project ? { ...values, project } : values)}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function EditRisk({ risk, onClose }: { risk: Risk; onClose: () => void }) {
  const { data: model } = useRiskModel();
  const patch = usePatchRisk();
  if (!model) return null;
  const save = async (values: Values) => {
    await patch(risk, values as RiskPatch);
    toast(`${risk.key} is saved.`);
  };
  return (
    <Dialog title={`Edit ${risk.key}`} wide onClose={onClose}>
      <Form
        fields={fieldsOf(model.probability, model.impact, risk)}
        initial={risk}
        action="Save"
        submit={save}
        onClose={onClose}
      />
    </Dialog>
  );
}
