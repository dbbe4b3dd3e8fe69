import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loaded, PageLoading } from '../components/loading.tsx';
import { Title } from './title.tsx';

/** The page of one item. When it can't be loaded, the error has a heading too. */
export function LoadedPage<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined || !query.isError)
    return (
      <Loaded query={query} loading={<PageLoading />}>
        {children}
      </Loaded>
    );
  const isMissing = query.error instanceof ApiError && query.error.status === 404;
  return (
    <>
      <Title title={isMissing ? 'Not found' : "Couldn't load this page"} />
      <ErrorNotice error={query.error} retry={() => query.refetch()} />
    </>
  );
}
