import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { humanize } from '../format.ts';
import { axesOf, cellAt, type Level, levelColors } from '../risks/model.ts';
import { type Axis, draftOf, type ModelDraft, resized, withVeryLow } from './model-draft.ts';

type Props = { draft: ModelDraft; isReadOnly: boolean; onChange: (draft: ModelDraft) => void };

/** The form of a risk model. */
export const ModelEditor = ({ isReadOnly, ...props }: Props) => (
  <fieldset className="model-editor" disabled={isReadOnly} aria-label="Risk model">
    <Card id="model-matrix" title="Matrix">
      {!isReadOnly && <Presets onChange={props.onChange} />}
      <Matrix {...props} />
    </Card>
    <Card id="model-scales" title="Ratings">
      <div className="columns">
        <Scale axis="probability" {...props} />
        <Scale axis="impact" {...props} />
      </div>
    </Card>
    <Card id="model-levels" title="Levels">
      <Levels {...props} />
    </Card>
    <Card id="model-limits" title="Limits">
      <Limits {...props} />
    </Card>
  </fieldset>
);

type PartProps = Omit<Props, 'isReadOnly'>;

function Presets({ onChange }: Pick<Props, 'onChange'>) {
  const { data: presets } = useQuery({
    queryKey: ['risk-model', 'presets'],
    queryFn: () => dataOrThrow(api.GET('/v1/risk-model/presets')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <p className="button-row">
      <span className="quiet">Start from</span>
      {presets?.data.map(({ id, name, description, model }) => (
        <span key={id} title={description}>
          <Button small onPress={() => onChange(draftOf(model))}>
            {name}
          </Button>
        </span>
      ))}
    </p>
  );
}

/** The level of each cell, and its color, if cells have colors of their own. */
function Matrix({ draft, onChange }: PartProps) {
  const { rows, columns } = axesOf(draft.cells);
  const [hasColors, setHasColors] = useState(draft.cells.some(({ color }) => color));
  const set = (probability: number, impact: number, part: { level?: Level; color?: string | null }) =>
    onChange({
      ...draft,
      cells: draft.cells.map((cell) =>
        cell.probability === probability && cell.impact === impact ? { ...cell, ...part } : cell,
      ),
    });
  const model = { levels: draft.levels } as Parameters<typeof levelColors>[0];
  return (
    <>
      <div className="matrix-frame">
        <table className="heat-map assess">
          <caption>Probability</caption>
          <tbody>
            {rows.map((probability) => (
              <tr key={probability}>
                <th scope="row">
                  {probability} {draft.probability[probability - 1]?.word}
                </th>
                {columns.map((impact) => {
                  const cell = cellAt(draft.cells, probability, impact);
                  const { className, ...style } = levelColors(model, cell?.level ?? null, {
                    cellColor: cell?.color,
                  });
                  const name = `probability ${probability}, impact ${impact}`;
                  return (
                    <td key={impact}>
                      <div className={`model-cell ${className}`} {...style}>
                        <select
                          aria-label={`Level of ${name}`}
                          value={cell?.level}
                          onChange={({ target }) =>
                            set(probability, impact, { level: target.value as Level })
                          }
                        >
                          {draft.levels.toReversed().map(({ level, label }) => (
                            <option key={level} value={level}>
                              {label}
                            </option>
                          ))}
                        </select>
                        {hasColors && (
                          <ColorInput
                            label={`Color of ${name}`}
                            color={cell?.color ?? null}
                            onChange={(color) => set(probability, impact, { color })}
                          />
                        )}
                      </div>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td />
              {columns.map((impact) => (
                <th key={impact} scope="col">
                  {impact} <span className="word">{draft.impact[impact - 1]?.word}</span>
                </th>
              ))}
            </tr>
            <tr>
              <td />
              <td className="axis-title" colSpan={columns.length}>
                Impact
              </td>
            </tr>
          </tfoot>
        </table>
      </div>
      <Check
        label="Cells have colors of their own"
        isChecked={hasColors}
        onChange={(isChecked) => {
          setHasColors(isChecked);
          if (!isChecked)
            onChange({ ...draft, cells: draft.cells.map((cell) => ({ ...cell, color: null })) });
        }}
      />
    </>
  );
}

function Scale({ axis, draft, onChange }: PartProps & { axis: Axis }) {
  const id = useId();
  const steps = draft[axis];
  const set = (at: number, part: { word?: string; description?: string | null }) =>
    onChange({ ...draft, [axis]: steps.map((step, i) => (i === at ? { ...step, ...part } : step)) });
  return (
    <div>
      <div className="field">
        <label htmlFor={id}>Number of ratings of {axis}</label>
        <select
          id={id}
          value={steps.length}
          onChange={({ target }) => onChange(resized(draft, axis, Number(target.value)))}
        >
          {[3, 4, 5, 6, 7].map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </div>
      <ol className="model-steps">
        {steps.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the position is the rating
          <li key={i}>
            <input
              aria-label={`Label of ${axis} ${i + 1}`}
              maxLength={60}
              required
              value={step.word}
              onChange={({ target }) => set(i, { word: target.value })}
            />
            <input
              aria-label={`Description of ${axis} ${i + 1}`}
              maxLength={1000}
              placeholder="Description"
              value={step.description ?? ''}
              onChange={({ target }) => set(i, { description: target.value || null })}
            />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Levels({ draft, onChange }: PartProps) {
  const set = (level: Level, part: Partial<ModelDraft['levels'][number]>) =>
    onChange({
      ...draft,
      levels: draft.levels.map((one) => (one.level === level ? { ...one, ...part } : one)),
    });
  return (
    <>
      <table className="table model-levels">
        <thead>
          <tr>
            <th scope="col">Level</th>
            <th scope="col">Label</th>
            <th scope="col">Color</th>
            <th scope="col">Review after days</th>
          </tr>
        </thead>
        <tbody>
          {draft.levels.toReversed().map(({ level, label, color = null, review_days }) => (
            <tr key={level}>
              <th scope="row">{humanize(level)}</th>
              <td>
                <input
                  aria-label={`Label of ${humanize(level)}`}
                  maxLength={60}
                  required
                  value={label}
                  onChange={({ target }) => set(level, { label: target.value })}
                />
              </td>
              <td>
                <ColorInput
                  label={`Color of ${humanize(level)}`}
                  color={color}
                  onChange={(next) => set(level, { color: next })}
                />
              </td>
              <td>
                <input
                  type="number"
                  aria-label={`Review ${humanize(level)} after days`}
                  min={1}
                  max={3650}
                  placeholder="Never"
                  value={review_days ?? ''}
                  onChange={({ target }) => set(level, { review_days: Number(target.value) || null })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Check
        label="A level below low"
        isChecked={draft.levels.some(({ level }) => level === 'very_low')}
        onChange={(isChecked) => onChange(withVeryLow(draft, isChecked))}
      />
    </>
  );
}

function Limits({ draft, onChange }: PartProps) {
  const id = useId();
  const highest = draft.probability.length * draft.impact.length;
  return (
    <div className="fields">
      <div className="field half">
        <label htmlFor={`${id}-appetite`}>Risk appetite (score) of new projects</label>
        <input
          id={`${id}-appetite`}
          type="number"
          min={1}
          max={highest}
          required
          value={draft.default_appetite || ''}
          onChange={({ target }) => onChange({ ...draft, default_appetite: Number(target.value) })}
        />
        <p className="hint">Risks with a higher score need attention: 1 to {highest}.</p>
      </div>
      <div className="field half">
        <label htmlFor={`${id}-acceptance`}>Longest acceptance in days</label>
        <input
          id={`${id}-acceptance`}
          type="number"
          min={1}
          placeholder="No limit"
          value={draft.longest_acceptance_days ?? ''}
          onChange={({ target }) =>
            onChange({ ...draft, longest_acceptance_days: Number(target.value) || null })
          }
        />
      </div>
    </div>
  );
}

type CheckProps = { label: string; isChecked: boolean; onChange: (isChecked: boolean) => void };

const Check = ({ label, isChecked, onChange }: CheckProps) => (
  <label className="model-check">
    <input type="checkbox" checked={isChecked} onChange={({ target }) => onChange(target.checked)} />
    {label}
  </label>
);

type ColorProps = { label: string; color: string | null; onChange: (color: string | null) => void };

/** Browsers have no empty color, so a button removes it. */
const ColorInput = ({ label, color, onChange }: ColorProps) => (
  <span className="color-input">
    <input
      type="color"
      aria-label={label}
      className={color ? undefined : 'unset'}
      value={color ?? '#808080'}
      onChange={({ target }) => onChange(target.value)}
    />
    {color && (
      <Button
        small
        plain
        icon="close"
        aria-label={`Remove: ${label.toLowerCase()}`}
        onPress={() => onChange(null)}
      />
    )}
  </span>
);
