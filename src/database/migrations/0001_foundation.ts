import { type Kysely, sql } from 'kysely';
import { index, table, uniqueInProject } from './0001_builders.ts';
import { createRisks } from './0001_risks.ts';

// A migration imports nothing that can change: these are the tables as they were when it was written.
const tableNames = [
  'people',
  'groups',
  'memberships',
  'projects',
  'risks',
  'past_risks',
  'issues',
  'tasks',
  'keys',
  'history',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;

  await table(schema, 'people', 'user_id')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('title', 'text')
    .addColumn('department', 'text')
    .addColumn('location', 'text')
    .addColumn('phone', 'text')
    .addColumn('time_zone', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('accountable_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('manager_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('skills', 'text', (column) => column.notNull())
    .addColumn('start_on', 'text')
    .addColumn('end_on', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('external_id', 'text', (column) => column.unique())
    .addColumn('attributes', 'text', (column) => column.notNull())
    .addColumn('name_folded', 'text', (column) => column.notNull())
    .addColumn('department_folded', 'text')
    .addColumn('skills_folded', 'text', (column) => column.notNull())
    .addColumn('search_folded', 'text', (column) => column.notNull())
    .addColumn('roster_key', 'text', (column) =>
      column.generatedAlwaysAs(sql`name_folded || '\t' || user_id`).stored(),
    )
    .execute();
  await index(schema, 'people', ['roster_key']);
  await index(schema, 'people', ['manager_user_id']);
  await index(schema, 'people', ['accountable_user_id']);
  await index(schema, 'people', ['department_folded']);
  await index(schema, 'people', ['updated_at']);
  await schema.createIndex('people_email').on('people').expression(sql`lower(email)`).unique().execute();

  await table(schema, 'groups', 'id')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('parent_id', 'text', (column) => column.references('groups.id'))
    .addColumn('lead_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('external_id', 'text', (column) => column.unique())
    .addColumn('name_folded', 'text', (column) => column.notNull().unique())
    .addColumn('name_key', 'text', (column) =>
      column.generatedAlwaysAs(sql`name_folded || '\t' || id`).stored(),
    )
    .execute();
  await index(schema, 'groups', ['name_key']);
  await index(schema, 'groups', ['parent_id']);
  await index(schema, 'groups', ['lead_user_id']);

  await schema
    .createTable('memberships')
    .addColumn('group_id', 'text', (column) => column.notNull().references('groups.id'))
    .addColumn('user_id', 'text', (column) => column.notNull().references('people.user_id'))
    .addColumn('added_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('memberships_pkey', ['group_id', 'user_id'])
    .execute();
  await index(schema, 'memberships', ['user_id', 'group_id']);

  await table(schema, 'projects', 'id')
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
    .addColumn('risks_made', 'integer', (column) => column.notNull())
    .addColumn('issues_made', 'integer', (column) => column.notNull())
    .addColumn('tasks_made', 'integer', (column) => column.notNull())
    .execute();
  await index(schema, 'projects', ['name_key']);
  await index(schema, 'projects', ['lead_user_id']);

  await createRisks(schema);

  await table(schema, 'issues', 'id')
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
  await index(schema, 'issues', ['raised_by_user_id']);
  await index(schema, 'issues', ['risk_id']);
  await uniqueInProject(schema, 'issues');

  await table(schema, 'tasks', 'id')
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
  await index(schema, 'tasks', ['risk_id', 'status']);
  await index(schema, 'tasks', ['issue_id', 'status']);
  await uniqueInProject(schema, 'tasks');

  await table(schema, 'keys', 'id')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('name_folded', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('previous_hash', 'text', (column) => column.unique())
    .addColumn('previous_until', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('rate_limit', 'integer')
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('last_four', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute();

  await schema
    .createTable('history')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('key_name', 'text', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('from', 'text', (column) => column.notNull())
    .addColumn('to', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .execute();
  await index(schema, 'history', ['subject_id', 'id']);

  await schema
    .createTable('idempotency')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('answer', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await index(schema, 'idempotency', ['created_at']);

  await schema
    .createTable('data_versions')
    .addColumn('table_name', 'text', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute();
  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values(tableNames.map((table_name) => ({ table_name, version: 1 })))
    .execute();
}
