import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { jsonObject } from '../database/functions.ts';
import { missingReferences, refuseDuplicate, toPerson, toProject } from '../database/references.ts';
import { newStamps, rowAsJson, storedFields } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { fieldFault, invalidBody, invalidParameter, notFound, Problem } from '../errors.ts';
import { newId } from '../ids.ts';
import { allOf, contains, equals, isIn, since } from '../lists/filters.ts';
import type { List } from '../lists/list.ts';
import type { Filters } from '../lists/query.ts';
import { fold, foldAll, listed } from '../text.ts';
import { type acrossProjects, Project, ProjectInput, type projectFilters } from './schema.ts';

/** Projects, by name. */
export function projectList(filters: Filters<typeof projectFilters>, moment: Moment): List {
  const matches = allOf(filters, {
    q: (text) => contains('projects.search_folded', fold(text)),
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

export async function createProject(
  db: Transaction<Tables>,
  input: ProjectInput,
  moment: Moment,
): Promise<Project> {
  const faults = await missingReferences(db, input, { lead_user_id: toPerson });
  if (input.start_on && input.due_on && input.due_on < input.start_on) {
    faults.push(fieldFault('due_on', 'date_order', '`due_on` is before `start_on`.'));
  }
  if (faults.length > 0) throw invalidBody(faults);
  await refuseDuplicate(db, toProject, 'key', input.key);
  await refuseDuplicate(db, toProject, 'external_id', input.external_id);
  const id = newId('project');
  const key = input.key ?? (await freeKey(db, input.name));
  await db
    .insertInto('projects')
    .values(projectRow(id, { ...input, key }, moment))
    .execute();
  return getProject(db, id, moment);
}

/** A new project as it is stored. */
export const projectRow = (id: string, input: ProjectInput & { key: string }, { now }: Moment) => ({
  id,
  ...storedFields(ProjectInput, input),
  archived_at: null,
  name_folded: fold(input.name),
  search_folded: foldAll([input.key, input.name]),
  risks_made: 0,
  issues_made: 0,
  tasks_made: 0,
  ...newStamps(now),
});

/** Takes the next number of a project's risks, issues or tasks; it is never given again. */
export async function nextKey(
  db: Transaction<Tables>,
  ref: string,
  counter: 'risks_made' | 'issues_made' | 'tasks_made',
): Promise<{ project_id: string; key: string }> {
  const project = await db
    .updateTable('projects')
    .set((eb) => ({ [counter]: eb(counter, '+', 1) }))
    .where((eb) => eb.or([eb('id', '=', ref), eb('key', '=', ref)]))
    .returning(['id', 'key', 'archived_at', counter])
    .executeTakeFirstOrThrow(() => notFound('project', ref));
  if (project.archived_at !== null) {
    throw new Problem('project_archived', `${project.key} is archived; nothing can be written into it.`);
  }
  const letter = counter[0]?.toUpperCase();
  return { project_id: project.id, key: `${project.key}-${letter}${project[counter]}` };
}

/** The ids behind a filter of ids and keys. One that names nothing is refused: an empty list would be a lie. */
export async function resolveProjects(db: Kysely<Tables>, refs: readonly string[]): Promise<string[]> {
  const projects = await db
    .selectFrom('projects')
    .select(['id', 'key'])
    .where((eb) => eb.or([eb('id', 'in', refs), eb('key', 'in', refs)]))
    .execute();
  const unknown = refs.filter((ref) => !projects.some(({ id, key }) => ref === id || ref === key));
  if (unknown.length > 0) throw invalidParameter('project', `There is no project ${listed(unknown)}.`);
  return projects.map(({ id }) => id);
}

/** The filters that lists across projects share. `project` holds ids: see `resolveProjects`. */
export const projectConditions = {
  project: isIn('projects.id'),
  project_status: isIn('projects.status'),
  archived: isArchived,
};

export type AcrossProjects = Filters<typeof acrossProjects>;

function isArchived(archived: 'false' | 'true' | 'any') {
  if (archived === 'any') return sql<boolean>`1 = 1`;
  return archived === 'true'
    ? sql<boolean>`projects.archived_at is not null`
    : sql<boolean>`projects.archived_at is null`;
}

const projectJson = ({ today }: Moment) =>
  rowAsJson(Project, 'projects', {
    counts: jsonObject({
      open_issues: sql`(select count(*) from issues where project_id = projects.id and open = 1)`,
      active_risks: sql`(select count(*) from risks where project_id = projects.id and active = 1)`,
      unassessed_risks: sql`(select count(*) from risks
        where project_id = projects.id and active = 1 and score is null)`,
      top_score: sql`(select score from risks where project_id = projects.id and active = 1
        order by rank_key limit 1)`,
      overdue_tasks: sql`(select count(*) from tasks where project_id = projects.id
        and status in ('todo', 'in_progress', 'blocked') and due_on < ${today})`,
    }),
  });

/** The first word of the name, or all of it when that is too short, with a number when it is taken. */
async function freeKey(db: Kysely<Tables>, name: string): Promise<string> {
  const words =
    fold(name)
      .toUpperCase()
      .match(/[A-Z0-9]+/g) ?? [];
  const base = words.find((word) => word.length >= 2) ?? `${words.join('')}PRJ`;
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : String(n);
    const key = base.slice(0, 10 - suffix.length) + suffix;
    const taken = await db.selectFrom('projects').select('id').where('key', '=', key).executeTakeFirst();
    if (!taken) return key;
  }
}
