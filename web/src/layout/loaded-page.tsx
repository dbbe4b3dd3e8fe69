import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../api/client.ts';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loaded, PageLoading } from '../components/loading.tsx';
import { destinations } from './navigation.ts';
import { Title } from './title.tsx';

/**
 * The page of one item. When it can't be loaded, the error has a heading too. An item that was deleted since is not shown
 * any more, because no action on it can succeed.
 */
export function LoadedPage<T>({
  query,
  needed,
  children,
}: {
  query: UseQueryResult<T>;
  /** What the page is laid out with besides. Without it, the page would move when it arrives. */
  needed?: UseQueryResult;
  children: (data: T) => ReactNode;
}) {
  if (query.error instanceof ApiError && query.error.status === 404) return <Missing />;
  if (needed?.isLoading && !query.isError) return <PageLoading />;
  if (query.data !== undefined || !query.isError)
    return (
      <Loaded query={query} loading={<PageLoading />}>
        {children}
      </Loaded>
    );
  return (
    <>
      <Title title="Couldn't load this page" />
      <ErrorNotice error={query.error} retry={() => query.refetch()} />
    </>
  );
}

/** Trying again would not help, so it leads to the list that the item would be in. */
function Missing() {
  const [location] = useLocation();
  const list = destinations.find(({ path }) => path === `/${location.split('/')[1]}`);
  return (
    <>
      <Title title="Not found" />
      <div className="notice bad" role="alert">
        <p>This doesn't exist or was deleted, or you don't have access.</p>
        {list && <Link href={list.path}>Go to {list.name.toLowerCase()}</Link>}
      </div>
    </>
  );
}
