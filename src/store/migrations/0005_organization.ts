import type { Kysely } from 'kysely';
import { resourceTable } from './0001_builders.ts';

/** The list of categories. Risks have the name of a category as text, as before. */
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
}
