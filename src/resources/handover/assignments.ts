import { type Kysely, type RawBuilder, sql } from 'kysely';
import { rowAsJson } from '../../database/sql/rows.ts';
import { allOf, isIn } from '../../lists/filters.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import { Assignment, type assignmentFilters } from '../personnel/schema.ts';
import { type AcrossProjects, projectConditions } from '../projects/queries.ts';

type AssignmentSource = {
  type: Assignment['type'];
  /** Maps each role to the field that names its person. */
  roles: Partial<Record<Assignment['role'], string>>;
  isOpen: RawBuilder<boolean>;
  project_id: string;
  title: string;
};

const ofItem = { project_id: 'project_id', title: 'title' };

/** The tables a person can have assignments in. Only open rows count: finished work keeps its assignee. */
export const assignmentSources = {
  tasks: {
    type: 'task',
    roles: { assignee: 'assignee_user_id' },
    isOpen: sql`tasks.open = 1`,
    ...ofItem,
  },
  issues: {
    type: 'issue',
    roles: { owner: 'owner_user_id', assignee: 'assignee_user_id' },
    isOpen: sql`issues.open = 1`,
    ...ofItem,
  },
  risks: {
    type: 'risk',
    roles: { owner: 'owner_user_id' },
    isOpen: sql`risks.active = 1`,
    ...ofItem,
  },
  projects: {
    type: 'project',
    roles: { lead: 'lead_user_id' },
    isOpen: sql`projects.status in ('planned', 'active', 'on_hold')`,
    project_id: 'id',
    title: 'name',
  },
} satisfies Record<string, AssignmentSource>;

/** The person's assignments in all projects, earliest due date first. */
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

/** One row per item and role, joined with its project. */
export const assignmentRows = (db: Kysely<Tables>, user_id: string) =>
  db
    .selectFrom(sql<Assignment>`(${sql.join(sourceRows(user_id), sql` union all `)})`.as('assignments'))
    .innerJoin('projects', 'projects.id', 'assignments.project_id');

const sourceRows = (user_id: string) =>
  Object.entries<AssignmentSource>(assignmentSources).flatMap(
    ([table, { type, roles, isOpen, project_id, title }]) =>
      Object.entries(roles).map(
        ([role, field]) => sql`
        select ${sql.lit(type)} as type, ${sql.lit(role)} as role, id, ${sql.ref('key')} as ${sql.ref('key')},
          ${sql.ref(title)} as title, ${sql.ref(project_id)} as project_id, status, due_on
        from ${sql.table(table)} where ${sql.ref(field)} = ${user_id} and ${isOpen}`,
      ),
  );

/** Counts the person's assignments per project and type, by project name. */
export const countAssignments = (db: Kysely<Tables>, user_id: string) =>
  assignmentRows(db, user_id)
    .select([
      'projects.id as project_id',
      'projects.key as project_key',
      'projects.name as project_name',
      'projects.archived_at',
      countType('task').as('tasks'),
      countType('issue').as('issues'),
      countType('risk').as('risks'),
      countType('project').as('projects'),
    ])
    .groupBy(['projects.id', 'projects.key', 'projects.name', 'projects.archived_at', 'projects.name_key'])
    .orderBy('projects.name_key')
    .execute();

/** Counts an issue once if the person is both its owner and its assignee. */
const countType = (type: Assignment['type']) =>
  sql<number>`count(distinct case when assignments.type = ${sql.lit(type)} then assignments.id end)`;
