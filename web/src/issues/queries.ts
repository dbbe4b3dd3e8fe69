import { api, dataOrThrow } from '../api/client.ts';
import type { paths } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import type { Filters } from '../components/filters.tsx';

type Query = NonNullable<paths['/v1/issues']['get']['parameters']['query']>;

/** The filters that the URL can contain. The service validates their values. */
export const issueFilterNames = [
  'q',
  'search',
  'project',
  'status',
  'severity',
  'priority',
  'assignee_user_id',
  'owner_user_id',
  'owner_group_id',
  'transitive',
  'unassigned',
  'overdue',
  'min_age_days',
  'due_before',
  'due_after',
  'raised_since',
  'resolved_since',
  'updated_since',
  'sort',
] as const;

/** Whether the filters ask for issues that are not open, which only the list of all issues contains. */
export const includesClosed = ({ status = '', resolved_since }: Filters) =>
  resolved_since !== undefined ||
  status.split(',').some((one) => ['resolved', 'closed', 'all'].includes(one));

export const useIssues = (filters: Filters) =>
  useRows(['issues', 'list', filters], (paging) => {
    const params = { query: { ...(filters as unknown as Query), ...paging } };
    return dataOrThrow(
      includesClosed(filters) ? api.GET('/v1/issues/all', { params }) : api.GET('/v1/issues', { params }),
    );
  });
