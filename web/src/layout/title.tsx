import { type ReactNode, useEffect } from 'react';

/** The heading of a page, its breadcrumbs and its actions. */
export function Title({
  title,
  breadcrumbs,
  children,
}: {
  title: string;
  breadcrumbs?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <header className="title">
      <div>
        {breadcrumbs && <p className="breadcrumbs">{breadcrumbs}</p>}
        <h1 dir="auto">{title}</h1>
      </div>
      {children && <div className="actions">{children}</div>}
    </header>
  );
}
