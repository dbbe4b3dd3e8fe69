import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import { everyOf } from '../api/enums.ts';
import type { Project } from '../api/openapi.ts';

/** The worst first. */
export const healthStates = everyOf<Project['health']['state']>({
  off_track: true,
  at_risk: true,
  on_track: true,
  unknown: true,
});

export const projectStatuses = everyOf<Project['status']>({
  planned: true,
  active: true,
  on_hold: true,
  completed: true,
  cancelled: true,
});

/** All of them: the list is whole, so that what is counted here is what there is. */
export function useProjects(archived: 'false' | 'any' | 'true' = 'false', enabled = true) {
  return useQuery({
    queryKey: ['projects', archived],
    enabled,
    queryFn: async () => (await answerOf(api.GET('/v1/projects', { params: { query: { archived } } }))).data,
  });
}
