import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import { useHasScope } from '../api/session.ts';
import { formatNumber } from '../format.ts';

/** How much open work people have. It is read after the people, who do not wait for it. */
export function useLoad(ids: readonly string[]): (id: string) => string | undefined {
  const hasScope = useHasScope();
  const user_ids = ids.filter((id) => id.startsWith('usr_'));
  const { data } = useQuery({
    queryKey: ['load', user_ids],
    enabled: user_ids.length > 0 && hasScope('projects.read'),
    queryFn: () => dataOrThrow(api.GET('/v1/personnel/load', { params: { query: { user_ids } } })),
    placeholderData: keepPreviousData,
  });
  const loads = new Map((data?.data ?? []).map((load) => [load.user_id, load]));
  return (id) => {
    const load = loads.get(id);
    return load && `${formatNumber(load.open)} open`;
  };
}
