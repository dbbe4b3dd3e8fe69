import { type CreateTableBuilder, type SchemaModule, sql } from 'kysely';

// A migration imports nothing that can change: neither the tables nor the rules of the current version.

export type EngineKind = 'sqlite' | 'postgres';

/** Creates a table with the columns that every resource has. */
export function resourceTable(
  schema: SchemaModule,
  name: string,
  id = 'id',
): CreateTableBuilder<string, string> {
  return schema
    .createTable(name)
    .addColumn(id, 'text', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull());
}

export function index(schema: SchemaModule, table: string, columns: readonly string[]): Promise<void> {
  return schema
    .createIndex(`${table}_${columns.join('_')}`)
    .on(table)
    .columns([...columns])
    .execute();
}

/**
 * For references and dates that are NULL in most rows and only searched by value: writes are cheaper, and the planner knows
 * that a value has few rows. With NULLs in the index of `issues.risk_id`, it prefers to scan all issues.
 */
export function indexWithoutNulls(
  schema: SchemaModule,
  table: string,
  columns: readonly [string, ...string[]],
): Promise<void> {
  return schema
    .createIndex(`${table}_${columns.join('_')}`)
    .on(table)
    .columns([...columns])
    .where(sql.ref(columns[0]), 'is not', null)
    .execute();
}

/** An external id is unique within its project. */
export function uniqueInProject(schema: SchemaModule, table: string): Promise<void> {
  return schema
    .createIndex(`${table}_external_id`)
    .on(table)
    .columns(['external_id', 'project_id'])
    .unique()
    .execute();
}
