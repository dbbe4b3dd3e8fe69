import { type CreateTableBuilder, type SchemaModule, sql } from 'kysely';
import { index, table, uniqueInProject } from './0001_builders.ts';

// The levels as they were when this migration was written.
const levels = [
  { level: 'low', to: 5 },
  { level: 'medium', to: 11 },
  { level: 'high', to: 19 },
  { level: 'critical', to: 25 },
];

export async function createRisks(schema: SchemaModule): Promise<void> {
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

function levelOf(score: ReturnType<typeof sql>) {
  const cases = levels.map(({ level, to }) => sql`when ${score} <= ${sql.lit(to)} then ${sql.lit(level)}`);
  return sql`case ${sql.join(cases, sql` `)} end`;
}
