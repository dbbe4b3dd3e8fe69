import type { Project } from '../api/openapi.ts';
import { formatDaysIn, humanize } from '../format.ts';

type State = Project['health']['state'];

/** When a project has which health, worst first. */
export const healthRules: Record<State, string> = {
  off_track: 'Past its due date, or a critical threat above its appetite has no response plan.',
  at_risk:
    'A critical risk is above its appetite, or a critical issue is overdue, or at least a quarter of its assessed risks are above its appetite, of its open issues are critical, or of its open tasks are overdue.',
  on_track: 'Nothing makes it at risk or off track.',
  unknown: 'No risk is assessed and no issue is open.',
};

export const HealthRules = () => (
  <details className="health-rules">
    <summary>How health is determined</summary>
    {Object.entries(healthRules).map(([state, rule]) => (
      <p key={state}>
        <strong>{humanize(state)}</strong>: {rule}
      </p>
    ))}
  </details>
);

type Props = { health: Project['health'] };

/** Why a project has its health. */
export const HealthReasons = ({ health: { state, reasons } }: Props) =>
  reasons.length === 0 ? (
    <p>{healthRules[state]}</p>
  ) : (
    <ul className="health-reasons">
      {reasons.map((reason) => (
        <li key={reason}>{formatDaysIn(reason)}</li>
      ))}
    </ul>
  );

/** The same in one line. It can be cut off, so the whole text is its title. */
export const HealthReasonsLine = ({ health: { reasons } }: Props) => (
  <span title={formatDaysIn(reasons.join('\n'))}>{formatDaysIn(reasons.join(' · '))}</span>
);
