import type { Kysely } from 'kysely';

/** Views of lists that everyone shares. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('views')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('views_list_name').on('views').columns(['list', 'name']).unique().execute();
  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values({ table_name: 'views', version: 1 })
    .execute();
}
