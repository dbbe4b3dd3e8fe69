import type { Project } from '../api/openapi.ts';
import { formatDaysIn } from '../format.ts';

type Props = { health: Project['health'] };

/** Why a project is not on track, as a list. */
export const HealthReasons = ({ health: { reasons } }: Props) =>
  reasons.length > 0 && (
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
