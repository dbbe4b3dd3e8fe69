import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { dayKey, type Moment } from '../../core/clock.ts';
import { foldAll } from '../../core/text.ts';
import { consoleUrl, jsonBoolean, notIndexed } from '../../database/sql/functions.ts';
import { newStamps, rowAsJson, storedFields } from '../../database/sql/rows.ts';
import {
  allOf,
  always,
  equals,
  holds,
  isActive,
  isIn,
  isNarrowedByIndex,
  isNull,
  since,
} from '../../lists/filters.ts';
import { type List, memoizedList, type Order, type RowsQuery } from '../../lists/list.ts';
import { byKey, byText } from '../../lists/orders.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import { subjectOf } from '../../store/writes/events.ts';
import {
  byName,
  commonOrders,
  findItems,
  ignoresStatusIndex,
  itemHasText,
  itemOrder,
  rankOf,
} from '../project-items/order.ts';
import { joinAssignee } from '../project-items/people.ts';
import { itemReader } from '../project-items/read.ts';
import type { ItemIdentity, ItemWrites } from '../project-items/writes.ts';
import { zeroDelta } from '../projects/counts.ts';
import { type AcrossProjects, projectConditions } from '../projects/queries.ts';
import { periodErrors } from '../validation.ts';
import {
  openStatuses,
  type projectTaskFilters,
  Task,
  TaskInput,
  type TaskPatch,
  taskResource,
  taskStatuses,
} from './schema.ts';

export type TaskFilters = AcrossProjects & Filters<typeof projectTaskFilters>;

const dueKey = rankOf('tasks');

/** The sort orders of a list of tasks. Tasks without the day come last. */
export const taskOrders: Record<string, Order> = {
  // Its index puts tasks without the day last, so it cannot be read backward.
  due_on: { key: dueKey },
  '-due_on': byText('due_on', dueKey, sql.ref('tasks.due_on'))['-due_on'],
  ...byText('start_on', dueKey, sql.ref('tasks.start_on')),
  ...commonOrders('tasks', taskStatuses),
  ...byKey('kind', dueKey, sql.ref('tasks.kind')),
  ...byName('assignee_name', 'tasks', ['assignee_user_id']),
};

export const taskList = (filters: TaskFilters, moment: Moment, sort = 'due_on'): List =>
  memoizedList(['tasks', filters, dayKey(moment), sort], () => ({
    schema: Task,
    json: taskJson,
    reads: [
      ...(['tasks', 'projects', 'people'] as const),
      // A filter that names an item also depends on whether it exists.
      ...(filters.risk_id ? ['risks' as const] : []),
      ...(filters.issue_id ? ['issues' as const] : []),
    ],
    isIndexed: isIndexed(filters) && sort === 'due_on',
    order: itemOrder('tasks', taskOrders, sort, filters),
    from: taskRows,
    joins: withAssignee,
    ...findItems('tasks', filters, isOpenOrAll(filters)),
    matches: taskConditions(filters, moment),
  }));

export const taskRow = (identity: ItemIdentity, input: TaskInput, { now }: Moment) => ({
  ...identity,
  ...storedFields(TaskInput, input),
  search_folded: foldAll([identity.key, input.title, input.description]),
  ...newStamps(now),
});

const taskRows = (db: Kysely<Tables>): RowsQuery =>
  db.selectFrom('tasks').innerJoin('projects', 'projects.id', 'tasks.project_id');

const withAssignee = (rows: RowsQuery) => joinAssignee(rows, 'tasks');

const taskJson = rowAsJson(Task, 'tasks', {
  project_key: sql.ref('projects.key'),
  project_name: sql.ref('projects.name'),
  assignee_name: sql.ref('assignee.name'),
  assignee_active: jsonBoolean(sql`assignee.status = 'active'`),
  web_url: consoleUrl('/tasks/', sql.ref('tasks.key')),
});

export const taskSubject = subjectOf(
  taskResource,
  () => taskJson,
  (db) => withAssignee(taskRows(db)),
);

export const getTask = itemReader<Task>(taskSubject);

export const taskWrites: ItemWrites<Task, TaskInput, TaskPatch> = {
  target: taskResource,
  subject: taskSubject,
  schema: Task,
  get: getTask,
  row: taskRow,
  itemErrors: periodErrors,
  next: (current, patch) => ({ next: { ...current, ...patch } }),
  delta: () => zeroDelta,
};

/** Whether an index yields the first rows in order, without sorting. */
function isIndexed({ status, archived, ...rest }: TaskFilters): boolean {
  const byIndex = ['project', 'assignee_user_id', 'risk_id', 'issue_id'];
  return String(status) === 'open' && archived !== 'true' && isNarrowedByIndex(rest, byIndex);
}

const isOpenOrAll = ({ status }: TaskFilters) => ['open', 'all'].includes(String(status));

const open = sql.ref('tasks.open');
const isOpen = sql<boolean>`${open} = 1`;

const isOverdue = ({ today }: Moment) =>
  sql<boolean>`(${isOpen} and coalesce(tasks.due_on, '9999-99-99') < ${today})`;

const taskConditions = (filters: TaskFilters, moment: Moment) =>
  allOf(filters, {
    ...projectConditions('tasks.project_id'),
    // The tasks of one item are found by its index.
    status: hasStatus(ignoresStatusIndex(filters) ? sql`${notIndexed(open)} = 1` : isOpen),
    kind: isIn('tasks.kind'),
    assignee_user_id: isIn('tasks.assignee_user_id'),
    assignee_active: isActive('tasks.assignee_user_id'),
    unassigned: holds(isNull('tasks.assignee_user_id')),
    overdue: holds(isOverdue(moment)),
    risk_id: equals('tasks.risk_id'),
    issue_id: equals('tasks.issue_id'),
    due_before: (day) => sql<boolean>`tasks.due_on < ${day}`,
    due_after: (day) => sql<boolean>`tasks.due_on > ${day}`,
    updated_since: since('tasks.updated_at'),
    external_id: equals('tasks.external_id'),
    q: itemHasText('tasks', filters.search),
    search: always,
  });

const hasStatus =
  (isOpen: RawBuilder<boolean>) =>
  (statuses: readonly string[]): Expression<boolean> => {
    if (statuses.includes('all')) return sql`1 = 1`;
    // The partial index contains the open tasks.
    if (statuses.every((status) => status === 'open')) return isOpen;
    return isIn('tasks.status')(statuses.flatMap((status) => (status === 'open' ? openStatuses : status)));
  };
