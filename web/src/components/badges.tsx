import { Link } from 'wouter';
import type { Issue, Project, RankedRisk, Risk } from '../api/openapi.ts';
import { formatNumber, humanize } from '../format.ts';

/** The color shows the level; the tooltip names it, so that color is not the only signal. */
export const Score = ({ score, level }: Pick<Risk, 'score' | 'level'>) =>
  score === null ? (
    <span className="score none" title="Not assessed">
      –
    </span>
  ) : (
    <span className={`score level-${level}`} title={humanize(level ?? '')}>
      {score}
    </span>
  );

export const Level = ({ level }: Pick<Risk, 'level'>) =>
  level === null ? (
    <span className="chip">Not assessed</span>
  ) : (
    <span className={`chip level-${level}`}>{humanize(level)}</span>
  );

export const Severity = ({ severity }: Pick<Issue, 'severity'>) => (
  <span className={`chip level-${severity}`}>{humanize(severity)}</span>
);

export const Status = ({ status }: { status: string }) => (
  <span className={`chip status-${status}`}>{humanize(status)}</span>
);

export const Health = ({ state }: { state: Project['health']['state'] }) => (
  <span className={`health health-${state}`}>{humanize(state)}</span>
);

/** How many ranks a risk has moved. */
export function Movement({ delta, rank_then }: NonNullable<RankedRisk['movement']>) {
  if (rank_then === null) return <span className="movement new">New</span>;
  if (!delta)
    return (
      <span className="movement" role="img" aria-label="No change">
        –
      </span>
    );
  const places = formatNumber(Math.abs(delta));
  return delta > 0 ? (
    <span className="movement up" role="img" aria-label={`Up ${places}`}>
      ↑ {places}
    </span>
  ) : (
    <span className="movement down" role="img" aria-label={`Down ${places}`}>
      ↓ {places}
    </span>
  );
}

/** A name with an avatar of its initials. */
export const PersonLabel = ({ name }: { name: string }) => (
  <span className="person">
    <span className="avatar" aria-hidden="true" data-initials={initials(name)} />
    <bdi>{name}</bdi>
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
  project_name: string;
}) => {
  const key = href.slice(href.lastIndexOf('/') + 1);
  return (
    <>
      <span className="key inline-key">{key}</span>
      <Link className="row-link" href={href} title={title}>
        <bdi>{title}</bdi>
      </Link>
      <span className="secondary-line key-line">
        {key} · <bdi>{project_name}</bdi>
      </span>
    </>
  );
};
