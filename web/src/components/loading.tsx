import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';

/** Lines in place of the content, so that the page does not jump. */
export const Loading = () => (
  <div className="loading" role="status">
    <span className="visually-hidden">Loading…</span>
    {[92, 78, 86, 64].map((width) => (
      <span key={width} className="skeleton" style={{ width: `${width}%` }} />
    ))}
  </div>
);

/** Renders a query's data, its error or a loading message. */
export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorNotice error={query.error} retry={() => query.refetch()} />;
  return <Loading />;
}
