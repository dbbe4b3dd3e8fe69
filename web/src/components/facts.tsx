import type { ReactNode } from 'react';

/** What is known of a thing; what is not known takes no room. */
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
