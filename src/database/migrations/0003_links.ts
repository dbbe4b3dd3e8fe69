import { type Kysely, type SchemaModule, sql } from 'kysely';

/**
 * Most issues and tasks have no risk. Partial indexes without NULLs give the planner the right estimate, that a risk has few
 * issues and tasks. With NULLs in the index, it prefers to scan all issues.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  for (const { table, columns } of links) await indexWithoutNulls(schema, table, columns);
  // Each page of the register contains the number of unassessed risks. The count is the first column, because the planner
  // would use an index that starts with `archived_at` for unrelated queries on projects.
  await schema
    .createIndex('projects_unassessed_risks_archived_at')
    .on('projects')
    .columns(['unassessed_risks', 'archived_at'])
    .execute();
}

const links = [
  { table: 'issues', columns: ['risk_id'] },
  { table: 'tasks', columns: ['risk_id', 'status'] },
  { table: 'tasks', columns: ['issue_id', 'status'] },
] as const;

/** Recreates an index as a partial index without the rows whose first column is NULL. */
export async function indexWithoutNulls(
  schema: SchemaModule,
  table: string,
  columns: readonly [string, ...string[]],
): Promise<void> {
  const name = `${table}_${columns.join('_')}`;
  await schema.dropIndex(name).execute();
  await schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .where(sql.ref(columns[0]), 'is not', null)
    .execute();
}
