import { type Expression, type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { jsonBoolean } from '../database/functions.ts';
import {
  inProject,
  referenceFaults,
  refuseSameExternalId,
  toIssue,
  toPerson,
  toRisk,
  toTask,
} from '../database/references.ts';
import { newStamps, rowAsJson, storedChanges, storedFields } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { deleteRow, notBefore, updateRow } from '../database/update.ts';
import { type Fault, fieldFault, invalidBody, joined, notFound, type Problem } from '../errors.ts';
import type { Change } from '../history/change.ts';
import { type Made, onlyOne } from '../history/making.ts';
import { differencesBetween, remember, rememberDeleted } from '../history/queries.ts';
import {
  allOf,
  equals,
  hasText,
  holds,
  isActive,
  isIn,
  isNarrowedByIndex,
  isNull,
  since,
} from '../lists/filters.ts';
import { type List, sameList } from '../lists/list.ts';
import type { Filters } from '../lists/query.ts';
import { assigneeFaults, assigneesOf } from '../personnel/queries.ts';
import { none } from '../projects/counts.ts';
import { type AcrossProjects, makeInProject, projectConditions, refuseWriting } from '../projects/queries.ts';
import { foldAll } from '../text.ts';
import { openStatuses, type projectTaskFilters, Task, TaskInput, type TaskPatch } from './schema.ts';

export type TaskFilters = AcrossProjects & Filters<typeof projectTaskFilters>;

/** Tasks: what is due soonest first, and last what is not due on any day. */
export const taskList = (filters: TaskFilters, moment: Moment): List =>
  sameList(['tasks', filters, moment.today], () => ({
    schema: Task,
    json: taskJson,
    reads: ['tasks', 'projects', 'people'],
    isQuick: isQuick(filters),
    order: { key: sql.ref('tasks.due_key') },
    from: taskRows,
    id: sql.ref('tasks.id'),
    matches: taskConditions(filters, moment),
  }));

export async function getTask(db: Kysely<Tables>, project: string, ref: string): Promise<Task> {
  const { json } = await taskRows(db)
    .select(taskJson.as('json'))
    .where((eb) => eb.or([eb('projects.id', '=', project), eb('projects.key', '=', project)]))
    .where((eb) => eb.or([eb('tasks.id', '=', ref), eb('tasks.key', '=', ref)]))
    .executeTakeFirstOrThrow(() => notFound('task', `${ref} in the project ${project}`));
  return JSON.parse(json);
}

export async function createTask(
  db: Transaction<Tables>,
  project: string,
  input: TaskInput,
  change: Change,
): Promise<Task> {
  const { id } = onlyOne(await createTasks(db, project, [input], change));
  return getTask(db, project, id);
}

/** Makes those that can be made, and says why the others cannot. */
export const createTasks = (
  db: Transaction<Tables>,
  project: string,
  inputs: readonly TaskInput[],
  change: Change,
): Promise<(Made | Problem)[]> =>
  makeInProject(
    db,
    project,
    inputs,
    {
      kind: 'task',
      target: toTask,
      faults: async (project_id) =>
        joined(
          await brokenRules(db, project_id, inputs),
          await assigneeFaults(db, assigneesOf(inputs), change),
        ),
      row: (identity, input) => taskRow(identity, input, change),
      share: () => none,
    },
    change,
  );

export async function updateTask(
  db: Transaction<Tables>,
  current: Task,
  { reason, ...patch }: TaskPatch,
  asked: Change,
): Promise<Task> {
  const change = notBefore(asked, current);
  await refuseWriting(db, current.project_id);
  const next: Task = { ...current, ...patch };
  const differences = differencesBetween(current, next, Object.keys(Task.properties));
  if (Object.keys(differences).length === 0) return current;
  const [faults = []] = await brokenRules(db, current.project_id, [next]);
  // Who has left keeps what they had until it is handed over; only a new assignee must be assignable.
  if ('assignee_user_id' in differences)
    faults.push(...(await assigneeFaults(db, assigneesOf([next]), change)).flat());
  if (faults.length > 0) throw invalidBody(faults);
  if ('external_id' in differences)
    await refuseSameExternalId(db, toTask, current.project_id, next.external_id);
  const columns = {
    ...storedChanges(Task, differences),
    search_folded: foldAll([next.key, next.title, next.description]),
  };
  await updateRow(db, 'tasks', current, columns, change.now);
  await remember(db, current.id, differences, { ...change, reason });
  return getTask(db, current.project_id, current.id);
}

export async function deleteTask(db: Transaction<Tables>, current: Task, change: Change): Promise<void> {
  const { id, key, project_id } = current;
  await refuseWriting(db, project_id);
  await deleteRow(db, 'tasks', current);
  await rememberDeleted(db, id, key, change);
}

/** A new task as it is stored. */
export const taskRow = (
  identity: { id: string; project_id: string; key: string },
  input: TaskInput,
  { now }: Moment,
) => ({
  ...identity,
  ...storedFields(TaskInput, input),
  search_folded: foldAll([identity.key, input.title, input.description]),
  ...newStamps(now),
});

const taskRows = (db: Kysely<Tables>) =>
  db
    .selectFrom('tasks')
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .leftJoin('people as assignee', 'assignee.user_id', 'tasks.assignee_user_id');

const taskJson = rowAsJson(Task, 'tasks', {
  project_key: sql.ref('projects.key'),
  project_name: sql.ref('projects.name'),
  assignee_name: sql.ref('assignee.name'),
  assignee_active: jsonBoolean(sql`assignee.status = 'active'`),
});

/** Whether an index of the order leads straight to the first rows. */
function isQuick({ status, archived, ...others }: TaskFilters): boolean {
  const byIndex = ['project', 'assignee_user_id', 'risk_id', 'issue_id'];
  return String(status) === 'open' && archived !== 'true' && isNarrowedByIndex(others, byIndex);
}

const isOpen = sql<boolean>`tasks.open = 1`;

const isOverdue = ({ today }: Moment) =>
  sql<boolean>`(${isOpen} and coalesce(tasks.due_on, '9999-99-99') < ${today})`;

const taskConditions = (filters: TaskFilters, moment: Moment) =>
  allOf(filters, {
    ...projectConditions('tasks.project_id'),
    status: hasStatus,
    kind: isIn('tasks.kind'),
    assignee_user_id: isIn('tasks.assignee_user_id'),
    assignee_active: isActive('assignee'),
    unassigned: holds(isNull('tasks.assignee_user_id')),
    overdue: holds(isOverdue(moment)),
    risk_id: equals('tasks.risk_id'),
    issue_id: equals('tasks.issue_id'),
    due_before: (day) => sql<boolean>`tasks.due_on < ${day}`,
    due_after: (day) => sql<boolean>`tasks.due_on > ${day}`,
    updated_since: since('tasks.updated_at'),
    external_id: equals('tasks.external_id'),
    q: hasText('tasks.search_folded'),
  });

function hasStatus(wanted: readonly string[]): Expression<boolean> {
  if (wanted.includes('all')) return sql`1 = 1`;
  // `open` alone is what the index is made for.
  if (wanted.every((status) => status === 'open')) return isOpen;
  return isIn('tasks.status')(wanted.flatMap((status) => (status === 'open' ? openStatuses : status)));
}

async function brokenRules(
  db: Kysely<Tables>,
  project_id: string,
  inputs: readonly TaskInput[],
): Promise<Fault[][]> {
  const faults = await referenceFaults(db, inputs, {
    assignee_user_id: toPerson,
    risk_id: inProject(toRisk, project_id),
    issue_id: inProject(toIssue, project_id),
  });
  for (const [i, { start_on, due_on }] of inputs.entries()) {
    if (start_on && due_on && due_on < start_on) {
      faults[i]?.push(fieldFault('due_on', 'date_order', '`due_on` is before `start_on`.'));
    }
  }
  return faults;
}
