import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { usePatchItem } from '../api/items.ts';
import type { Risk, RiskPatch } from '../api/openapi.ts';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Toggle } from '../components/filters.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { humanize } from '../format.ts';
import { kindClass, type RiskKind, wordsOf } from './kinds.ts';
import { axesOf, cellAt, levelColors, useRiskModel } from './model.ts';
import './heat-map.css';

export type Cell = { probability: number; impact: number };

/** The steps of the arrow keys; the highest probability is at the top. */
const steps: Record<string, Cell> = {
  ArrowUp: { probability: 1, impact: 0 },
  ArrowDown: { probability: -1, impact: 0 },
  ArrowRight: { probability: 0, impact: 1 },
  ArrowLeft: { probability: 0, impact: -1 },
};

const clamp = (value: number, max: number) => Math.min(Math.max(value, 1), max);

const fields: FieldOf<RiskPatch>[] = [
  {
    name: 'reason',
    label: 'Reason',
    kind: 'line',
    hint: 'Optional. Shown in the history and beside the score.',
  },
];

type Rating = 'current' | 'residual';

const scoreOf = (cell: Cell | null) => cell && cell.probability * cell.impact;

const isSame = (a: Cell | null, b: Cell | null) =>
  a?.probability === b?.probability && a?.impact === b?.impact;

const cellOf = (probability: number | null, impact: number | null): Cell | null =>
  probability === null || impact === null ? null : { probability, impact };

/** Sets the current and the residual rating of a risk in one grid. */
export function Assess({ risk: live, onClose }: { risk: Risk; onClose: () => void }) {
  const { item: risk, former } = useOpened(live);
  const patch = usePatchItem('risks');
  const [rating, setRating] = useState<Rating>('current');
  const [chosen, setChosen] = useState<Partial<Record<Rating, Cell>>>({});
  const before = {
    current: cellOf(risk.probability, risk.impact),
    residual: cellOf(risk.residual_probability, risk.residual_impact),
  };
  const after = { ...before, ...chosen };
  const isChanged = (one: Rating) => !isSame(after[one], before[one]);
  // The response to a threat does not raise it.
  const max = rating === 'residual' && risk.kind === 'threat' ? scoreOf(after.current) : null;
  const save = async ({ reason }: RiskPatch) => {
    const { current, residual } = after;
    if (current === null && residual === null) throw new Error('Choose a cell first.');
    const next = await patch(risk, {
      ...(isChanged('current') && current),
      ...(isChanged('residual') &&
        residual && { residual_probability: residual.probability, residual_impact: residual.impact }),
      ...(reason && { reason }),
    });
    const { probability, impact, residual_probability, residual_impact } = risk;
    toast(
      isChanged('residual') && !isChanged('current')
        ? `Assessed ${risk.key}: residual score ${scoreOf(residual)}`
        : `Assessed ${risk.key}: score ${scoreOf(current)}`,
      () => patch(next, { probability, impact, residual_probability, residual_impact }),
    );
  };
  return (
    <Dialog title={`Assess ${risk.key}`} onClose={onClose}>
      <Form
        fields={fields}
        isDirty={isChanged('current') || isChanged('residual')}
        action="Save"
        submit={save}
        onClose={onClose}
      >
        <p>
          <bdi>{risk.title}</bdi>
        </p>
        <Theirs
          item={risk}
          former={former}
          mine={{
            ...chosen.current,
            ...(chosen.residual && {
              residual_probability: chosen.residual.probability,
              residual_impact: chosen.residual.impact,
            }),
          }}
        />
        <fieldset className="button-row">
          <legend className="visually-hidden">Rating</legend>
          {(['current', 'residual'] as const).map((one) => (
            <Toggle key={one} isOn={rating === one} onPress={() => setRating(one)}>
              {humanize(one)}: {scoreOf(after[one]) ?? '–'}
            </Toggle>
          ))}
        </fieldset>
        <RatingGrid
          kind={risk.kind}
          focusesFirst
          selected={after[rating]}
          other={after[rating === 'current' ? 'residual' : 'current']}
          max={max}
          onSelect={(cell) => setChosen({ ...chosen, [rating]: cell })}
        />
        <p className="hint">{hintOf(rating, risk.kind)}</p>
      </Form>
    </Dialog>
  );
}

export function hintOf(rating: Rating, kind: RiskKind): string {
  const { probability, impact } = wordsOf(kind);
  const axes = `Choose the ${probability.toLowerCase()} (rows) and the ${impact.toLowerCase()} (columns), or type two digits,`;
  if (rating === 'current') return `${axes} as they are now.`;
  const limit = kind === 'threat' ? " The score can't be above the current one." : '';
  return `${axes} that remain after the response.${limit}`;
}

type GridProps = {
  kind: RiskKind;
  /** Whether it takes the focus. */
  focusesFirst?: boolean;
  selected: Cell | null;
  /** The cell of the other rating, which is marked. */
  other?: Cell | null;
  /** The highest score that can be selected. */
  max?: number | null;
  onSelect: (cell: Cell) => void;
};

export function RatingGrid(props: GridProps) {
  const { kind, focusesFirst = false, selected, other = null, max = null, onSelect } = props;
  const { data: model } = useRiskModel();
  const words = wordsOf(kind);
  const { rows, columns } = axesOf(model?.cells ?? []);
  const table = useRef<HTMLTableElement>(null);
  const [focused, setFocused] = useState<Cell>();
  /** The one cell that Tab reaches: at first the rating, or the middle of the scales. */
  const current = focused ??
    selected ?? { probability: Math.ceil(rows.length / 2), impact: Math.ceil(columns.length / 2) };
  const isLoaded = model !== undefined;
  useEffect(() => {
    if (isLoaded && focusesFirst) table.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }, [isLoaded, focusesFirst]);
  const word = (axis: 'probability' | 'impact', value: number) =>
    humanize(model?.[axis].find((step) => step.value === value)?.word ?? '');
  const isTooHigh = ({ probability, impact }: Cell) => max !== null && probability * impact > max;
  const select = (cell: Cell) => isTooHigh(cell) || onSelect(cell);
  const propsOf = (cell: Cell) => {
    const { probability, impact } = cell;
    const { level = null, color } = cellAt(model?.cells ?? [], probability, impact) ?? {};
    const { className, ...style } = levelColors(model, level, { kind, cellColor: color });
    return {
      ...style,
      className: `heat-cell ${className}${isSame(cell, other) ? ' other-rating' : ''}`,
      tabIndex: isSame(current, cell) ? 0 : -1,
      'data-cell': `${probability} ${impact}`,
      'aria-pressed': isSame(cell, selected),
      'aria-disabled': isTooHigh(cell),
      'aria-label': `${words.probability} ${probability} ${word('probability', probability)}, ${words.impact.toLowerCase()} ${impact} ${word('impact', impact)}: score ${probability * impact}`,
      onFocus: () => setFocused(cell),
      onClick: () => select(cell),
    };
  };
  /** The cell that two digits name: its probability, then its impact. */
  const typed = useRef<number>(undefined);
  const focus = ({ probability, impact }: Cell) =>
    table.current?.querySelector<HTMLElement>(`[data-cell="${probability} ${impact}"]`)?.focus();
  const type = (digit: number) => {
    const probability = typed.current;
    if (!(probability === undefined ? rows : columns).includes(digit)) return;
    const cell =
      probability === undefined ? { ...current, probability: digit } : { probability, impact: digit };
    typed.current = probability === undefined ? digit : undefined;
    focus(cell);
    if (probability !== undefined) select(cell);
  };
  const move = (event: KeyboardEvent) => {
    if (/^\d$/.test(event.key)) return type(Number(event.key));
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    typed.current = undefined;
    focus({
      probability: clamp(current.probability + step.probability, rows.length),
      impact: clamp(current.impact + step.impact, columns.length),
    });
  };
  return (
    <div className={`heat-map-box${kindClass(kind)}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: screen readers pass the arrow keys to a grid */}
      <table ref={table} className="heat-map assess" role="grid" onKeyDown={move}>
        <caption>
          <span className="visually-hidden">
            {words.probability} and {words.impact.toLowerCase()}.{' '}
          </span>
          <span aria-hidden="true">{words.probability}</span>
        </caption>
        <tbody>
          {rows.map((probability) => (
            <tr key={probability}>
              <th scope="row">
                {probability} {word('probability', probability)}
              </th>
              {columns.map((impact) => (
                <td key={impact}>
                  <button type="button" {...propsOf({ probability, impact })}>
                    {probability * impact}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td />
            {columns.map((impact) => (
              <th key={impact} scope="col">
                {impact} <span className="word">{word('impact', impact)}</span>
              </th>
            ))}
          </tr>
          <tr>
            <td />
            <td className="axis-title" colSpan={columns.length}>
              {words.impact}
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
