import type { Kysely } from 'kysely';

/** The versions of the risk model. Without a row, the first one is in force, which an older instance knows too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('risk_models')
    .addColumn('version', 'integer', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('ratings_map', 'text', (column) => column.notNull())
    .addColumn('restored_version', 'integer')
    .addColumn('reason', 'text')
    .addColumn('actor_user_id', 'text')
    .addColumn('key_id', 'text')
    .addColumn('key_name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values({ table_name: 'risk_models', version: 1 })
    .execute();
}
