import { Link } from 'wouter';
import type { Issue, Project, RankedRisk, Risk } from '../api/openapi.ts';
import { number, words } from '../format.ts';

/** The score in the colour of its level; the number and the name of the level say the same without colour. */
export const Score = ({ score, level }: Pick<Risk, 'score' | 'level'>) =>
  score === null ? (
    <span className="score none" title="Not assessed">
      –
    </span>
  ) : (
    <span className={`score level-${level}`} title={words(level ?? '')}>
      {score}
    </span>
  );

export const Level = ({ level }: Pick<Risk, 'level'>) =>
  level === null ? (
    <span className="chip">Not assessed</span>
  ) : (
    <span className={`chip level-${level}`}>{words(level)}</span>
  );

export const Severity = ({ severity }: Pick<Issue, 'severity'>) => (
  <span className={`chip level-${severity}`}>{words(severity)}</span>
);

export const Status = ({ status }: { status: string }) => (
  <span className={`chip status-${status}`}>{words(status)}</span>
);

export const Health = ({ state }: { state: Project['health']['state'] }) => (
  <span className={`health health-${state}`}>{words(state)}</span>
);

/** How many places a risk has won or lost. */
export function Movement({ delta, rank_then }: NonNullable<RankedRisk['movement']>) {
  if (rank_then === null) return <span className="movement new">New</span>;
  if (!delta)
    return (
      <span className="movement" role="img" aria-label="Unmoved">
        –
      </span>
    );
  const places = number(Math.abs(delta));
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

/** A person's name, with initials in a circle for the eye. */
export const Person = ({ name }: { name: string }) => (
  <span className="person">
    <span className="avatar" aria-hidden="true" data-initials={initials(name)} />
    <bdi>{name}</bdi>
  </span>
);

const initials = (name: string) => {
  const parts = name.split(/\s+/).map((part) => [...part][0] ?? '');
  return [parts[0], parts.length > 1 ? parts.at(-1) : ''].join('').toUpperCase();
};

/** What a row of a list is about, with its human key; the link covers the row. */
export const Named = ({
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
      <span className="key beside">{key}</span>
      <Link className="row-link" href={href} title={title}>
        <bdi>{title}</bdi>
      </Link>
      <span className="under named">
        {key} · <bdi>{project_name}</bdi>
      </span>
    </>
  );
};
