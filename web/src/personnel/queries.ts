import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Person, paths } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { Filters } from '../components/filters.tsx';

type Query = NonNullable<paths['/v1/personnel']['get']['parameters']['query']>;

/** The filters that the URL can contain. The service validates their values. */
export const personFilterNames = [
  'q',
  'status',
  'kind',
  'department',
  'skill',
  'location',
  'manager_user_id',
  'group_id',
  'transitive',
  'assignable',
  'sort',
] as const;

export const usePersonnel = (filters: Filters) =>
  useRows(['personnel', filters], (paging) =>
    dataOrThrow(
      api.GET('/v1/personnel', { params: { query: { ...(filters as unknown as Query), ...paging } } }),
    ),
  );

/** A person, if the key in use can read people. */
export function useReadablePerson(user_id: string | null): Person | undefined {
  const canRead = useHasScope()('personnel.read');
  return usePerson(canRead ? user_id : null).data;
}

export function usePerson(user_id: string | null) {
  return useQuery({
    queryKey: ['person', user_id],
    enabled: user_id !== null,
    queryFn: () =>
      dataOrThrow(api.GET('/v1/personnel/{user_id}', { params: { path: { user_id: user_id ?? '' } } })),
  });
}
