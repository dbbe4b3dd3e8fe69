import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import type { Person, paths } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';

type Query = NonNullable<paths['/v1/personnel']['get']['parameters']['query']>;
type Page = { data: Person[]; page: { next_cursor: string | null; has_more: boolean; total: number | null } };

/** What the address of the list may hold. The service checks the values, and says what is wrong with them. */
export const personFilterNames = ['q', 'status', 'kind', 'department', 'skill', 'assignable'] as const;

export const usePersonnel = (filters: Filters) =>
  useRows<Person, Page>(['personnel', filters], (paging) =>
    answerOf(
      api.GET('/v1/personnel', { params: { query: { ...(filters as unknown as Query), ...paging } } }),
    ),
  );

export function usePerson(user_id: string | null) {
  return useQuery({
    queryKey: ['person', user_id],
    enabled: user_id !== null,
    queryFn: () =>
      answerOf(api.GET('/v1/personnel/{user_id}', { params: { path: { user_id: user_id ?? '' } } })),
  });
}
