import { type Insertable, type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import {
  type FieldError,
  fieldError,
  inUse,
  invalidBody,
  invalidParameter,
  notFound,
  Problem,
} from '../../core/errors.ts';
import { fold, foldAll, joinWords } from '../../core/text.ts';
import { jsonObject } from '../../database/sql/functions.ts';
import { merged, newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import type { Tables } from '../../database/tables.ts';
import type { Change } from '../../database/writes/change.ts';
import { type Created, createMany, unwrapSingle } from '../../database/writes/create-many.ts';
import {
  type Differences,
  differencesBetween,
  recordChanges,
  recordDeleted,
} from '../../database/writes/history.ts';
import {
  findReferrers,
  inProject,
  referenceErrors,
  rejectDuplicate,
  type Target,
  toPerson,
  toProject,
} from '../../database/writes/references.ts';
import { chunk, deleteRow, notBefore, updateRow } from '../../database/writes/rows.ts';
import { allOf, equals, hasText, isIn, since } from '../../lists/filters.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import { type CountDelta, countCreated } from './counts.ts';
import { overdueTasks, projectHealth, topScore } from './health.ts';
import {
  type acrossProjects,
  Project,
  ProjectInput,
  type ProjectPatch,
  type projectFilters,
} from './schema.ts';

/** Projects, by name. */
export function projectList(filters: Filters<typeof projectFilters>, moment: Moment): List {
  const matches = allOf(filters, {
    q: hasText('projects.search_folded'),
    status: isIn('projects.status'),
    archived: isArchived,
    lead_user_id: equals('projects.lead_user_id'),
    external_id: equals('projects.external_id'),
    updated_since: since('projects.updated_at'),
  });
  return {
    schema: Project,
    json: projectJson(moment),
    reads: ['projects', 'risks', 'issues', 'tasks'],
    order: { key: sql.ref('projects.name_key') },
    from: (db) => db.selectFrom('projects'),
    id: sql.ref('projects.id'),
    matches,
  };
}

export async function getProject(db: Kysely<Tables>, ref: string, moment: Moment): Promise<Project> {
  const { json } = await db
    .selectFrom('projects')
    .select(projectJson(moment).as('json'))
    .where((eb) => eb.or([eb('id', '=', ref), eb('key', '=', ref)]))
    .executeTakeFirstOrThrow(() => notFound('project', ref));
  return JSON.parse(json);
}

/** The same for whoever is about to write into it. */
export async function getProjectForWriting(
  db: Kysely<Tables>,
  ref: string,
  moment: Moment,
): Promise<Project> {
  const project = await getProject(db, ref, moment);
  assertNotArchived(project);
  return project;
}

export async function createProject(
  db: Transaction<Tables>,
  input: ProjectInput,
  change: Change,
): Promise<Project> {
  const { id } = unwrapSingle(await createProjects(db, [input], change));
  return getProject(db, id, change);
}

/** Makes those that can be made, and says why the others cannot. */
export async function createProjects(
  db: Transaction<Tables>,
  inputs: readonly ProjectInput[],
  change: Change,
): Promise<(Created | Problem)[]> {
  const taken = new Set(inputs.map(({ key }) => key));
  const making = {
    kind: 'project',
    target: toProject,
    errors: await validate(db, inputs),
    uniques: [{ field: 'key' }, { field: 'external_id' }],
    label: ({ key, name }: ProjectInput) => key ?? freeKey(db, name, taken),
    row: ({ id, label: key }: Created, input: ProjectInput) => projectRow(id, { ...input, key }, change),
  } as const;
  return createMany(db, inputs, making, change);
}

export async function updateProject(
  db: Transaction<Tables>,
  current: Project,
  { reason, ...patch }: ProjectPatch,
  change: Change,
): Promise<Project> {
  const locked = await lockProject(db, current.id);
  assertNotArchived(locked);
  const next = merged(current, patch);
  const differences = differencesBetween(current, next, Object.keys(patch));
  if ('key' in differences) assertKeyUnused(locked);
  const [errors = []] = await validate(db, [next]);
  if (errors.length > 0) throw invalidBody(errors);
  if ('key' in differences) await rejectDuplicate(db, toProject, 'key', next.key);
  if ('external_id' in differences) await rejectDuplicate(db, toProject, 'external_id', next.external_id);
  return changeProject(db, current, next, differences, { ...change, reason });
}

/** Archiving twice changes nothing. */
export async function archiveProject(
  db: Transaction<Tables>,
  current: Project,
  archived: boolean,
  change: Change,
): Promise<Project> {
  await lockProject(db, current.id);
  if ((current.archived_at !== null) === archived) return current;
  const next = { ...current, archived_at: archived ? change.now : null };
  return changeProject(db, current, next, differencesBetween(current, next, ['archived_at']), change);
}

/** Only an empty project can be deleted. */
export async function deleteProject(
  db: Transaction<Tables>,
  current: Project,
  change: Change,
): Promise<void> {
  const { id, key } = current;
  await lockProject(db, id);
  const users = await findReferrers(db, [
    ['risks', sql`project_id = ${id}`],
    ['issues', sql`project_id = ${id}`],
    ['tasks', sql`project_id = ${id}`],
  ]);
  if (users) throw inUse(`The project ${key}`, users);
  await deleteRow(db, 'projects', current);
  await recordDeleted(db, id, key, change);
}

/** A new project as it is stored. */
export const projectRow = (id: string, input: ProjectInput & { key: string }, { now }: Moment) => ({
  id,
  ...storedFields(ProjectInput, input),
  archived_at: null,
  open_issues: 0,
  critical_issues: 0,
  active_risks: 0,
  unassessed_risks: 0,
  name_folded: fold(input.name),
  search_folded: foldAll([input.key, input.name]),
  risks_made: 0,
  issues_made: 0,
  tasks_made: 0,
  ...newStamps(now),
});

type InProject = { id: string; project_id: string; key: string };

/** Makes things in a project, each under the next key of its kind; a number is never given again. */
export async function createInProject<Input extends object, Table extends 'risks' | 'issues' | 'tasks'>(
  db: Transaction<Tables>,
  ref: string,
  inputs: readonly Input[],
  {
    target,
    ...what
  }: {
    kind: 'risk' | 'issue' | 'task';
    target: Target & { table: Table };
    errors(project_id: string): Promise<FieldError[][]>;
    row(identity: InProject, input: Input): Insertable<Tables[Table]>;
    delta(input: Input): CountDelta;
  },
  change: Change,
): Promise<(Created | Problem)[]> {
  const project = await lockProject(db, ref);
  assertNotArchived(project);
  const { id: project_id, key } = project;
  const counter = `${target.table}_made` as const;
  const deltas: CountDelta[] = [];
  const making = {
    kind: what.kind,
    target: inProject(target, project_id),
    errors: await what.errors(project_id),
    uniques: [{ field: 'external_id' }],
    label: (_: Input, place: number) =>
      `${key}-${what.kind[0]?.toUpperCase()}${project[counter] + place + 1}`,
    row: ({ id, label }: Created, input: Input) => {
      deltas.push(what.delta(input));
      return what.row({ id, project_id, key: label }, input);
    },
  };
  const made = await createMany(db, inputs, making, change);
  await countCreated(db, project_id, counter, deltas);
  return made;
}

function assertNotArchived({ key, archived_at }: { key: string; archived_at: string | null }): void {
  if (archived_at === null) return;
  throw new Problem(
    'project_archived',
    `${key} is archived; nothing in it can be changed. Unarchive it first.`,
  );
}

/** Whatever belongs to a project can be changed only while the project is not archived. */
export async function assertWritable(db: Transaction<Tables>, project_id: string): Promise<void> {
  assertNotArchived(await lockProject(db, project_id));
}

/** The same for many: gives those of them that are not archived. */
export async function lockProjects(db: Transaction<Tables>, ids: readonly string[]): Promise<Set<string>> {
  const locked = new Set<string>();
  for (const some of chunk(ids, 1000)) {
    const projects = await db
      .updateTable('projects')
      .set((eb) => ({ version: eb.ref('version') }))
      .where('id', 'in', some)
      .where('archived_at', 'is', null)
      .returning('id')
      .execute();
    for (const { id } of projects) locked.add(id);
  }
  return locked;
}

/** Others who would write into the project, archive it or change its key wait until this transaction ends. */
function lockProject(db: Transaction<Tables>, ref: string) {
  // An update that changes nothing: a lock that every engine knows.
  return db
    .updateTable('projects')
    .set((eb) => ({ version: eb.ref('version') }))
    .where((eb) => eb.or([eb('id', '=', ref), eb('key', '=', ref)]))
    .returning(['id', 'key', 'archived_at', 'version', 'risks_made', 'issues_made', 'tasks_made'])
    .executeTakeFirstOrThrow(() => notFound('project', ref));
}

/** The ids behind a filter of ids and keys. One that names nothing is refused: an empty list would be a lie. */
export async function resolveProjects(db: Kysely<Tables>, refs: readonly string[]): Promise<string[]> {
  const { ids, unknown } = await findProjects(db, refs);
  if (unknown.length > 0) throw invalidParameter('project', `There is no project ${joinWords(unknown)}.`);
  return ids;
}

/** The ids of the projects that are named by id or key, in their own order, and the names that are of none. */
export async function findProjects(db: Kysely<Tables>, refs: readonly string[]) {
  const projects = await db
    .selectFrom('projects')
    .select(['id', 'key'])
    .where((eb) => eb.or([eb('id', 'in', refs), eb('key', 'in', refs)]))
    .orderBy('id')
    .execute();
  const unknown = refs.filter((ref) => !projects.some(({ id, key }) => ref === id || ref === key));
  return { ids: projects.map(({ id }) => id), unknown };
}

/** The filters that lists across projects delta. `project` holds ids: see `resolveProjects`. */
export const projectConditions = (project_id: string) => ({
  project: isIn(project_id),
  project_status: isIn('projects.status'),
  archived: isArchived,
});

export type AcrossProjects = Filters<typeof acrossProjects>;

function isArchived(archived: 'false' | 'true' | 'any') {
  if (archived === 'any') return sql<boolean>`1 = 1`;
  return archived === 'true'
    ? sql<boolean>`projects.archived_at is not null`
    : sql<boolean>`projects.archived_at is null`;
}

const projectJson = (moment: Moment) =>
  rowAsJson(Project, 'projects', {
    health: projectHealth(moment),
    counts: jsonObject({
      open_issues: sql.ref('projects.open_issues'),
      active_risks: sql.ref('projects.active_risks'),
      unassessed_risks: sql.ref('projects.unassessed_risks'),
      top_score: topScore,
      overdue_tasks: overdueTasks(moment.today),
    }),
  });

async function changeProject(
  db: Transaction<Tables>,
  current: Project,
  next: Project,
  differences: Differences,
  asked: Change,
): Promise<Project> {
  if (Object.keys(differences).length === 0) return current;
  const change = notBefore(asked, current);
  const columns = {
    ...storedChanges(Project, differences),
    name_folded: fold(next.name),
    search_folded: foldAll([next.key, next.name]),
  };
  await updateRow(db, 'projects', current, columns, change.now);
  await recordChanges(db, current.id, differences, change);
  return getProject(db, current.id, asked);
}

async function validate(db: Kysely<Tables>, inputs: readonly ProjectInput[]): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, inputs, { lead_user_id: toPerson });
  for (const [i, { start_on, due_on }] of inputs.entries()) {
    if (start_on && due_on && due_on < start_on) {
      errors[i]?.push(fieldError('due_on', 'date_order', '`due_on` is before `start_on`.'));
    }
  }
  return errors;
}

/** The key is part of the keys of all risks, issues and tasks that were ever made here. */
function assertKeyUnused({
  key,
  risks_made,
  issues_made,
  tasks_made,
}: Awaited<ReturnType<typeof lockProject>>): void {
  if (risks_made + issues_made + tasks_made === 0) return;
  throw invalidBody([
    fieldError('key', 'fixed', `The key ${key} is in use by what was made here and cannot change.`),
  ]);
}

/** The first word of the name, or all of it when that is too short, with a number when it is taken. */
async function freeKey(db: Kysely<Tables>, name: string, taken: Set<string | undefined>): Promise<string> {
  const words =
    fold(name)
      .toUpperCase()
      .match(/[A-Z0-9]+/g) ?? [];
  const base = words.find((word) => word.length >= 2) ?? `${words.join('')}PRJ`;
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : String(n);
    const key = base.slice(0, 10 - suffix.length) + suffix;
    const used = await db.selectFrom('projects').select('id').where('key', '=', key).executeTakeFirst();
    if (used || taken.has(key)) continue;
    taken.add(key);
    return key;
  }
}
