import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow, enumValues } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';

/** Worst first. */
export const healthStates = enumValues<Project['health']['state']>({
  off_track: true,
  at_risk: true,
  on_track: true,
  unknown: true,
});

export const projectStatuses = enumValues<Project['status']>({
  planned: true,
  active: true,
  on_hold: true,
  completed: true,
  cancelled: true,
});

/** Reads all projects, so that the console can count and filter them. */
export function useProjects(archived: 'false' | 'any' | 'true' = 'false', enabled = true) {
  return useQuery({
    queryKey: ['projects', archived],
    enabled,
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/projects', { params: { query: { archived } } }))).data,
  });
}
