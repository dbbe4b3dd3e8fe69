import { type Kysely, type SchemaModule, sql } from 'kysely';
import { resourceTable } from './0001_builders.ts';

/** What imports store: the text of a resolution, saved mappings, and what a source has synchronized. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema.alterTable('issues').addColumn('resolution_note', 'text').execute();

  await resourceTable(schema, 'mappings')
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .execute();
  await sql`insert into data_versions (table_name, version) values ('mappings', 1)`.execute(db);

  // The ids that imported rows had in the service that exported them.
  await schema
    .createTable('moved_ids')
    .addColumn('old_id', 'text', (column) => column.primaryKey())
    .addColumn('new_id', 'text', (column) => column.notNull())
    .execute();

  await synchronized(schema, 'synced_people', ['user_id']);
  await synchronized(schema, 'synced_members', ['group_id', 'user_id']);
}

/** The rows that a source has brought. They go with the person or group. */
async function synchronized(schema: SchemaModule, table: string, columns: string[]): Promise<void> {
  let builder = schema.createTable(table).addColumn('source', 'text', (column) => column.notNull());
  for (const name of columns) {
    const target = name === 'user_id' ? 'people.user_id' : 'groups.id';
    builder = builder.addColumn(name, 'text', (column) =>
      column.notNull().references(target).onDelete('cascade'),
    );
  }
  // Those whom the source has left out, to activate them when they come back.
  if (table === 'synced_people')
    builder = builder.addColumn('deactivated', 'integer', (column) => column.notNull());
  await builder.addPrimaryKeyConstraint(`${table}_key`, ['source', ...columns] as never[]).execute();
  await schema.createIndex(`${table}_user_id`).on(table).column('user_id').execute();
}
