import type { RatingsMap, RiskModel, RiskModelChange } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { Card, Facts } from '../components/card.tsx';
import { formatNumber, humanize, pluralize } from '../format.ts';
import { levelLabel } from '../risks/model.ts';
import type { Axis } from './model-draft.ts';

type Props = {
  from: RiskModel;
  change: RiskModelChange;
  isBusy: boolean;
  onMap: (ratings: RatingsMap) => void;
  onApply: () => void;
  onCancel: () => void;
};

/** What a change of the model would do, with the mapping of the ratings, which can be changed. */
export function Preview({ from, change, isBusy, onMap, onApply, onCancel }: Props) {
  const { model, ratings_map, changes } = change;
  const axes = (['probability', 'impact'] as const).filter(
    (axis) => from[axis].length !== model[axis].length,
  );
  return (
    <Card id="preview" title="What would change">
      <Facts
        facts={[
          [
            'Risks',
            changes.risks === 0 ? 'None changes' : `${formatNumber(changes.risks)} get a new version`,
          ],
          [
            'Levels',
            changes.levels > 0 &&
              `${formatNumber(changes.raised)} higher, ${formatNumber(changes.lowered)} lower`,
          ],
          ['Ranks', changes.ranks > 0 && `${pluralize(changes.ranks, 'risk')} at another place`],
          [
            'Above appetite',
            `${formatNumber(changes.above_appetite.before)} → ${formatNumber(changes.above_appetite.after)}`,
          ],
          [
            'Risk appetites',
            changes.appetites
              .map(
                ({ before, after, projects }) => `${before} → ${after} (${pluralize(projects, 'project')})`,
              )
              .join(', '),
          ],
          ['Issues', changes.issues > 0 && `${pluralize(changes.issues, 'issue')} with another severity`],
          [
            'Saved views',
            changes.views.length > 0 && `Check ${changes.views.map(({ name }) => `“${name}”`).join(', ')}`,
          ],
        ]}
      />
      <table className="table model-levels">
        <thead>
          <tr>
            <th scope="col">Active risks</th>
            <th scope="col">Now</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.by_level.map(({ level, before, after }) => (
            <tr key={level}>
              <th scope="row">{levelLabel(model, level)}</th>
              <td>{formatNumber(before)}</td>
              <td>{formatNumber(after)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {axes.map((axis) => (
        <Ratings key={axis} axis={axis} from={from} to={model} ratings={ratings_map} onChange={onMap} />
      ))}
      <p className="hint">
        All changes are made at once. Until they are done, others can read but not change risks, issues and
        tasks.
      </p>
      <div className="button-row">
        <Button primary isPending={isBusy} onPress={onApply}>
          Apply
        </Button>
        <Button plain onPress={onCancel}>
          Cancel
        </Button>
      </div>
    </Card>
  );
}

type RatingsProps = {
  axis: Axis;
  from: RiskModel;
  to: RiskModel;
  ratings: RatingsMap;
  onChange: (ratings: RatingsMap) => void;
};

/** The new rating of each old one. */
const Ratings = ({ axis, from, to, ratings, onChange }: RatingsProps) => (
  <div className="model-ratings">
    <h3>{humanize(axis)}</h3>
    {from[axis].map(({ value, word }) => (
      <label key={value}>
        <span>
          {value} {word} becomes
        </span>
        <select
          value={ratings[axis][value - 1]}
          onChange={({ target }) =>
            onChange({
              ...ratings,
              [axis]: ratings[axis].map((rating, i) => (i === value - 1 ? Number(target.value) : rating)),
            })
          }
        >
          {to[axis].map((step) => (
            <option key={step.value} value={step.value}>
              {step.value} {step.word}
            </option>
          ))}
        </select>
      </label>
    ))}
  </div>
);
