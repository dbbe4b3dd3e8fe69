import { type Kysely, type RawBuilder, sql } from 'kysely';
import { rowAsJson } from '../../database/sql/rows.ts';
import type { Tables } from '../../database/tables.ts';
import { allOf, isIn } from '../../lists/filters.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import { type AcrossProjects, projectConditions } from '../projects/queries.ts';
import { Assignment, type assignmentFilters } from './schema.ts';

type Duty = {
  type: Assignment['type'];
  /** The fields that can name a person, by the role they give. */
  roles: Partial<Record<Assignment['role'], string>>;
  isOpen: RawBuilder<boolean>;
  project_id: string;
  title: string;
};

/** What a person can carry in projects: only what is open, because what is done stays with whoever did it. */
export const duties = {
  tasks: {
    type: 'task',
    roles: { assignee: 'assignee_user_id' },
    isOpen: sql`tasks.open = 1`,
    project_id: 'project_id',
    title: 'title',
  },
  issues: {
    type: 'issue',
    roles: { owner: 'owner_user_id', assignee: 'assignee_user_id' },
    isOpen: sql`issues.open = 1`,
    project_id: 'project_id',
    title: 'title',
  },
  risks: {
    type: 'risk',
    roles: { owner: 'owner_user_id' },
    isOpen: sql`risks.active = 1`,
    project_id: 'project_id',
    title: 'title',
  },
  projects: {
    type: 'project',
    roles: { lead: 'lead_user_id' },
    isOpen: sql`projects.status in ('planned', 'active', 'on_hold')`,
    project_id: 'id',
    title: 'name',
  },
} satisfies Record<string, Duty>;

/** What a person carries across projects: what is due soonest first. */
export function assignmentList(
  user_id: string,
  filters: AcrossProjects & Filters<typeof assignmentFilters>,
): List {
  return {
    schema: Assignment,
    json: rowAsJson(Assignment, 'assignments', {
      project_key: sql.ref('projects.key'),
      project_name: sql.ref('projects.name'),
    }),
    reads: ['people', 'tasks', 'issues', 'risks', 'projects'],
    order: { key: sql`coalesce(assignments.due_on, '9999-99-99') || assignments.id || assignments.role` },
    from: (db) => assignmentRows(db, user_id),
    id: sql`assignments.id || assignments.role`,
    matches: allOf(filters, {
      ...projectConditions('assignments.project_id'),
      type: isIn('assignments.type'),
      role: isIn('assignments.role'),
    }),
  };
}

/** A row for each role in each thing, with its project. */
export const assignmentRows = (db: Kysely<Tables>, user_id: string) =>
  db
    .selectFrom(sql<Assignment>`(${sql.join(dutyRows(user_id), sql` union all `)})`.as('assignments'))
    .innerJoin('projects', 'projects.id', 'assignments.project_id');

const dutyRows = (user_id: string) =>
  Object.entries<Duty>(duties).flatMap(([table, { type, roles, isOpen, project_id, title }]) =>
    Object.entries(roles).map(
      ([role, field]) => sql`
        select ${sql.lit(type)} as type, ${sql.lit(role)} as role, id, ${sql.ref('key')} as ${sql.ref('key')},
          ${sql.ref(title)} as title, ${sql.ref(project_id)} as project_id, status, due_on
        from ${sql.table(table)} where ${sql.ref(field)} = ${user_id} and ${isOpen}`,
    ),
  );

/** How many things of each kind the person carries in each project, by the names of the projects. */
export const countAssignments = (db: Kysely<Tables>, user_id: string) =>
  assignmentRows(db, user_id)
    .select([
      'projects.id as project_id',
      'projects.key as project_key',
      'projects.name as project_name',
      'projects.archived_at',
      countOf('task').as('tasks'),
      countOf('issue').as('issues'),
      countOf('risk').as('risks'),
      countOf('project').as('projects'),
    ])
    .groupBy(['projects.id', 'projects.key', 'projects.name', 'projects.archived_at', 'projects.name_key'])
    .orderBy('projects.name_key')
    .execute();

/** Who both owns an issue and is its assignee carries one issue. */
const countOf = (type: Assignment['type']) =>
  sql<number>`count(distinct case when assignments.type = ${sql.lit(type)} then assignments.id end)`;
