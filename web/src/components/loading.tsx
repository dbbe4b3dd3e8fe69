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

/** The shape of a page while its code or its data loads. */
export const PageLoading = () => (
  <div className="loading" role="status">
    <span className="visually-hidden">Loading…</span>
    <span className="skeleton heading" />
    <span className="skeleton block" />
    <span className="skeleton block" />
  </div>
);

/** Renders a query's data, its error or a loading message. */
export function Loaded<T>({
  query,
  children,
  loading = <Loading />,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  loading?: ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorNotice error={query.error} retry={() => query.refetch()} />;
  return loading;
}
