import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { paths, Risk, RiskPatch } from '../api/openapi.ts';
import { useRefresh, useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';
import { daysFromToday } from '../format.ts';

type Query = NonNullable<paths['/v1/risks']['get']['parameters']['query']>;

/** What the address of the list may hold. The service checks the values, and says what is wrong with them. */
export const riskFilterNames = [
  'q',
  'project',
  'status',
  'level',
  'probability',
  'impact',
  'check',
  'kind',
  'category',
  'owner_user_id',
  'owner_group_id',
  'unowned',
  'assessed',
  'above_appetite',
  'review_overdue',
  'as_of',
  'sort',
] as const;

/** Texts of the address, as the service reads them: lists are texts with commas there, too. */
const asQuery = (filters: Filters) => filters as unknown as Query;

const readRisks = (query: Query) => answerOf(api.GET('/v1/risks', { params: { query } }));

/**
 * The register, and how each risk in it has moved in 30 days. To tell that, the service ranks all of them as they stood
 * then, so it is asked for apart, page by page behind the rows.
 */
export function useRisks(filters: Filters, { limit = 100, isCounted = true } = {}) {
  const since = daysFromToday(-30);
  const risks = useRows(
    ['risks', 'list', filters],
    (paging) => readRisks({ ...asQuery(filters), ...paging }),
    { limit, isCounted },
  );
  const moved = useInfiniteQuery({
    queryKey: ['risks', 'movement', filters, limit],
    // Another order or another day has no ranks to move between.
    enabled: !filters.sort && !filters.as_of && risks.rows.length > 0 && !risks.isPlaceholderData,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) =>
      readRisks({ ...asQuery(filters), include: 'movement', since, limit, ...(cursor && { cursor }) }),
    getNextPageParam: (last) => last.page.next_cursor ?? undefined,
  });
  const isBehind = (moved.data?.pages.length ?? 0) < (risks.data?.pages.length ?? 0);
  const { hasNextPage, isFetching, isError, fetchNextPage } = moved;
  useEffect(() => {
    if (isBehind && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isBehind, hasNextPage, isFetching, isError, fetchNextPage]);
  const movements = new Map(
    moved.data?.pages.flatMap(({ data }) => data.map(({ id, movement }) => [id, movement])),
  );
  return { ...risks, rows: risks.rows.map((risk) => ({ ...risk, movement: movements.get(risk.id) })) };
}

/** The cells of all risks under the other filters: choosing a cell must not empty the rest. */
export function useHeatMap({ probability, impact, sort, ...filters }: Filters) {
  return useQuery({
    queryKey: ['risks', 'heatmap', filters],
    queryFn: () => answerOf(api.GET('/v1/risks/heatmap', { params: { query: asQuery(filters) } })),
    placeholderData: keepPreviousData,
  });
}

export const riskPath = ({ project_key, key }: Pick<Risk, 'project_key' | 'key'>) => ({
  path: { project_id: project_key, id: key },
});

/** `APOLLO-R7` is in `APOLLO`. */
export const projectOf = (key: string) => key.replace(/-[A-Z]\d+$/, '');

export function useRisk(key: string) {
  return useQuery({
    queryKey: ['risk', key],
    queryFn: () =>
      answerOf(
        api.GET('/v1/projects/{project_id}/risks/{id}', {
          params: { ...riskPath({ project_key: projectOf(key), key }), query: { explain: true } },
        }),
      ),
  });
}

/** Changes a risk as it was read, and shows what became of it everywhere. */
export function usePatchRisk() {
  const refresh = useRefresh();
  return async (risk: Risk, body: RiskPatch): Promise<Risk> => {
    const next = await answerOf(
      api.PATCH('/v1/projects/{project_id}/risks/{id}', { params: riskPath(risk), body, ...ifMatch(risk) }),
    );
    await refresh();
    return next;
  };
}
