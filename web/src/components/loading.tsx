import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
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

/** Renders a query's data, its error or a loading message. When data can't be updated, the error is above it. */
export function Loaded<T>({
  query,
  children,
  loading = <Loading />,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  loading?: ReactNode;
}) {
  // A dialog asks to sign in again after a 401.
  const isShown = query.isError && !(query.data !== undefined && isSessionEnded(query.error));
  if (query.data === undefined && !query.isError) return loading;
  return (
    <>
      {isShown && (
        <div className="load-error">
          <ErrorNotice error={query.error} retry={() => query.refetch()} />
        </div>
      )}
      {query.data !== undefined && children(query.data)}
    </>
  );
}

const isSessionEnded = (error: unknown) => error instanceof ApiError && error.status === 401;
