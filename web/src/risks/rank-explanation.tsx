import type { Explanation, Risk } from '../api/openapi.ts';
import { Score } from '../components/badges.tsx';
import { day, number, time, words } from '../format.ts';
import { useRiskModel } from './model.ts';

/** Why a risk ranks where it does, step by step. */
export function Why({ risk, explain }: { risk: Risk; explain: Explanation }) {
  const { data: model } = useRiskModel();
  const word = (axis: 'probability' | 'impact') =>
    words(model?.[axis].find(({ value }) => value === explain.inputs[axis].value)?.word ?? '');
  if (explain.score === null) {
    return (
      <p>
        It has no probability and impact yet, so it has no score and comes last. No data is not low risk:
        assess it with “Edit”.
      </p>
    );
  }
  return (
    <div className="why">
      <p className="sum">
        <strong>{explain.inputs.probability.value}</strong> {word('probability')}
        <span className="times">×</span>
        <strong>{explain.inputs.impact.value}</strong> {word('impact')}
        <span className="times">=</span>
        <Score score={explain.score} level={explain.level} />
        {explain.level_bounds && (
          <span>
            {words(explain.level ?? '')}: {explain.level_bounds.from} to {explain.level_bounds.to}
          </span>
        )}
      </p>
      {explain.rank !== null && (
        <p>
          Rank <strong>{number(explain.rank)}</strong> of {number(explain.of)} active risks of all projects.
          Equal scores are ordered by impact, then probability, then due soonest (
          {risk.due_on ? day(risk.due_on) : 'no day, so last'}), then raised first ({day(risk.raised_on)}).
        </p>
      )}
      <p className="quiet">
        <Setting axis="Probability" {...explain.inputs.probability} />,{' '}
        <Setting axis="impact" {...explain.inputs.impact} />.
      </p>
    </div>
  );
}

const Setting = ({ axis, set_at, set_by }: { axis: string } & Explanation['inputs']['impact']) => (
  <>
    {axis} set {time(set_at)}
    {set_by && (
      <>
        {' '}
        with <bdi>{set_by}</bdi>
      </>
    )}
  </>
);
