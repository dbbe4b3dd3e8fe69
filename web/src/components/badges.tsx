import { useContext } from 'react';
import { Link } from 'wouter';
import type { Issue, Project, RankedRisk, Risk } from '../api/openapi.ts';
import { dayOf, formatDay, formatNumber, humanize } from '../format.ts';
import { kindClass, type RiskKind, riskStatusLabel } from '../risks/kinds.ts';
import { isActiveRisk, levelColors, levelLabel, useRiskModel } from '../risks/model.ts';
import { leaveList, SourceContext } from '../walk/source.ts';
import { describeHealth } from './health-reasons.tsx';

/** The color shows the level; the tooltip names it, so that color is not the only signal. */
export function Score({ score, level, kind }: Pick<Risk, 'score' | 'level'> & Partial<Pick<Risk, 'kind'>>) {
  const { data: model } = useRiskModel();
  if (score === null)
    return (
      <span className="score none" title="Not assessed">
        –
      </span>
    );
  const { className, ...style } = levelColors(model, level, { kind });
  return (
    <span className={`score ${className}`} {...style} title={levelLabel(model, level ?? '', kind)}>
      {score}
    </span>
  );
}

export function Level({ level, kind }: Pick<Risk, 'level' | 'kind'>) {
  const { data: model } = useRiskModel();
  if (level === null) return <span className="chip">Not assessed</span>;
  const { className, ...style } = levelColors(model, level, { kind });
  return (
    <span className={`chip ${className}`} {...style}>
      {levelLabel(model, level, kind)}
    </span>
  );
}

export const Severity = ({ severity }: Pick<Issue, 'severity'>) => (
  <span className={`chip level-${severity}`}>{humanize(severity)}</span>
);

export const Status = ({ status, kind }: { status: string; kind?: RiskKind }) => (
  <span className={`chip status-${status}${kindClass(kind)}`}>{riskStatusLabel(status, kind)}</span>
);

export const Health = ({ state }: { state: Project['health']['state'] }) => (
  <span className={`health health-${state}`} title={describeHealth(state)}>
    {humanize(state)}
  </span>
);

/** Completes the sentence about a project: it `is on track`. */
export const healthPhrase = ({ health: { state } }: Project) => `is ${humanize(state).toLowerCase()}`;

/** A risk of a list or of a report. */
type MovedRisk = Pick<RankedRisk, 'movement' | 'score' | 'created_at' | 'status' | 'kind' | 'rank'>;

/** Whether `Movement` has more to say than that the score is unchanged. */
export function hasMoved(risk: RankedRisk, since: string): boolean {
  const { movement, score, created_at } = risk;
  const isNew = dayOf(created_at) > since;
  if (!movement || (isNew && isActiveRisk(risk))) return movement !== undefined;
  return score !== null && (movement.score_then === null ? !isNew : score !== movement.score_then);
}

/**
 * How the score of a risk has changed since a day. The rank alone also changes when other risks come and go, so it is
 * only in the tooltip.
 */
export function Movement({ risk, since }: { risk: MovedRisk; since: string }) {
  const { movement, score, created_at, rank } = risk;
  if (!movement) return null;
  const { score_then, rank_then, reason } = movement;
  if (dayOf(created_at) > since && isActiveRisk(risk)) return <span className="movement new">New</span>;
  if (score !== null && score_then === null && dayOf(created_at) <= since)
    return <span className="movement new">Assessed</span>;
  if (score === null || score_then === null || score === score_then) {
    const hasDrifted = rank !== undefined && rank_then !== null && rank_then !== rank;
    const drift = hasDrifted ? `. Rank ${formatNumber(rank_then)} to ${formatNumber(rank)}` : '';
    return (
      <span className="movement" role="img" aria-label="Score unchanged" title={`Score unchanged${drift}`}>
        –
      </span>
    );
  }
  const isUp = score > score_then;
  // More of a threat is bad, more of an opportunity is good.
  const isWorse = isUp === (risk.kind === 'threat');
  const change = `Score ${isUp ? 'up' : 'down'} from ${score_then} to ${score}`;
  const description = reason ? `${change}: ${reason}` : change;
  return (
    <span
      className={isWorse ? 'movement up' : 'movement down'}
      role="img"
      aria-label={description}
      title={description}
    >
      {isUp ? '↑' : '↓'} from {score_then}
    </span>
  );
}

type DueProps<Day> = { day: Day; isOverdue: boolean };

/** A mark besides the color says that the day has passed. */
export const DueDay = ({ day, isOverdue }: DueProps<string>) =>
  isOverdue ? (
    <span className="overdue marked" title="Overdue">
      <span className="visually-hidden">Overdue: </span>
      {formatDay(day)}
    </span>
  ) : (
    formatDay(day)
  );

/** The due date in the line under a title. */
export const DueSummary = ({ day, isOverdue }: DueProps<string | null>) => (
  <span className={isOverdue ? 'overdue' : 'quiet'}>
    {day ? `${isOverdue ? 'Overdue, due' : 'Due'} ${formatDay(day)}` : 'No due date'}
  </span>
);

/** A name with an avatar of its initials. */
export const PersonLabel = ({ name, note }: { name: string; note?: string }) => (
  <span className="person">
    <span className="avatar" aria-hidden="true" data-initials={initials(name)} />
    <bdi>{name}</bdi>
    {note && <span className="quiet">{note}</span>}
  </span>
);

const initials = (name: string) => {
  const parts = name.split(/\s+/).map((part) => [...part][0] ?? '');
  return [parts[0], parts.length > 1 ? parts.at(-1) : ''].join('').toUpperCase();
};

/** Title and key of a row. The link covers the whole row (table.css). */
export const TitleCell = ({
  href,
  title,
  project_name,
}: {
  href: string;
  title: string;
  /** Not on a page of the project. */
  project_name?: string;
}) => {
  const key = href.slice(href.lastIndexOf('/') + 1);
  const list = useContext(SourceContext);
  const row = list?.rows.get(key);
  return (
    <>
      <span className="key inline-key">{key}</span>
      <Link
        className="row-link"
        href={href}
        title={title}
        {...(row && { state: { source: list?.source, index: row.index }, onClick: () => leaveList(row) })}
      >
        <bdi>{title}</bdi>
      </Link>
      <span className="secondary-line key-line">
        {key}
        {project_name && (
          <>
            {' '}
            · <bdi>{project_name}</bdi>
          </>
        )}
      </span>
    </>
  );
};
