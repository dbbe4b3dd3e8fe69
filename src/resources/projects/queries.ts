import { type Kysely, sql, type Transaction } from 'kysely';
import { daily, dayKey, type Moment } from '../../core/clock.ts';
import {
  type FieldError,
  fieldError,
  inUse,
  invalidBody,
  invalidParameter,
  joined,
  notFound,
  type Problem,
} from '../../core/errors.ts';
import { normalizeKey } from '../../core/ids.ts';
import { fold, foldAll, joinWords } from '../../core/text.ts';
import { consoleUrl, containsText, jsonObject } from '../../database/sql/functions.ts';
import { merged, newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import { param, statement } from '../../database/sql/statement.ts';
import { allOf, equals, hasText, isIn, since } from '../../lists/filters.ts';
import { type List, memoizedList, type Order } from '../../lists/list.ts';
import { byRelevance, hasWord, startsWith } from '../../lists/orders.ts';
import type { Filters } from '../../lists/query.ts';
import { type Model, maxScoreOf, readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change, Differences } from '../../store/writes/change.ts';
import { type Created, createMany, unwrapSingle } from '../../store/writes/create-many.ts';
import { setEventData, subjectOf } from '../../store/writes/events.ts';
import { differencesBetween, recordChanges, recordDeleted } from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { findReferrers, referenceErrors, rejectDuplicates } from '../../store/writes/references.ts';
import { deleteRow, laterThan, updateRow } from '../../store/writes/rows.ts';
import { periodErrors } from '../validation.ts';
import { zeroDelta } from './counts.ts';
import {
  activeThreats,
  opportunities,
  overdueTasks,
  projectHealth,
  topLevel,
  topScore,
  unassessedThreats,
} from './health.ts';
import { assertKeyUnused, generateKey } from './key.ts';
import { assertNotArchived, lockProject } from './lock.ts';
import {
  type acrossProjects,
  Project,
  ProjectInput,
  type ProjectPatch,
  type projectFilters,
  projectResource,
} from './schema.ts';

const nameKey = sql.ref<string>('projects.name_key');

export const projectSorts = ['name', 'relevance'] as const;

/** Lists projects by name or by how well they match `q`. */
export const projectList = (filters: Filters<typeof projectFilters>, moment: Moment, sort = 'name'): List =>
  memoizedList(['projects', filters, dayKey(moment), sort], () => ({
    schema: Project,
    json: projectJson(moment),
    reads: ['projects', 'risks', 'issues', 'tasks', ...(filters.lead_user_id ? ['people' as const] : [])],
    isIndexed: sort !== 'relevance',
    order: sort === 'relevance' ? projectsByRelevance(filters.q) : { key: nameKey },
    from: (db) => db.selectFrom('projects'),
    id: sql.ref('projects.id'),
    matches: allOf(filters, {
      q: hasText('projects.search_folded'),
      status: isIn('projects.status'),
      archived: isArchived,
      lead_user_id: equals('projects.lead_user_id'),
      external_id: equals('projects.external_id'),
      updated_since: since('projects.updated_at'),
    }),
  }));

/** The key, then keys and names that start with the text, then names with a word that starts with it. */
const projectsByRelevance = (q: string | undefined): Order => {
  // The folded key and name, each on a line.
  const searched = sql.ref<string>('projects.search_folded');
  return byRelevance(
    q,
    (text) => [
      startsWith(searched, `${text}\n`),
      startsWith(searched, text),
      containsText(searched, `\n${text}`),
      hasWord(searched, text),
    ],
    nameKey,
  );
};

export async function getProject(db: Kysely<Tables>, ref: string, moment: Moment): Promise<Project> {
  const [row] = (await projectByRef(moment)(db, { id: ref, key: normalizeKey(ref) })).rows;
  if (!row) throw notFound('project', ref);
  return JSON.parse(row.json);
}

const projectByRef = daily((moment) =>
  statement<{ json: string }>((db) =>
    db
      .selectFrom('projects')
      .select(projectJson(moment).as('json'))
      .where((eb) => eb.or([eb('id', '=', param<string>('id')), eb('key', '=', param<string>('key'))])),
  ),
);

/** Returns a project for writing into it; throws if it is archived. */
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
  return setEventData(db, id, await getProject(db, id, change));
}

/** Creates projects; returns a problem for each invalid input. */
export async function createProjects(
  db: Transaction<Tables>,
  inputs: readonly ProjectInput[],
  change: Change,
): Promise<(Created | Problem)[]> {
  // A change of the risk model changes all projects: none is added meanwhile.
  await lockTables(db, 'projects');
  const model = await readRiskModel(db);
  const takenKeys = new Set(inputs.map(({ key }) => key));
  const options = {
    subject: projectSubject,
    target: projectResource,
    errors: joined(
      await validate(db, inputs),
      inputs.map((input) => appetiteErrors(model, input)),
    ),
    uniques: uniqueFields,
    label: ({ key, name }: ProjectInput) => key ?? generateKey(db, name, takenKeys),
    row: ({ id, label: key }: Created, { appetite = model.default_appetite, ...input }: ProjectInput) =>
      projectRow(id, { ...input, appetite, key }, change),
  } as const;
  return createMany(db, inputs, options, change);
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
  if ('appetite' in differences) errors.push(...appetiteErrors(await readRiskModel(db), next));
  if (errors.length > 0) throw invalidBody(errors);
  await rejectDuplicates(db, projectResource, uniqueFields, current.id, next, differences);
  return changeProject(db, current, next, differences, { ...change, reason });
}

/** Archives or unarchives a project. Idempotent: archiving it twice changes nothing. An import knows since when. */
export async function archiveProject(
  db: Transaction<Tables>,
  current: Project,
  archived: boolean,
  requested: Change,
  since?: string,
): Promise<Project> {
  await lockProject(db, current.id);
  const change = laterThan(requested, current);
  if ((current.archived_at !== null) === archived) return current;
  const next = { ...current, archived_at: archived ? (since ?? change.now) : null };
  return changeProject(db, current, next, differencesBetween(current, next, ['archived_at']), change);
}

/** Deletes a project that has no risks, issues or tasks. */
export async function deleteProject(
  db: Transaction<Tables>,
  current: Project,
  change: Change,
): Promise<void> {
  const { id, key } = current;
  await lockProject(db, id);
  const referrers = await findReferrers(db, [
    ['risks', sql`project_id = ${id}`],
    ['issues', sql`project_id = ${id}`],
    ['tasks', sql`project_id = ${id}`],
  ]);
  if (referrers) throw inUse(`The project ${key}`, referrers);
  await db.deleteFrom('comments').where('project_id', '=', id).execute();
  await deleteRow(db, 'projects', current);
  await recordDeleted(db, projectSubject, id, current, change);
}

export const projectRow = (
  id: string,
  input: ProjectInput & { key: string; appetite: number },
  { now }: Moment,
) => ({
  id,
  ...storedFields(ProjectInput, input),
  archived_at: null,
  ...zeroDelta,
  name_folded: fold(input.name),
  search_folded: foldAll([input.key, input.name]),
  risks_created: 0,
  issues_created: 0,
  tasks_created: 0,
  ...newStamps(now),
});

/** Returns the ids for a filter of ids and keys. Rejects unknown ones, because an empty list would mislead. */
export async function resolveProjects(db: Kysely<Tables>, refs: readonly string[]): Promise<string[]> {
  const { ids, unknown } = await findProjects(db, refs);
  if (unknown.length > 0) throw invalidParameter('project', `There is no project ${joinWords(unknown)}.`);
  return ids;
}

/** Finds projects by id or key. Returns their ids in ascending order, and the references that match no project. */
export async function findProjects(db: Kysely<Tables>, refs: readonly string[]) {
  const projects = await db
    .selectFrom('projects')
    .select(['id', 'key'])
    .where((eb) => eb.or([eb('id', 'in', refs), eb('key', 'in', refs.map(normalizeKey))]))
    .orderBy('id')
    .execute();
  const unknown = refs.filter(
    (ref) => !projects.some(({ id, key }) => ref === id || normalizeKey(ref) === key),
  );
  return { ids: projects.map(({ id }) => id), unknown };
}

/** Conditions of the filters that all lists across projects have. `project` contains ids: see `resolveProjects`. */
export const projectConditions = (project_id: string) => ({
  project: isIn(project_id),
  project_status: isIn('projects.status'),
  archived: isArchived,
});

export type AcrossProjects = Filters<typeof acrossProjects>;

export function isArchived(archived: 'false' | 'true' | 'any') {
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
      active_risks: activeThreats,
      unassessed_risks: unassessedThreats,
      top_score: topScore,
      top_level: topLevel,
      opportunities,
      overdue_tasks: overdueTasks(moment.today),
    }),
    web_url: consoleUrl('/projects/', sql.ref('projects.key')),
  });

export const projectSubject = subjectOf(projectResource, projectJson);

const uniqueFields = [{ field: 'key' }, { field: 'external_id' }];

export async function changeProject(
  db: Transaction<Tables>,
  current: Project,
  next: Project,
  differences: Differences,
  requestedChange: Change,
): Promise<Project> {
  if (Object.keys(differences).length === 0) return current;
  const change = laterThan(requestedChange, current);
  const columns = {
    ...storedChanges(Project, differences),
    name_folded: fold(next.name),
    search_folded: foldAll([next.key, next.name]),
  };
  await updateRow(db, 'projects', current, columns, change.now);
  await recordChanges(db, projectSubject, current.id, differences, change);
  return setEventData(db, current.id, await getProject(db, current.id, requestedChange));
}

async function validate(db: Kysely<Tables>, inputs: readonly ProjectInput[]): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, inputs, projectResource.references);
  return joined(errors, inputs.map(periodErrors));
}

/** No risk could be above it. */
function appetiteErrors(model: Model, { appetite = 1 }: Pick<ProjectInput, 'appetite'>): FieldError[] {
  const highest = maxScoreOf(model);
  if (appetite <= highest) return [];
  const detail = `The highest score of the risk model is ${highest}. Use an appetite from 1 to ${highest}.`;
  return [fieldError('appetite', 'not_in_model', detail)];
}
