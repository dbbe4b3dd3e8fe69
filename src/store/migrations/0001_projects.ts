import { type SchemaModule, sql } from 'kysely';
import { index, indexWithoutNulls, resourceTable, uniqueInProject } from './0001_builders.ts';

export async function createProjects(schema: SchemaModule): Promise<void> {
  await resourceTable(schema, 'projects')
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('archived_at', 'text')
    .addColumn('lead_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('start_on', 'text')
    .addColumn('due_on', 'text')
    .addColumn('appetite', 'integer', (column) => column.notNull())
    .addColumn('external_id', 'text', (column) => column.unique())
    .addColumn('attributes', 'text', (column) => column.notNull())
    .addColumn('name_folded', 'text', (column) => column.notNull())
    .addColumn('search_folded', 'text', (column) => column.notNull())
    .addColumn('name_key', 'text', (column) =>
      column.generatedAlwaysAs(sql`name_folded || '\t' || id`).stored(),
    )
    .addColumn('open_issues', 'integer', (column) => column.notNull())
    .addColumn('critical_issues', 'integer', (column) => column.notNull())
    .addColumn('active_risks', 'integer', (column) => column.notNull())
    .addColumn('unassessed_risks', 'integer', (column) => column.notNull())
    .addColumn('risks_created', 'integer', (column) => column.notNull())
    .addColumn('issues_created', 'integer', (column) => column.notNull())
    .addColumn('tasks_created', 'integer', (column) => column.notNull())
    .execute();
  await index(schema, 'projects', ['name_key']);
  await index(schema, 'projects', ['lead_user_id']);
  // Each page of the register contains the number of unassessed risks. The count is the first column, because the planner
  // would use an index that starts with `archived_at` for unrelated queries on projects.
  await index(schema, 'projects', ['unassessed_risks', 'archived_at']);
}

export async function createIssues(schema: SchemaModule): Promise<void> {
  await resourceTable(schema, 'issues')
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('priority', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('owner_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('owner_group_id', 'text', (column) => column.references('groups.id'))
    .addColumn('assignee_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('raised_by_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('raised_on', 'text', (column) => column.notNull())
    .addColumn('due_on', 'text')
    .addColumn('resolution', 'text')
    .addColumn('blocked_reason', 'text')
    .addColumn('risk_id', 'text', (column) => column.references('risks.id'))
    .addColumn('external_id', 'text')
    .addColumn('source_url', 'text')
    .addColumn('attributes', 'text', (column) => column.notNull())
    .addColumn('search_folded', 'text', (column) => column.notNull())
    .addColumn('open', 'integer', (column) =>
      column
        .generatedAlwaysAs(sql`case when status in ('open', 'in_progress', 'blocked') then 1 else 0 end`)
        .stored(),
    )
    .addColumn('rank_key', 'text', (column) =>
      column
        .generatedAlwaysAs(
          sql`case severity when 'critical' then '1' when 'high' then '2' when 'medium' then '3' else '4' end
           || case priority when 'urgent' then '1' when 'high' then '2' when 'normal' then '3' else '4' end
           || coalesce(due_on, '9999-99-99') || raised_on || id`,
        )
        .stored(),
    )
    .execute();
  await index(schema, 'issues', ['open', 'rank_key']);
  await index(schema, 'issues', ['project_id', 'open', 'rank_key']);
  await index(schema, 'issues', ['assignee_user_id', 'open', 'rank_key']);
  await index(schema, 'issues', ['owner_user_id', 'open', 'rank_key']);
  await index(schema, 'issues', ['owner_group_id', 'open', 'rank_key']);
  await indexWithoutNulls(schema, 'issues', ['raised_by_user_id']);
  await indexWithoutNulls(schema, 'issues', ['risk_id']);
  await uniqueInProject(schema, 'issues');
}

export async function createTasks(schema: SchemaModule): Promise<void> {
  await resourceTable(schema, 'tasks')
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('assignee_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('start_on', 'text')
    .addColumn('due_on', 'text')
    .addColumn('risk_id', 'text', (column) => column.references('risks.id'))
    .addColumn('issue_id', 'text', (column) => column.references('issues.id'))
    .addColumn('external_id', 'text')
    .addColumn('search_folded', 'text', (column) => column.notNull())
    .addColumn('open', 'integer', (column) =>
      column
        .generatedAlwaysAs(sql`case when status in ('todo', 'in_progress', 'blocked') then 1 else 0 end`)
        .stored(),
    )
    .addColumn('due_key', 'text', (column) =>
      column.generatedAlwaysAs(sql`coalesce(due_on, '9999-99-99') || id`).stored(),
    )
    .execute();
  await index(schema, 'tasks', ['open', 'due_key']);
  await index(schema, 'tasks', ['due_key']);
  await index(schema, 'tasks', ['project_id', 'open', 'due_key']);
  await index(schema, 'tasks', ['assignee_user_id', 'status']);
  await indexWithoutNulls(schema, 'tasks', ['risk_id', 'status']);
  await indexWithoutNulls(schema, 'tasks', ['issue_id', 'status']);
  await uniqueInProject(schema, 'tasks');
}

/** Comments on projects, risks, issues and tasks. */
export async function createComments(schema: SchemaModule): Promise<void> {
  await resourceTable(schema, 'comments')
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('subject_type', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('mentions', 'text', (column) => column.notNull())
    .addColumn('author_user_id', 'text')
    .addColumn('author_key_id', 'text')
    .addColumn('author_name', 'text', (column) => column.notNull())
    .addColumn('edited_at', 'text')
    .execute();
  await index(schema, 'comments', ['subject_id', 'id']);
  await index(schema, 'comments', ['project_id']);
}
