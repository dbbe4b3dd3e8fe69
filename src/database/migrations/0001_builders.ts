import type { CreateTableBuilder, SchemaModule } from 'kysely';

/** Creates a table with the columns that every resource has. */
export function table(schema: SchemaModule, name: string, id: string): CreateTableBuilder<string> {
  return schema
    .createTable(name)
    .addColumn(id, 'text', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull());
}

export function index(schema: SchemaModule, on: string, columns: string[]): Promise<void> {
  return schema
    .createIndex(`${on}_${columns.join('_')}`)
    .on(on)
    .columns(columns)
    .execute();
}

/** An external id is unique within its project. */
export function uniqueInProject(schema: SchemaModule, on: string): Promise<void> {
  return schema
    .createIndex(`${on}_external_id`)
    .on(on)
    .columns(['external_id', 'project_id'])
    .unique()
    .execute();
}
