import type { Explanation, Risk } from '../api/openapi.ts';
import { useIsLimited } from '../api/session.ts';
import { Score } from '../components/badges.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { formatDay, formatNumber, formatTime, humanize, pluralize } from '../format.ts';
import { useCanEditIn } from '../projects/queries.ts';
import { Assess } from './assess.tsx';
import { wordsOf } from './kinds.ts';
import { levelLabel, useRiskModel } from './model.ts';

/** Explains the score and the rank of a risk. */
export function RankExplanation({ risk, explain }: { risk: Risk; explain: Explanation }) {
  const { data: model } = useRiskModel();
  const canEdit = useCanEditIn(risk.project_key);
  const isLimited = useIsLimited();
  const word = (axis: 'probability' | 'impact') =>
    humanize(model?.[axis].find(({ value }) => value === explain.inputs[axis].value)?.word ?? '');
  if (explain.score === null) {
    return (
      <p className="button-row">
        Not assessed, so unranked.
        {canEdit && (
          <DialogButton small dialog={(onClose) => <Assess risk={risk} onClose={onClose} />}>
            Assess
          </DialogButton>
        )}
      </p>
    );
  }
  return (
    <div className="rank-explanation">
      <p className="formula">
        <strong>{explain.inputs.probability.value}</strong> {word('probability')}
        <span className="operator">×</span>
        <strong>{explain.inputs.impact.value}</strong> {word('impact')}
        <span className="operator">=</span>
        <Score score={explain.score} level={explain.level} kind={risk.kind} />
        {explain.level_bounds && (
          <span>
            {levelLabel(model, explain.level ?? '', risk.kind)}: {explain.level_bounds.from} to{' '}
            {explain.level_bounds.to}
          </span>
        )}
        {canEdit && (
          <DialogButton small plain dialog={(onClose) => <Assess risk={risk} onClose={onClose} />}>
            Reassess
          </DialogButton>
        )}
      </p>
      {explain.rank === null ? (
        <p>
          Not ranked: this {wordsOf(risk.kind).noun} {endOf(risk)}.
        </p>
      ) : (
        <p>
          Rank <strong>{formatNumber(explain.rank)}</strong> of {pluralize(explain.of, 'active risk')} in{' '}
          {isLimited ? 'the projects you can see' : 'all projects'}. Risks with equal scores are ordered by
          impact, probability, earliest due date ({risk.due_on ? formatDay(risk.due_on) : 'no due date'}) and
          earliest date raised ({formatDay(risk.raised_on)}).
        </p>
      )}
      <p className="quiet">
        <LastSets {...explain.inputs} />.
      </p>
    </div>
  );
}

const endOf = ({ status, kind }: Risk) => {
  if (status === 'closed') return 'is closed';
  return kind === 'opportunity' ? 'has been realized' : 'has occurred';
};

function LastSets({ probability, impact }: Explanation['inputs']) {
  const areTogether = probability.set_at === impact.set_at && probability.set_by === impact.set_by;
  if (areTogether) return <LastSet axis="Probability and impact" {...impact} />;
  return (
    <>
      <LastSet axis="Probability" {...probability} />, <LastSet axis="impact" {...impact} />
    </>
  );
}

const LastSet = ({
  axis,
  set_at,
  set_by,
  set_by_type,
}: { axis: string } & Explanation['inputs']['impact']) => (
  <>
    {axis} set {formatTime(set_at)}
    {set_by && (
      <>
        {' '}
        {set_by_type === 'key' ? 'via' : 'by'} <bdi>{set_by}</bdi>
      </>
    )}
  </>
);
