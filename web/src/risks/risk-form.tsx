import { api } from '../api/client.ts';
import { type Risk, type RiskInput, type RiskPatch, riskStrategyValues } from '../api/openapi.ts';
import type { FieldOf } from '../components/form-values.ts';
import { CreateItemDialog } from '../fields/create-dialog.tsx';
import { type Editor, useItemEditor } from '../fields/editor.ts';
import { enumOptions, humanize } from '../format.ts';
import { useReadablePerson } from '../personnel/queries.ts';
import { useTitleIn } from '../projects/queries.ts';
import { useRiskModel } from './model.ts';
import { transitionForms } from './transition-forms.ts';

type Scale = { value: number; word: string }[];

/** The fields of a risk without its status, which has dialogs of its own. */
function fieldsOf(
  probability: Scale = [],
  impact: Scale = [],
  risk?: Risk,
  raisedBy: string | null = null,
): FieldOf<RiskInput>[] {
  const ratings = (scale: Scale) =>
    scale.map(({ value, word }) => [value, `${value} – ${humanize(word)}`] as const);
  const owner = risk?.owner_name ?? null;
  return [
    { name: 'title', label: 'Title', kind: 'line', required: true },
    { name: 'description', label: 'Description', kind: 'text' },
    {
      name: 'probability',
      label: 'Probability',
      section: 'Assessment',
      kind: 'choice',
      options: ratings(probability),
      half: true,
    },
    { name: 'impact', label: 'Impact', kind: 'choice', options: ratings(impact), half: true },
    {
      name: 'residual_probability',
      label: 'Residual probability',
      kind: 'choice',
      options: ratings(probability),
      half: true,
    },
    {
      name: 'residual_impact',
      label: 'Residual impact',
      kind: 'choice',
      options: ratings(impact),
      half: true,
    },
    {
      name: 'owner_user_id',
      label: 'Owner',
      section: 'Owner and dates',
      kind: 'person',
      half: true,
      selectedName: risk?.owner_user_id ? owner : null,
    },
    {
      name: 'owner_group_id',
      label: 'Owning group',
      kind: 'group',
      half: true,
      selectedName: risk?.owner_group_id ? owner : null,
    },
    { name: 'due_on', label: 'Due', kind: 'day', half: true },
    { name: 'review_on', label: 'Review', kind: 'day', half: true },
    {
      name: 'kind',
      label: 'Kind',
      section: 'Response',
      kind: 'choice',
      options: enumOptions(['threat', 'opportunity']),
      required: true,
      half: true,
    },
    {
      name: 'strategy',
      label: 'Strategy',
      kind: 'choice',
      options: enumOptions(riskStrategyValues),
      half: true,
    },
    { name: 'category', label: 'Category', kind: 'line' },
    { name: 'response_plan', label: 'Response plan', kind: 'text' },
    { name: 'contingency_plan', label: 'Contingency plan', kind: 'text' },
    { name: 'trigger', label: 'Trigger', kind: 'text', hint: 'Early warning sign' },
    { name: 'raised_on', label: 'Raised', kind: 'day', required: true, isOnPageOnly: true },
    {
      name: 'raised_by_user_id',
      label: 'Raised by',
      kind: 'person',
      selectedName: raisedBy,
      isOnPageOnly: true,
    },
    { name: 'external_id', label: 'External ID', kind: 'line', isOnPageOnly: true },
    { name: 'source_url', label: 'Source', kind: 'line', isOnPageOnly: true },
  ];
}

type NewProps = { project: string | undefined; onClose: () => void };

export function NewRisk({ project, onClose }: NewProps) {
  const model = useRiskModel();
  return (
    <CreateItemDialog<RiskInput, Risk>
      project={project}
      title={useTitleIn(project, 'Create risk')}
      action="Create risk"
      wide
      needed={model}
      fields={fieldsOf(model.data?.probability, model.data?.impact)}
      create={(project_id, body) =>
        api.POST('/v1/projects/{project_id}/risks', { params: { path: { project_id } }, body })
      }
      done={({ key }) => ({ message: `Created ${key}`, path: `/risks/${key}` })}
      onClose={onClose}
    />
  );
}

/** The reasons and dates of an acceptance or a closure can be corrected on the page. */
const statusFields: FieldOf<RiskPatch>[] = [
  ...transitionForms.accepted().fields,
  ...transitionForms.closed().fields,
].map((field) => ({ ...field, isOnPageOnly: true }));

export function useRiskEditor(risk: Risk): Editor<RiskPatch, Risk> {
  const { data: model } = useRiskModel();
  const raisedBy = useReadablePerson(risk.raised_by_user_id);
  const editor = useItemEditor('risks', risk, [
    ...fieldsOf(model?.probability, model?.impact, risk, raisedBy?.name),
    ...statusFields,
  ]);
  return { ...editor, isWide: true, canEdit: editor.canEdit && model !== undefined };
}
