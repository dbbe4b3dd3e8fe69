import { api, dataOrThrow } from '../api/client.ts';
import type { paths } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';

type Query = NonNullable<paths['/v1/tasks']['get']['parameters']['query']>;

/** The filters that the URL can contain. The service validates their values. */
export const taskFilterNames = [
  'q',
  'search',
  'project',
  'status',
  'kind',
  'assignee_user_id',
  'unassigned',
  'overdue',
  'due_after',
  'due_before',
  'updated_since',
  'sort',
] as const;

export const useTasks = (filters: Filters) =>
  useRows(['tasks', 'list', filters], (paging) =>
    dataOrThrow(api.GET('/v1/tasks', { params: { query: { ...(filters as unknown as Query), ...paging } } })),
  );
