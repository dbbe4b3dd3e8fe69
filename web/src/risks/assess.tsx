import type { Risk } from '../api/openapi.ts';
import { useAction } from '../components/action-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { toast } from '../components/toast.tsx';
import { humanize } from '../format.ts';
import { levelOf, scale, useRiskModel } from './model.ts';
import { usePatchRisk } from './queries.ts';
import './heat-map.css';

/** Sets the probability and the impact of a risk with one click. */
export function Assess({ risk, onClose }: { risk: Risk; onClose: () => void }) {
  const { data: model } = useRiskModel();
  const patch = usePatchRisk();
  const { isBusy, run } = useAction();
  const word = (axis: 'probability' | 'impact', value: number) =>
    humanize(model?.[axis].find((step) => step.value === value)?.word ?? '');
  const assess = (probability: number, impact: number) =>
    run(async () => {
      const next = await patch(risk, { probability, impact });
      onClose();
      toast(`Assessed ${risk.key}: score ${probability * impact}`, () =>
        patch(next, { probability: risk.probability, impact: risk.impact }),
      );
    });
  return (
    <Dialog title={`Assess ${risk.key}`} isLocked={isBusy} onClose={onClose}>
      <div className="dialog-body">
        <p>
          <bdi>{risk.title}</bdi>
        </p>
        <div className="heat-map-box">
          <table className="heat-map assess" aria-label="Probability and impact">
            <tbody>
              {scale.toReversed().map((probability) => (
                <tr key={probability}>
                  <th scope="row">
                    {probability} {word('probability', probability)}
                  </th>
                  {scale.map((impact) => (
                    <td key={impact}>
                      <button
                        type="button"
                        className={`heat-cell level-${levelOf(probability * impact)}`}
                        aria-pressed={risk.probability === probability && risk.impact === impact}
                        aria-label={`Probability ${probability} ${word('probability', probability)}, impact ${impact} ${word('impact', impact)}: score ${probability * impact}`}
                        aria-disabled={isBusy}
                        onClick={() => assess(probability, impact)}
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
                {scale.map((impact) => (
                  <th key={impact} scope="col">
                    {impact} <span className="word">{word('impact', impact)}</span>
                  </th>
                ))}
              </tr>
              <tr>
                <td />
                <td className="axis-title" colSpan={5}>
                  Impact
                </td>
              </tr>
            </tfoot>
          </table>
        </div>
        <p className="hint">Choose the probability (rows) and the impact (columns).</p>
      </div>
    </Dialog>
  );
}
