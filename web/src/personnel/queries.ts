import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import { everyOf } from '../api/enums.ts';
import type { Person, paths } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';

type Query = NonNullable<paths['/v1/personnel']['get']['parameters']['query']>;

/** What the address of the list may hold. The service checks the values, and says what is wrong with them. */
export const personFilterNames = ['q', 'status', 'kind', 'department', 'skill', 'assignable'] as const;

export const personKinds = everyOf<Person['kind']>({
  human: true,
  agent: true,
  placeholder: true,
  external: true,
});

export const usePersonnel = (filters: Filters) =>
  useRows(['personnel', filters], (paging) =>
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
