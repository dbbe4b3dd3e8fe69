import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { usePatchItem } from '../api/items.ts';
import type { Risk } from '../api/openapi.ts';
import { useAction } from '../components/action-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { toast } from '../components/toast.tsx';
import { humanize } from '../format.ts';
import { kindClass, wordsOf } from './kinds.ts';
import { axesOf, cellAt, levelColors, useRiskModel } from './model.ts';
import './heat-map.css';

type Cell = { probability: number; impact: number };

/** The steps of the arrow keys; the highest probability is at the top. */
const steps: Record<string, Cell> = {
  ArrowUp: { probability: 1, impact: 0 },
  ArrowDown: { probability: -1, impact: 0 },
  ArrowRight: { probability: 0, impact: 1 },
  ArrowLeft: { probability: 0, impact: -1 },
};

const clamp = (value: number, max: number) => Math.min(Math.max(value, 1), max);

/** Sets the probability and the impact of a risk with one click. */
export function Assess({ risk, onClose }: { risk: Risk; onClose: () => void }) {
  const { data: model } = useRiskModel();
  const words = wordsOf(risk.kind);
  const { rows, columns } = axesOf(model?.cells ?? []);
  const patch = usePatchItem('risks');
  const { isBusy, run } = useAction();
  const table = useRef<HTMLTableElement>(null);
  const [focused, setFocused] = useState<Cell>();
  /** The one cell that Tab reaches: at first the rating, or the middle of the scales. */
  const current = focused ?? {
    probability: risk.probability ?? Math.ceil(rows.length / 2),
    impact: risk.impact ?? Math.ceil(columns.length / 2),
  };
  const isLoaded = model !== undefined;
  useEffect(() => {
    if (isLoaded) table.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }, [isLoaded]);
  const word = (axis: 'probability' | 'impact', value: number) =>
    humanize(model?.[axis].find((step) => step.value === value)?.word ?? '');
  const assess = ({ probability, impact }: Cell) =>
    run(async () => {
      const next = await patch(risk, { probability, impact });
      onClose();
      toast(`Assessed ${risk.key}: score ${probability * impact}`, () =>
        patch(next, { probability: risk.probability, impact: risk.impact }),
      );
    });
  const colorsOf = (probability: number, impact: number) => {
    const { level = null, color } = cellAt(model?.cells ?? [], probability, impact) ?? {};
    const { className, ...style } = levelColors(model, level, { kind: risk.kind, cellColor: color });
    return { className: `heat-cell ${className}`, ...style };
  };
  const move = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const probability = clamp(current.probability + step.probability, rows.length);
    const impact = clamp(current.impact + step.impact, columns.length);
    table.current?.querySelector<HTMLElement>(`[data-cell="${probability} ${impact}"]`)?.focus();
  };
  return (
    <Dialog title={`Assess ${risk.key}`} isLocked={isBusy} onClose={onClose}>
      <div className="dialog-body">
        <p>
          <bdi>{risk.title}</bdi>
        </p>
        <div className={`heat-map-box${kindClass(risk.kind)}`}>
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
                      <button
                        type="button"
                        {...colorsOf(probability, impact)}
                        data-cell={`${probability} ${impact}`}
                        tabIndex={current.probability === probability && current.impact === impact ? 0 : -1}
                        aria-pressed={risk.probability === probability && risk.impact === impact}
                        aria-label={`${words.probability} ${probability} ${word('probability', probability)}, ${words.impact.toLowerCase()} ${impact} ${word('impact', impact)}: score ${probability * impact}`}
                        aria-disabled={isBusy}
                        onFocus={() => setFocused({ probability, impact })}
                        onClick={() => assess({ probability, impact })}
                      >
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
        <p className="hint">
          Choose the {words.probability.toLowerCase()} (rows) and the {words.impact.toLowerCase()} (columns).
        </p>
      </div>
    </Dialog>
  );
}
