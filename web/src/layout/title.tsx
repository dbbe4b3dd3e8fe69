import { type ReactNode, useEffect } from 'react';
import { formatDay, today } from '../format.ts';

export type TitleProps = {
  title: string;
  breadcrumbs?: ReactNode;
  /** Follows the breadcrumbs. */
  walk?: ReactNode;
  summary?: ReactNode;
  children?: ReactNode;
};

/** The heading of a page, its breadcrumbs and its actions. */
export const Title = (props: TitleProps) => (
  <TitleFrame {...props} heading={<Heading title={props.title} />} />
);

export const Heading = ({ title }: { title: string }) => (
  <h1>
    <bdi>{title}</bdi>
  </h1>
);

/** Takes the heading apart from the title, which is also the title of the browser's tab. */
export function TitleFrame({
  title,
  heading,
  breadcrumbs,
  walk,
  summary,
  children,
}: TitleProps & { heading: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Muster`;
    // Each printed page has it in its margin (print.css).
    document.documentElement.style.setProperty('--page-title', JSON.stringify(title));
  }, [title]);
  return (
    <header className="title">
      <div>
        {breadcrumbs && (
          <div className="breadcrumbs">
            <p>{breadcrumbs}</p>
            {walk}
          </div>
        )}
        {heading}
        {breadcrumbs && <p className="print-only">Printed {formatDay(today())}</p>}
        {summary && <div className="title-summary">{summary}</div>}
      </div>
      {children && <div className="actions">{children}</div>}
    </header>
  );
}
