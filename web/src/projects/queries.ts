import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { healthStates } from '../components/health-reasons.tsx';

export function useProject(key: string) {
  return useQuery({
    queryKey: ['project', key],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/projects/{project_id}', { params: { path: { project_id: key } } })),
  });
}

/** Whether a project is archived, so that nothing in it can be changed. */
export function useIsArchived(key: string): boolean {
  const { data: project } = useProject(key);
  return typeof project?.archived_at === 'string';
}

/** Whether the key in use can change what is in a project. */
export function useCanEditIn(key: string): boolean {
  const isArchived = useIsArchived(key);
  return useHasScope()('projects.manage') && !isArchived;
}

/** Reads all projects, so that the console can count and filter them. */
export function useProjects(archived: 'false' | 'any' | 'true' = 'false', enabled = true) {
  return useQuery({
    queryKey: ['projects', archived],
    enabled,
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/projects', { params: { query: { archived } } }))).data,
  });
}

export const worstFirst = (projects: readonly Project[]) =>
  projects.toSorted(
    (a, b) =>
      healthStates.indexOf(a.health.state) - healthStates.indexOf(b.health.state) ||
      (b.counts.top_score ?? 0) - (a.counts.top_score ?? 0),
  );

/** The title of a dialog that creates something in a project: `Create risk in Harbor crane`. */
export function useTitleIn(project: string | undefined, title: string): string {
  const { data = [] } = useProjects('false', project !== undefined);
  const name = data.find(({ id, key }) => project === key || project === id)?.name;
  return name ? `${title} in ${name}` : title;
}

/** The key of a project, or its id when the API key in use can't see the project. */
export function useProjectKeys(): (id: string) => string {
  const { data = [] } = useProjects('any', useHasScope()('projects.read'));
  const keys = new Map(data.map(({ id, key }) => [id, key]));
  return (id) => keys.get(id) ?? id;
}
