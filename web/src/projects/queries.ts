import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow, enumValues } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';

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

/** The key of a project, or its id when the API key in use can't see the project. */
export function useProjectKeys(): (id: string) => string {
  const { data = [] } = useProjects('any', useHasScope()('projects.read'));
  const keys = new Map(data.map(({ id, key }) => [id, key]));
  return (id) => keys.get(id) ?? id;
}
