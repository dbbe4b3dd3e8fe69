import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/client.ts';
import { Loaded } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem.tsx';
import { Title } from './title.tsx';

/** A page about one thing; one that cannot be had is a page, too, with a heading of its own. */
export function LoadedPage<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined || !query.isError) return <Loaded query={query}>{children}</Loaded>;
  const isMissing = query.error instanceof ApiProblem && query.error.status === 404;
  return (
    <>
      <Title title={isMissing ? 'Not found' : 'This could not be loaded'} />
      <ProblemNotice error={query.error} retry={() => query.refetch()} />
    </>
  );
}
