import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';

export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
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
