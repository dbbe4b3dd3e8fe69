import type { ReactNode } from 'react';

/** A part of a page, with a heading of its own. */
export const Card = ({ id, title, children }: { id: string; title: ReactNode; children: ReactNode }) => (
  <section className="card" aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);
