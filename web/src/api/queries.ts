import {
  type Query,
  QueryCache,
  QueryClient,
  type UseInfiniteQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { toast } from '../components/toast.tsx';
import { ApiError, dataOrThrow } from './client.ts';
import { checkConnection } from './connection.ts';
import {
  hasRow,
  isOutdated,
  type ListPage,
  type Paging,
  rowsOf,
  usePages,
  type VisibleRows,
} from './pages.ts';
import { endSessionOn401 } from './session.ts';

/** Query results stay fresh for 30 seconds; a write invalidates all of them (`useRefresh`). */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a connection a request fails at once, so that nothing waits for it.
      networkMode: 'always',
      staleTime: 30_000,
      retry: (count, error) => {
        if (error instanceof ApiError && error.status === 0) void checkConnection();
        if (!(error instanceof ApiError) || !isTransient(error) || count >= 3) return false;
        if (error.status === 429) toast(`${error.message} Retrying…`);
        return true;
      },
      retryDelay: (count, error) => ((error as ApiError).retryAfterSeconds ?? 2 ** count) * 1000,
    },
  },
  queryCache: new QueryCache({
    // An invitation that is refused says nothing about the session.
    onError: (error, { meta }) => meta?.isPublic === true || endSessionOn401(error),
  }),
});

/** No connection, too many requests, or a service that is starting: a retry can succeed. */
const isTransient = ({ status }: ApiError) => [0, 429, 503].includes(status);

/** What `List` needs to show a paged list. */
export type Rows<Row> = Pick<
  UseInfiniteQueryResult,
  | 'isError'
  | 'error'
  | 'refetch'
  | 'isPending'
  | 'isPlaceholderData'
  | 'hasNextPage'
  | 'isFetching'
  | 'isFetchingNextPage'
  | 'fetchNextPage'
> & {
  firstPage: unknown;
  rows: Row[];
  total: number | null;
  /** Reports which rows are visible. */
  showRows: (first: number, last: number) => void;
  /** Keeps the pages of these rows as fresh as the visible ones, for one purpose. */
  keepFresh: (purpose: string, ids: ReadonlySet<string>) => void;
  isFresh: (ids: ReadonlySet<string>) => boolean;
};

type RowsOptions<Row> = {
  limit?: number;
  isCounted?: boolean;
  /** Whether a row can change without an event. While there is such a row, the list is read again and again. */
  isChanging?: (row: Row) => boolean;
};

const pollMs = 3_000;

/** Reads a list page by page. A separate request counts it, so that the rows do not wait for the count. */
export function useRows<Page extends ListPage>(
  key: readonly unknown[],
  read: (paging: Paging) => Promise<Page>,
  { limit = 100, isCounted = true, isChanging }: RowsOptions<NoInfer<Page>['data'][number]> = {},
) {
  const visible: VisibleRows = useRef(undefined);
  const query = usePages({
    queryKey: [...key, 'rows', limit],
    limit,
    read,
    visible,
    keepsPrevious: true,
    ...(isChanging && {
      refetchInterval: (pages: readonly Page[]) =>
        pages.some(({ data }) => data.some(isChanging)) ? pollMs : false,
    }),
  });
  const pages = query.data?.pages;
  const rows = useMemo(() => rowsOf(pages ?? []), [pages]);
  // The number of rows in outdated pages may have changed.
  const isComplete = !query.hasNextPage && !pages?.some(isOutdated);
  const count = useQuery({
    queryKey: [...key, 'total'],
    enabled: isCounted && !isComplete && !query.isPlaceholderData,
    queryFn: () => read({ limit: 1, count: true }),
    select: ({ page }) => page.total,
  });
  // Until the new rows arrive, the rows and their number are those of the previous filters.
  const isCurrent = !query.isPlaceholderData;
  const total = isCurrent ? (isComplete ? rows.length : (count.data ?? null)) : null;
  const showRows = (first: number, last: number) => {
    // Rows that change by themselves are read again wherever they are.
    if (isChanging) return;
    visible.current = { ...visible.current, first, last };
    query.refreshVisible();
  };
  const keepFresh = (purpose: string, ids: ReadonlySet<string>) => {
    if (visible.current) visible.current.kept = { ...visible.current.kept, [purpose]: ids };
    query.refreshVisible();
  };
  const isFresh = (ids: ReadonlySet<string>) => !pages?.some((page) => isOutdated(page) && hasRow(page, ids));
  return { ...query, firstPage: pages?.[0], rows, total, visible, showRows, keepFresh, isFresh };
}

/** An item as its list has it now. A dialog that was opened with an older version sends this one. */
export const latestOf = <Item extends { id: string }>(rows: readonly Item[] = [], item: Item): Item =>
  rows.find(({ id }) => id === item.id) ?? item;

/**
 * Invalidates every query after a write: one change affects many counts and lists. Waits only for what the service reads
 * at once: counting or comparing a large register takes longer than the write.
 */
export function useRefresh() {
  const client = useQueryClient();
  return () => {
    // First, because a browser sends only six requests at a time.
    const refreshed = client.invalidateQueries({ predicate: (query) => !isSlow(query) });
    void client.invalidateQueries({ predicate: isSlow });
    return refreshed;
  };
}

/** Waits for a write, then refreshes the pages. Returns the body of the response. */
export function useWrite() {
  const refresh = useRefresh();
  return async <T>(request: Parameters<typeof dataOrThrow<T>>[0]): Promise<NonNullable<T>> => {
    const data = await dataOrThrow(request);
    await refresh();
    return data;
  };
}

const slowKinds: readonly unknown[] = ['summary', 'heatmap', 'trend', 'movement', 'total'];

const isSlow = ({ queryKey }: Pick<Query, 'queryKey'>) => queryKey.some((part) => slowKinds.includes(part));
