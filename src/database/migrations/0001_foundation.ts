import { type CreateTableBuilder, type Kysely, type SchemaModule, sql } from 'kysely';

// A migration imports nothing that can change: these are the tables and levels as they were when it was written.
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

const levels = [
  { level: 'low', to: 5 },
  { level: 'medium', to: 11 },
  { level: 'high', to: 19 },
  { level: 'critical', to: 25 },
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

  await riskColumns(table(schema, 'risks', 'id'))
    .addUniqueConstraint('risks_key', ['key'])
    .addForeignKeyConstraint('risks_project', ['project_id'], 'projects', ['id'])
    .addForeignKeyConstraint('risks_owner_user', ['owner_user_id'], 'people', ['user_id'])
    .addForeignKeyConstraint('risks_owner_group', ['owner_group_id'], 'groups', ['id'])
    .addForeignKeyConstraint('risks_raised_by', ['raised_by_user_id'], 'people', ['user_id'])
    .addForeignKeyConstraint('risks_accepted_by', ['accepted_by_user_id'], 'people', ['user_id'])
    .execute();
  // Includes the project, so that counts by cell or level read only the index.
  await index(schema, 'risks', ['active', 'rank_key', 'project_id']);
  await index(schema, 'risks', ['rank_key']);
  await index(schema, 'risks', ['project_id', 'active', 'rank_key']);
  await index(schema, 'risks', ['project_id', 'rank_key']);
  await index(schema, 'risks', ['owner_user_id', 'rank_key']);
  await index(schema, 'risks', ['owner_group_id', 'rank_key']);
  await index(schema, 'risks', ['raised_by_user_id']);
  await index(schema, 'risks', ['accepted_until']);
  await index(schema, 'risks', ['accepted_by_user_id']);
  await uniqueInProject(schema, 'risks');

  // Earlier versions of risks, and the last versions of deleted risks. `as_of` reads them.
  await riskColumns(
    schema
      .createTable('past_risks')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addColumn('valid_until', 'text', (column) => column.notNull()),
  )
    .addPrimaryKeyConstraint('past_risks_pkey', ['id', 'version'] as never[])
    .execute();
  await index(schema, 'past_risks', ['valid_until']);

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

/** The columns that `risks` and `past_risks` have in common. */
function riskColumns(builder: CreateTableBuilder<string>) {
  return (
    builder
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('project_id', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('category', 'text')
      .addColumn('probability', 'integer')
      .addColumn('impact', 'integer')
      .addColumn('residual_probability', 'integer')
      .addColumn('residual_impact', 'integer')
      .addColumn('initial_score', 'integer')
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('strategy', 'text')
      .addColumn('response_plan', 'text')
      .addColumn('contingency_plan', 'text')
      .addColumn('trigger', 'text')
      .addColumn('owner_user_id', 'text')
      .addColumn('owner_group_id', 'text')
      .addColumn('raised_by_user_id', 'text')
      .addColumn('raised_on', 'text', (column) => column.notNull())
      .addColumn('due_on', 'text')
      .addColumn('review_on', 'text')
      .addColumn('accepted_until', 'text')
      .addColumn('acceptance_reason', 'text')
      .addColumn('accepted_by_user_id', 'text')
      .addColumn('closure_reason', 'text')
      .addColumn('lessons', 'text')
      .addColumn('external_id', 'text')
      .addColumn('source_url', 'text')
      .addColumn('attributes', 'text', (column) => column.notNull())
      .addColumn('search_folded', 'text', (column) => column.notNull())
      .addColumn('score', 'integer', (column) => column.generatedAlwaysAs(sql`probability * impact`).stored())
      .addColumn('level', 'text', (column) =>
        column.generatedAlwaysAs(levelOf(sql`probability * impact`)).stored(),
      )
      .addColumn('residual_score', 'integer', (column) =>
        column.generatedAlwaysAs(sql`residual_probability * residual_impact`).stored(),
      )
      .addColumn('residual_level', 'text', (column) =>
        column.generatedAlwaysAs(levelOf(sql`residual_probability * residual_impact`)).stored(),
      )
      .addColumn('active', 'integer', (column) =>
        column
          .generatedAlwaysAs(
            sql`case when status in ('open', 'mitigating', 'monitoring', 'accepted') then 1 else 0 end`,
          )
          .stored(),
      )
      // The sort key of the ranking: score, impact and probability descending, unassessed risks last, then the dates.
      .addColumn('rank_key', 'text', (column) =>
        column
          .generatedAlwaysAs(
            sql`coalesce(cast(99 - probability * impact as text), '99')
           || coalesce(cast(9 - impact as text), '9')
           || coalesce(cast(9 - probability as text), '9')
           || coalesce(due_on, '9999-99-99') || raised_on || id`,
          )
          .stored(),
      )
  );
}

/** Creates a table with the columns that every resource has. */
function table(schema: SchemaModule, name: string, id: string): CreateTableBuilder<string> {
  return schema
    .createTable(name)
    .addColumn(id, 'text', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull());
}

function index(schema: SchemaModule, on: string, columns: string[]): Promise<void> {
  return schema
    .createIndex(`${on}_${columns.join('_')}`)
    .on(on)
    .columns(columns)
    .execute();
}

/** An external id is unique within its project. */
function uniqueInProject(schema: SchemaModule, on: string): Promise<void> {
  return schema
    .createIndex(`${on}_external_id`)
    .on(on)
    .columns(['external_id', 'project_id'])
    .unique()
    .execute();
}

function levelOf(score: ReturnType<typeof sql>) {
  const cases = levels.map(({ level, to }) => sql`when ${score} <= ${sql.lit(to)} then ${sql.lit(level)}`);
  return sql`case ${sql.join(cases, sql` `)} end`;
}
