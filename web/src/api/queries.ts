import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { toast } from '../components/toast.tsx';
import { ApiProblem } from './client.ts';
import { endSession } from './session.ts';

/** Reads are kept for half a minute; what is written makes them be read again at once. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (count, error) => {
        if (!(error instanceof ApiProblem) || !isPassing(error) || count >= 3) return false;
        if (error.status === 429) toast(`${error.message} This page waits and tries again.`);
        return true;
      },
      retryDelay: (count, error) => ((error as ApiProblem).retryAfter ?? 2 ** count) * 1000,
    },
  },
  queryCache: new QueryCache({ onError: leaveWhenUnauthenticated }),
});

/** What another try may mend: no connection, too many requests, a service that starts. */
const isPassing = ({ status }: ApiProblem) => [0, 429, 503].includes(status);

/** The key has been revoked or has expired: back to signing in, with what the service says about it. */
export function leaveWhenUnauthenticated(error: unknown): void {
  if (error instanceof ApiProblem && error.status === 401) endSession(error.message);
}

type Page = { data: unknown[]; page: { next_cursor: string | null; total: number | null } };

type Paging = { limit: number; cursor?: string; count?: boolean };

/** What a long list needs to be shown. */
export type Rows<Row> = Pick<
  UseInfiniteQueryResult,
  'isError' | 'error' | 'refetch' | 'isPending' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
> & { first: unknown; rows: Row[]; total: number | null };

/**
 * A long list, page by page: the rows so far, how many there are in all, and how to get more. The count is asked for
 * apart from the rows, which must not wait for it.
 */
export function useRows<Answer extends Page>(
  key: readonly unknown[],
  read: (paging: Paging) => Promise<Answer>,
  { limit = 100, isCounted = true } = {},
) {
  const query = useInfiniteQuery({
    queryKey: [...key, 'rows', limit],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => read({ limit, ...(pageParam && { cursor: pageParam }) }),
    getNextPageParam: (last) => last.page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const pages = query.data?.pages ?? [];
  const rows = pages.flatMap((page): Answer['data'][number][] => page.data);
  const counted = useQuery({
    queryKey: [...key, 'total'],
    enabled: isCounted && query.hasNextPage && !query.isPlaceholderData,
    queryFn: () => read({ limit: 1, count: true }),
    select: ({ page }) => page.total,
  });
  const total = query.hasNextPage ? (counted.data ?? null) : rows.length;
  return { ...query, first: pages[0], rows, total };
}

/** After a write: everything shown is read again, since a change of one thing moves many numbers. */
export function useRefresh() {
  const client = useQueryClient();
  return () => client.invalidateQueries();
}
