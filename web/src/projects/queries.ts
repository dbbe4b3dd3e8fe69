import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';

/** The worst first. */
export const healthStates = [
  'off_track',
  'at_risk',
  'on_track',
  'unknown',
] as const satisfies Project['health']['state'][];

export const projectStatuses = ['planned', 'active', 'on_hold', 'completed', 'cancelled'] as const;

/** All of them: the list is whole, so that what is counted here is what there is. */
export function useProjects(archived: 'false' | 'any' | 'true' = 'false', enabled = true) {
  return useQuery({
    queryKey: ['projects', archived],
    enabled,
    queryFn: async () => (await answerOf(api.GET('/v1/projects', { params: { query: { archived } } }))).data,
  });
}
