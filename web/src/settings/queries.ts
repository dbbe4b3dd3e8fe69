import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Organization, OrganizationPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { reloadMe } from '../api/session.ts';

export const readOrganization = () => dataOrThrow(api.GET('/v1/organization'));

export const useOrganization = () => useQuery({ queryKey: ['organization'], queryFn: readOrganization });

/** Changes the settings of the organization, and what the console has taken over of them. */
export function usePatchOrganization() {
  const refresh = useRefresh();
  return async (body: OrganizationPatch, base: Organization) => {
    const changed = await dataOrThrow(api.PATCH('/v1/organization', { body, ...ifMatch(base) }));
    await reloadMe();
    await refresh();
    return changed;
  };
}
