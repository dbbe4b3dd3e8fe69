import { type ReactNode, useEffect } from 'react';

/** The heading of a page, its breadcrumbs and its actions. */
export function Title({
  title,
  breadcrumbs,
  summary,
  children,
}: {
  title: string;
  breadcrumbs?: ReactNode;
  summary?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <header className="title">
      <div>
        {breadcrumbs && <p className="breadcrumbs">{breadcrumbs}</p>}
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {summary && <div className="title-summary">{summary}</div>}
      </div>
      {children && <div className="actions">{children}</div>}
    </header>
  );
}
