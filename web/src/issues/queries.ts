import { useQuery } from '@tanstack/react-query';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Issue, IssuePatch, paths } from '../api/openapi.ts';
import { useRefresh, useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';
import { projectOf } from '../risks/queries.ts';

type Query = NonNullable<paths['/v1/issues']['get']['parameters']['query']>;

/** What the address of the list may hold. The service checks the values, and says what is wrong with them. */
export const issueFilterNames = [
  'q',
  'project',
  'status',
  'severity',
  'priority',
  'assignee_user_id',
  'unassigned',
  'overdue',
  'min_age_days',
  'raised_since',
] as const;

export const useIssues = (filters: Filters) =>
  useRows(['issues', 'list', filters], (paging) =>
    answerOf(api.GET('/v1/issues', { params: { query: { ...(filters as unknown as Query), ...paging } } })),
  );

export const issuePath = ({ project_key, key }: Pick<Issue, 'project_key' | 'key'>) => ({
  path: { project_id: project_key, id: key },
});

export function useIssue(key: string) {
  return useQuery({
    queryKey: ['issue', key],
    queryFn: () =>
      answerOf(
        api.GET('/v1/projects/{project_id}/issues/{id}', {
          params: issuePath({ project_key: projectOf(key), key }),
        }),
      ),
  });
}

/** Changes an issue as it was read, and shows what became of it everywhere. */
export function usePatchIssue() {
  const refresh = useRefresh();
  return async (issue: Issue, body: IssuePatch): Promise<Issue> => {
    const next = await answerOf(
      api.PATCH('/v1/projects/{project_id}/issues/{id}', {
        params: issuePath(issue),
        body,
        ...ifMatch(issue),
      }),
    );
    await refresh();
    return next;
  };
}
