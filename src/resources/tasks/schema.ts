import { type Static, Type } from 'typebox';
import {
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
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Flag, Folded, SortKey, statusAction } from '../descriptor.ts';
import { commonFilters, computedFields, ItemRef, identity } from '../project-items/schema.ts';
import { acrossProjects } from '../projects/schema.ts';

export const openStatuses = ['todo', 'in_progress', 'blocked'] as const;
export const taskStatuses = [...openStatuses, 'done', 'cancelled'] as const;

const required = { title: Line({ examples: ['Order the valves from a second supplier'] }) };

const fields = {
  description: OrNull(Text()),
  kind: OneOf(['work', 'mitigation', 'resolution'], { default: 'work' }),
  status: OneOf(taskStatuses, { default: 'todo', description: 'Can change from any status to any other.' }),
  assignee_user_id: OrNull(Id('person', { description: 'The person must be assignable.' })),
  start_on: OrNull(Day()),
  due_on: OrNull(Day({ description: 'Not before `start_on`.' })),
  risk_id: OrNull(
    Id('risk', { description: 'The risk that this task addresses. It must be in the same project.' }),
  ),
  issue_id: OrNull(
    Id('issue', { description: 'The issue that this task addresses. It must be in the same project.' }),
  ),
  external_id: OrNull(Line({ description: 'Your own id for this task. Unique within the project.' })),
};

export const Task = Strict(
  {
    ...identity('task', 'T12'),
    ...required,
    ...fields,
    assignee_name: OrNull(Line()),
    assignee_active: OrNull(Type.Boolean()),
    web_url: WebUrl('task', '/tasks/APOLLO-T5'),
    ...stamps,
  },
  { $id: 'Task' },
);
export type Task = Static<typeof Task>;

export const TaskInput = Writable(
  Task,
  { ...required, ...optional(fields) },
  {
    $id: 'TaskInput',
    examples: [{ title: 'Order the valves from a second supplier', due_on: '2026-11-15' }],
  },
);
export type TaskInput = Static<typeof TaskInput>;

export const TaskPatch = Writable(Task, patchable({ ...required, ...fields, reason: Reason() }), {
  $id: 'TaskPatch',
  examples: [{ status: 'done' }],
});
export type TaskPatch = Static<typeof TaskPatch>;

const statusFilter = (defaultStatus: 'open' | 'all') =>
  ManyOf(OneOf(['open', 'all', ...taskStatuses]), {
    default: [defaultStatus],
    description: `\`open\` is ${openStatuses.map((open) => `\`${open}\``).join(', ')}.`,
  });

const filters = {
  kind: ManyOf(fields.kind),
  assignee_user_id: ManyOf(PersonRef()),
  assignee_active: Type.Boolean({ description: '`false` returns tasks assigned to inactive people.' }),
  unassigned: Type.Boolean(),
  overdue: Type.Boolean({ description: 'Open tasks with `due_on` before today.' }),
  risk_id: Id('risk'),
  issue_id: Id('issue'),
  due_before: Day(),
  due_after: Day(),
  ...commonFilters,
};

/** Filters for tasks across projects; by default open tasks only. */
export const taskFilters = { ...acrossProjects, status: statusFilter('open'), ...filters };

/** Filters for the tasks of one project, in every status. */
export const projectTaskFilters = { status: statusFilter('all'), ...filters };

export const TaskRef = ItemRef('task', 'T12');

export const taskResource = describeResource({
  kind: 'task',
  table: 'tasks',
  id: 'id',
  label: 'key',
  tag: ['tasks', 'Tasks, including the work on risks and issues.'],
  columns: columnsOf(Task, [...computedFields.item, ...computedFields.assignee], {
    search_folded: Folded,
  }),
  generated: { open: Flag, due_key: SortKey },
  references: { project_id: 'projects', assignee_user_id: 'people', risk_id: 'risks', issue_id: 'issues' },
  visible: { project: 'project_id' },
  events: {
    scope: 'projects.read',
    types: {
      created: 'A task was added.',
      updated: 'A task was changed, but its status not as below.',
      overdue: 'The day in `due_on` of an open task has passed.',
      completed: 'The task is done.',
      cancelled: 'The task was cancelled.',
      reopened: 'A task that was done or cancelled was reopened.',
      deleted: 'A task was deleted.',
    },
    data: Task,
    page: ['/tasks/', 'subject_key'],
    actions: ({ status }) => {
      const action = statusAction(status, ['done', 'cancelled'], ['done', 'cancelled']);
      return [action === 'done' ? 'completed' : action];
    },
  },
});
