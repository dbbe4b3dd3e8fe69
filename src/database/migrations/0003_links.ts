import { type Kysely, type SchemaModule, sql } from 'kysely';

/**
 * Most issues and tasks come from no risk. Without these in the indexes a statistics of the engine tells what it should,
 * that a risk has few of them: with them it takes reading all issues for the shorter way.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  for (const { table, columns } of links) await indexWithoutNulls(schema, table, columns);
  // The register says with each page how many of its risks are not assessed. The count comes first: an index that began
  // with `archived_at` would be taken for a short way to everything that belongs to a project.
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

/** Makes an index anew in which the rows are not that have nothing in its first column. */
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
