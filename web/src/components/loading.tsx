import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemNotice } from './problem.tsx';

export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);

/** What a query has read, or why it could not. */
export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ProblemNotice error={query.error} retry={() => query.refetch()} />;
  return <Loading />;
}
