import { type Kysely, sql } from 'kysely';
import { resourceTable } from './0001_builders.ts';

/** The list of categories, and an index of opportunities. Risks have the name of a category as text, as before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await resourceTable(db.schema, 'categories')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('name_folded', 'text', (column) => column.notNull().unique())
    .addColumn('description', 'text')
    .addColumn('position', 'integer', (column) => column.notNull())
    .execute();
  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values({ table_name: 'categories', version: 1 })
    .execute();
  // The opportunities of a project, which are few: its counts and its health are those of the threats. With the column
  // `active`, though it is constant: without it SQLite prefers the index of all active risks.
  await db.schema
    .createIndex('risks_opportunities')
    .on('risks')
    .columns(['project_id', 'active', 'rank_key'])
    .where(sql<boolean>`active = 1 and kind = 'opportunity'`)
    .execute();
}
