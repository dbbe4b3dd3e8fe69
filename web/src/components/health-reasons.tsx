import type { Project } from '../api/openapi.ts';
import { formatDaysIn, humanize, pluralize } from '../format.ts';

type State = Project['health']['state'];

/** When a project has which health, worst first: any one of the rules is enough. */
const healthRules: Record<State, readonly string[]> = {
  off_track: ['It is past its due date.', 'A critical threat above its appetite has no response plan.'],
  at_risk: [
    'A critical threat is above its appetite.',
    'A critical issue is overdue.',
    'At least a quarter of its assessed threats are above its appetite.',
    'At least a quarter of its open issues are critical.',
    'At least a quarter of its open tasks are overdue.',
  ],
  on_track: ['No other rule applies. Signs below a quarter are shown as warnings.'],
  unknown: ['No risk is assessed and no issue is open.'],
};

/** Worst first. */
export const healthStates = Object.keys(healthRules) as State[];

/** A line for each rule. */
export const describeHealth = (state: State) => healthRules[state].join('\n');

export const HealthRules = () => (
  <details className="health-rules">
    <summary>How health is determined</summary>
    <dl>
      {Object.entries(healthRules).map(([state, rules]) => (
        <div key={state}>
          <dt>{humanize(state)}</dt>
          {rules.map((rule) => (
            <dd key={rule}>{rule}</dd>
          ))}
        </div>
      ))}
    </dl>
  </details>
);

type Props = { health: Project['health'] };

/** Warnings do not determine the health, so they come last. */
const signsOf = ({ reasons, warnings }: Project['health']) =>
  reasons.length + warnings.length === 0
    ? ['No warning signs.']
    : [...reasons, ...warnings].map(formatDaysIn);

/** Why a project has its health, and what is about to change it. */
export const HealthReasons = ({ health }: Props) => (
  <ul className="health-reasons">
    {signsOf(health).map((sign) => (
      <li key={sign}>{sign}</li>
    ))}
  </ul>
);

/** The same for a list: warnings are only counted beside reasons, which a steering committee acts on. */
export function HealthReasonsLine({ health }: Props) {
  const { reasons, warnings } = health;
  const isShort = reasons.length > 0 && warnings.length > 0;
  const shown = isShort
    ? [...reasons.map(formatDaysIn), pluralize(warnings.length, 'warning')]
    : signsOf(health);
  return <span title={signsOf(health).join('\n')}>{shown.join(' · ')}</span>;
}
