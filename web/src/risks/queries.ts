import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { itemParams, projectKeyOf } from '../api/items.ts';
import type { paths } from '../api/openapi.ts';
import { usePages } from '../api/pages.ts';
import { useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';
import { isDay } from '../format.ts';
import { type Period, periodSince, usePeriod } from '../period/period.ts';

type Query = NonNullable<paths['/v1/risks']['get']['parameters']['query']>;

/** The filters that the URL can contain. The service validates their values. */
export const riskFilterNames = [
  'q',
  'search',
  'project',
  'status',
  'level',
  'probability',
  'impact',
  'check',
  'kind',
  'category',
  'archived',
  'owner_user_id',
  'owner_group_id',
  'transitive',
  'unowned',
  'assessed',
  'above_appetite',
  'review_overdue',
  'due_after',
  'due_before',
  'review_after',
  'review_before',
  'as_of',
  'change',
  'since',
  'updated_since',
  'sort',
] as const;

/** The filters are strings, as in the URL; the service parses numbers and comma-separated lists. */
const asQuery = (filters: Filters) => filters as unknown as Query;

const readRisks = (query: Query) => dataOrThrow(api.GET('/v1/risks', { params: { query } }));

export const readSummary = (filters: Filters) =>
  dataOrThrow(api.GET('/v1/risks/summary', { params: { query: asQuery(filters) } }));

/** The categories: those of the list in their order, then those that risks have besides. */
export const useCategories = () =>
  useQuery({
    queryKey: ['categories'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/categories'))).data,
  });

const isByChange = (sort: string | undefined) => sort === 'change' || sort === '-change';

/** Risks have no movement when they are sorted otherwise or as of another day. */
export const canHaveMovement = ({ sort, as_of }: Filters) => (!sort || isByChange(sort)) && !as_of;

/** With the day that changes are compared with if something compares: that of the URL, or of the chosen period. */
export function useCompared({ since, ...filters }: Filters): Filters {
  const period = usePeriod(filters.as_of);
  const isCompared = filters.change !== undefined || isByChange(filters.sort);
  return isCompared ? { ...filters, since: since ?? period.since } : filters;
}

/** The period of a list of risks. */
export function useShownPeriod({ since, as_of }: Filters): Period {
  const period = usePeriod(as_of);
  return since && isDay(since) ? periodSince(since) : period;
}

/**
 * The ranked risks and how each has moved since the day of comparison. For the movement the service ranks all risks as of that day, which
 * is slow, so a second query reads it page by page after the rows.
 */
export function useRisks(filters: Filters, { limit = 100, isCounted = true, hasMovement = true } = {}) {
  const period = usePeriod();
  const since = filters.since ?? period.since;
  const risks = useRows(
    ['risks', 'list', filters],
    (paging) => readRisks({ ...asQuery(filters), ...paging }),
    { limit, isCounted },
  );
  const movement = usePages({
    queryKey: ['risks', 'movement', filters, limit, since],
    enabled: hasMovement && canHaveMovement(filters) && risks.rows.length > 0 && !risks.isPlaceholderData,
    limit,
    read: (paging) => readRisks({ ...asQuery(filters), include: 'movement', since, ...paging }),
    visible: risks.visible,
  });
  const isBehind = (movement.data?.pages.length ?? 0) < (risks.data?.pages.length ?? 0);
  const { hasNextPage, isFetching, isError, fetchNextPage } = movement;
  useEffect(() => {
    if (isBehind && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isBehind, hasNextPage, isFetching, isError, fetchNextPage]);
  const movements = new Map(
    movement.data?.pages.flatMap(({ data }) => data.map((risk) => [risk.id, risk.movement])),
  );
  return { ...risks, rows: risks.rows.map((risk) => ({ ...risk, movement: movements.get(risk.id) })) };
}

/** Ignores the filters of a selected cell, which would empty the other cells. */
export function useHeatMap({ probability, impact, sort, ...shown }: Filters) {
  const filters = useCompared(shown);
  return useQuery({
    queryKey: ['risks', 'heatmap', filters],
    queryFn: () => dataOrThrow(api.GET('/v1/risks/heatmap', { params: { query: asQuery(filters) } })),
    placeholderData: keepPreviousData,
  });
}

export function useRisk(key: string) {
  return useQuery({
    queryKey: ['risk', key],
    queryFn: () =>
      dataOrThrow(
        api.GET('/v1/projects/{project_id}/risks/{id}', {
          params: { ...itemParams({ project_key: projectKeyOf(key), key }), query: { explain: true } },
        }),
      ),
  });
}
