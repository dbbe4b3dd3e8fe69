import { type Static, Type } from 'typebox';
import {
  Attributes,
  AttributesPatch,
  Count,
  Day,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  PersonRef,
  patchable,
  Reason,
  Strict,
  stamps,
  Text,
  Time,
  Url,
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Flag, Folded, SortKey, statusAction } from '../descriptor.ts';
import {
  commonFilters,
  computedFields,
  ItemRef,
  identity,
  owner,
  ownerFilters,
  ownerState,
  Rest,
} from '../project-items/schema.ts';
import { acrossProjects } from '../projects/schema.ts';

export const openStatuses = ['open', 'in_progress', 'blocked'] as const;
export const issueStatuses = [...openStatuses, 'resolved', 'closed'] as const;

export const severities = ['critical', 'high', 'medium', 'low'] as const;
export const priorities = ['urgent', 'high', 'normal', 'low'] as const;
export const ageBands = ['0-7 days', '8-30 days', '31-90 days', 'over 90 days'] as const;

const required = { title: Line({ examples: ['Valves have not arrived'] }) };

const fields = {
  description: OrNull(Text()),
  severity: OneOf(severities, { default: 'medium' }),
  priority: OneOf(priorities, { default: 'normal' }),
  ...owner,
  assignee_user_id: OrNull(Id('person', { description: 'The person must be assignable.' })),
  raised_by_user_id: OrNull(Id('person')),
  raised_on: Day({ description: 'Default: today.' }),
  due_on: OrNull(Day()),
  blocked_reason: OrNull(Text()),
  risk_id: OrNull(
    Id('risk', { description: 'The risk that this issue came from. It must be in the same project.' }),
  ),
  external_id: OrNull(Line()),
  source_url: OrNull(Url()),
  attributes: Attributes(),
};

export const Issue = Strict(
  {
    ...identity('issue', 'I3'),
    ...required,
    ...fields,
    status: OneOf(issueStatuses),
    resolution: OrNull(OneOf(['fixed', 'workaround', 'wont_fix', 'duplicate', 'not_an_issue'])),
    resolution_note: OrNull(Text({ description: 'How the issue was resolved.' })),
    ...ownerState,
    assignee_name: OrNull(Line()),
    assignee_active: OrNull(Type.Boolean()),
    age_days: Type.Integer({ description: 'Days since the issue was raised.' }),
    overdue: Type.Boolean({ description: 'Whether the issue is open with `due_on` before today.' }),
    web_url: WebUrl('issue', '/issues/APOLLO-I3'),
    ...stamps,
  },
  { $id: 'Issue' },
);
export type Issue = Static<typeof Issue>;

/** A new issue has an open status. Validation rules apply to resolving and closing it. */
export const IssueInput = Writable(
  Issue,
  { ...required, ...optional({ ...fields, status: OneOf(openStatuses, { default: 'open' }) }) },
  { $id: 'IssueInput', examples: [{ title: 'Valves have not arrived', severity: 'high' }] },
);
export type IssueInput = Static<typeof IssueInput>;

export const IssuePatch = Writable(
  Issue,
  patchable({
    ...required,
    ...fields,
    attributes: AttributesPatch(),
    status: OneOf(issueStatuses),
    resolution: Issue.properties.resolution,
    resolution_note: Issue.properties.resolution_note,
    reason: Reason(),
  }),
  { $id: 'IssuePatch', examples: [{ status: 'resolved', resolution: 'fixed' }] },
);
export type IssuePatch = Static<typeof IssuePatch>;

const filters = {
  severity: ManyOf(fields.severity),
  priority: ManyOf(fields.priority),
  assignee_user_id: ManyOf(PersonRef()),
  ...ownerFilters('issues'),
  owner_active: Type.Boolean({ description: '`false` returns issues owned by inactive people.' }),
  assignee_active: Type.Boolean({ description: '`false` returns issues assigned to inactive people.' }),
  unassigned: Type.Boolean(),
  overdue: Type.Boolean({ description: 'Open issues with `due_on` before today.' }),
  min_age_days: Type.Integer({ minimum: 0, maximum: 36_500 }),
  risk_id: Id('risk'),
  due_before: Day(),
  due_after: Day(),
  raised_since: Day(),
  ...commonFilters,
};

/** Filters for open issues across projects. `status` accepts only open statuses. */
export const issueFilters = {
  ...acrossProjects,
  status: ManyOf(OneOf(openStatuses), { default: [...openStatuses] }),
  ...filters,
};

/** Filters for the issues of one project, in every status. */
export const projectIssueFilters = {
  status: ManyOf(OneOf(['all', ...issueStatuses]), { default: ['all'] }),
  ...filters,
  resolved_since: Time({ description: 'Issues that were resolved or closed since then, and still are.' }),
};

/** Filters for issues across projects, in every status. */
export const allIssueFilters = { ...acrossProjects, ...projectIssueFilters };

export const IssueSummary = Strict(
  {
    total: Count,
    overdue: Count,
    by_severity: Type.Array(Strict({ severity: OneOf(severities), count: Count })),
    by_priority: Type.Array(Strict({ priority: OneOf(priorities), count: Count })),
    by_age: Type.Array(Strict({ age: OneOf(ageBands), count: Count })),
    by_project: Type.Array(
      Strict({ project_id: Id('project'), project_key: Type.String(), project_name: Line(), count: Count }),
    ),
    by_project_rest: Rest,
    by_assignee: Type.Array(
      Strict({
        assignee_user_id: OrNull(Id('person')),
        assignee_name: OrNull(Line({ description: 'null for unassigned issues.' })),
        count: Count,
      }),
    ),
    by_assignee_rest: Rest,
  },
  { $id: 'IssueSummary' },
);
export type IssueSummary = Static<typeof IssueSummary>;

export const IssueRef = ItemRef('issue', 'I3');

export const issueResource = describeResource({
  kind: 'issue',
  table: 'issues',
  id: 'id',
  label: 'key',
  tag: ['issues', 'The open issues across all projects, and the issues of each project.'],
  columns: columnsOf(
    Issue,
    [...computedFields.item, ...computedFields.owner, ...computedFields.assignee, 'age_days', 'overdue'],
    { search_folded: Folded },
  ),
  generated: { open: Flag, rank_key: SortKey },
  references: {
    project_id: 'projects',
    owner_user_id: 'people',
    owner_group_id: 'groups',
    raised_by_user_id: 'people',
    assignee_user_id: 'people',
    risk_id: 'risks',
  },
  visible: { project: 'project_id' },
  events: {
    scope: 'projects.read',
    types: {
      created: 'An issue was added.',
      updated: 'An issue was changed, but its status not as below.',
      overdue: 'The day in `due_on` of an open issue has passed.',
      resolved: 'The issue was resolved.',
      closed: 'The issue was closed.',
      reopened: 'A resolved or closed issue was reopened.',
      deleted: 'An issue was deleted.',
    },
    data: Issue,
    page: ['/issues/', 'subject_key'],
    actions: ({ status }) => [statusAction(status, ['resolved', 'closed'], ['resolved', 'closed'])],
  },
});
