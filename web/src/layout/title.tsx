import { type ReactNode, useEffect } from 'react';

/** The head of a page: what it is, and what can be done on it. */
export function Title({
  title,
  above,
  children,
}: {
  title: string;
  above?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <header className="title">
      <div>
        {above && <p className="above">{above}</p>}
        <h1 dir="auto">{title}</h1>
      </div>
      {children && <div className="actions">{children}</div>}
    </header>
  );
}
