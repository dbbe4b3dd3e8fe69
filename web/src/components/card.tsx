import type { ReactNode } from 'react';

/** A section of a page with its own heading. */
export const Card = ({ id, title, children }: { id: string; title: ReactNode; children: ReactNode }) => (
  <section className="card" aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

/** Names and values; a fact without a value is left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => {
  const known = facts.filter(
    ([, value]) => value !== null && value !== undefined && value !== false && value !== '',
  );
  if (known.length === 0) return null;
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd className="long" dir={typeof value === 'string' ? 'auto' : undefined}>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
};
