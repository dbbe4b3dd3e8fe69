import { type Kysely, sql } from 'kysely';
import { resourceTable } from './0001_builders.ts';

/** Reports, whose content is stored as JSON. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await resourceTable(db.schema, 'reports')
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('audience', 'text')
    .addColumn('commentary', 'text')
    .addColumn('length', 'text', (column) => column.notNull())
    .addColumn('sections', 'text', (column) => column.notNull())
    .addColumn('project_commentary', 'text', (column) => column.notNull())
    .addColumn('risk_commentary', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text', (column) => column.notNull())
    .addColumn('all_projects', 'integer', (column) => column.notNull())
    .addColumn('author_name', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();
  await sql`insert into data_versions (table_name, version) values ('reports', 1)`.execute(db);
}
