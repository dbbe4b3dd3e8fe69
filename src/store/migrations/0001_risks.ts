import { type CreateTableBuilder, type SchemaModule, sql } from 'kysely';
import { index, indexWithoutNulls, resourceTable, uniqueInProject } from './0001_builders.ts';

export async function createRisks(schema: SchemaModule): Promise<void> {
  await riskColumns(resourceTable(schema, 'risks'))
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
  await indexWithoutNulls(schema, 'risks', ['raised_by_user_id']);
  await indexWithoutNulls(schema, 'risks', ['accepted_until']);
  await indexWithoutNulls(schema, 'risks', ['accepted_by_user_id']);
  await uniqueInProject(schema, 'risks');
  // The critical risks without a response plan, which are few, for the health of a project. With the column `active`,
  // though it is constant: without it SQLite prefers the index of all active risks.
  await schema
    .createIndex('risks_unplanned')
    .on('risks')
    .columns(['project_id', 'active', 'rank_key'])
    .where(
      sql<boolean>`active = 1 and level = 'critical' and kind = 'threat' and status <> 'accepted' and response_plan is null`,
    )
    .execute();
  // The two indexes below find the risks that changed since a day: those that were created since, and those that replaced
  // an earlier version since. An index on `updated_at` would find both, but then PostgreSQL would write to all indexes of
  // a risk at every change.
  await index(schema, 'risks', ['created_at']);

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
    .addPrimaryKeyConstraint('past_risks_pkey', ['id', 'version'])
    .execute();
  // With the id, so that it is not read from the rows.
  await index(schema, 'past_risks', ['valid_until', 'id']);
}

/**
 * The columns that `risks` and `past_risks` have in common. The service writes the scores, the levels and the rank key:
 * instances of two versions could not share a table that computes them.
 */
function riskColumns(builder: CreateTableBuilder<string, string>) {
  return builder
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('project_id', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('category', 'text')
    .addColumn('probability', 'integer')
    .addColumn('impact', 'integer')
    .addColumn('score', 'integer')
    .addColumn('level', 'text')
    .addColumn('residual_probability', 'integer')
    .addColumn('residual_impact', 'integer')
    .addColumn('residual_score', 'integer')
    .addColumn('residual_level', 'text')
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
    .addColumn('rank_key', 'text', (column) => column.notNull())
    .addColumn('active', 'integer', (column) =>
      column
        .generatedAlwaysAs(
          sql`case when status in ('open', 'mitigating', 'monitoring', 'accepted') then 1 else 0 end`,
        )
        .stored(),
    );
}
