import { api } from '../api/client.ts';
import {
  type Risk,
  type RiskInput,
  type RiskPatch,
  riskKindValues,
  riskStrategyValues,
} from '../api/openapi.ts';
import {
  choiceField,
  type Field,
  type FieldOf,
  referenceField,
  shownFields,
} from '../components/form-values.ts';
import { CreateItemDialog } from '../fields/create-dialog.tsx';
import { type Editor, useItemEditor } from '../fields/editor.ts';
import { enumOptions, humanize } from '../format.ts';
import { useReadablePerson } from '../personnel/queries.ts';
import { useTitleIn } from '../projects/queries.ts';
import { hintOf, RatingGrid } from './assess.tsx';
import { type RiskKind, wordsOf } from './kinds.ts';
import { useRiskModel } from './model.ts';
import { useCategories } from './queries.ts';
import { transitionForms } from './transition-forms.ts';

type RiskModel = ReturnType<typeof useRiskModel>['data'];
type Scale = { value: number; word: string }[];

/** The fields of a risk without its status, which has dialogs of its own. */
function fieldsOf(model?: RiskModel, risk?: Risk, raisedBy?: string): FieldOf<RiskInput>[] {
  const { probability = [], impact = [] } = model ?? {};
  const ratings = (scale: Scale) =>
    scale.map(({ value, word }) => [value, `${value} – ${humanize(word)}`] as const);
  return [
    { name: 'title', label: 'Title', kind: 'line', required: true },
    { name: 'description', label: 'Description', kind: 'text' },
    choiceField('probability', 'Probability', ratings(probability), { section: 'Assessment', half: true }),
    choiceField('impact', 'Impact', ratings(impact), { half: true }),
    choiceField('residual_probability', 'Residual probability', ratings(probability), { half: true }),
    choiceField('residual_impact', 'Residual impact', ratings(impact), { half: true }),
    referenceField('owner_user_id', 'Owner', 'person', risk?.owner_user_id && risk.owner_name, {
      section: 'Owner and dates',
      half: true,
    }),
    referenceField('owner_group_id', 'Owning group', 'group', risk?.owner_group_id && risk.owner_name, {
      half: true,
    }),
    { name: 'due_on', label: 'Due', kind: 'day', half: true },
    { name: 'review_on', label: 'Review', kind: 'day', half: true },
    choiceField('kind', 'Kind', enumOptions(riskKindValues), {
      section: 'Response',
      required: true,
      half: true,
    }),
    choiceField('strategy', 'Strategy', enumOptions(riskStrategyValues), { half: true }),
    { name: 'category', label: 'Category', kind: 'line' },
    { name: 'response_plan', label: 'Response plan', kind: 'text' },
    { name: 'contingency_plan', label: 'Contingency plan', kind: 'text' },
    { name: 'trigger', label: 'Trigger', kind: 'text', hint: 'Early warning sign' },
    { name: 'raised_on', label: 'Raised', kind: 'day', required: true, isOnPageOnly: true },
    referenceField('raised_by_user_id', 'Raised by', 'person', raisedBy, { isOnPageOnly: true }),
    { name: 'external_id', label: 'External ID', kind: 'line', isOnPageOnly: true },
    { name: 'source_url', label: 'Source', kind: 'line', isOnPageOnly: true },
  ];
}

/** What the fields say of a threat or an opportunity, also while its kind is being chosen. */
function inWords(fields: readonly FieldOf<RiskInput>[], risk?: Risk): FieldOf<RiskInput>[] {
  const given: FieldOf<RiskInput>['given'] = (draft, { name, label, options = [] }) => {
    const { probability, impact, strategies } = wordsOf(draft.kind as RiskKind);
    const labels: Record<string, string> = {
      probability,
      impact,
      residual_probability: `Residual ${probability.toLowerCase()}`,
      residual_impact: `Residual ${impact.toLowerCase()}`,
    };
    if (name !== 'strategy') return { label: labels[name] ?? label };
    const offered: readonly unknown[] = [...strategies, risk?.strategy];
    return { options: options.filter(([value]) => offered.includes(value)) };
  };
  return fields.map((field) => ({ ...field, given }));
}

const firstFields: readonly string[] = ['kind', 'title', 'probability', 'impact', 'owner_user_id', 'due_on'];

/** A new risk is rated in the grid, and what else a register can have is under "More". */
function forNew(fields: readonly FieldOf<RiskInput>[]): FieldOf<RiskInput>[] {
  const place = ({ name }: Field) => firstFields.indexOf(name);
  return fields
    .map(
      ({ section: _, ...field }) =>
        ({ ...field, ...inGrid[field.name], isMore: place(field) < 0 }) as FieldOf<RiskInput>,
    )
    .toSorted((one, other) => place(one) - place(other));
}

const inGrid: Record<string, Partial<Field>> = {
  probability: {
    label: 'Rating',
    half: false,
    given: ({ kind }) => ({ hint: hintOf('current', kind as RiskKind) }),
    input: ({ kind, probability, impact }, change) => (
      <RatingGrid
        kind={kind as RiskKind}
        selected={probability ? { probability: Number(probability), impact: Number(impact) } : null}
        onSelect={(cell) => {
          // The same cell again removes the rating.
          const isSame = probability === String(cell.probability) && impact === String(cell.impact);
          change({
            probability: isSame ? '' : String(cell.probability),
            impact: isSame ? '' : String(cell.impact),
          });
        }}
      />
    ),
  },
  impact: { isSetBeside: true },
};

/** The field of the category suggests those of the list first. */
function useSuggestions(fields: readonly FieldOf<RiskInput>[]): FieldOf<RiskInput>[] {
  const { data = [] } = useCategories();
  const suggestions = data.map(({ name }) => name);
  return fields.map((field) => (field.name === 'category' ? { ...field, suggestions } : field));
}

type NewProps = { project: string | undefined; onClose: () => void };

export function NewRisk({ project, onClose }: NewProps) {
  const model = useRiskModel();
  return (
    <CreateItemDialog<RiskInput, Risk>
      project={project}
      title={useTitleIn(project, 'Create risk')}
      action="Create risk"
      needed={model}
      fields={forNew(useSuggestions(inWords(fieldsOf(model.data))))}
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
    ...useSuggestions(shownFields(inWords(fieldsOf(model, risk, raisedBy?.name), risk), { kind: risk.kind })),
    ...statusFields,
  ]);
  return { ...editor, isWide: true, canEdit: editor.canEdit && model !== undefined };
}
