import { type Kysely, sql } from 'kysely';

/** What each hand-over moved, so that it can be listed and undone. It goes with the person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('handovers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('people.user_id').onDelete('cascade'),
    )
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('actor_user_id', 'text')
    .addColumn('key_id', 'text')
    .addColumn('key_name', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    // Whether the person was active before.
    .addColumn('deactivated', 'integer', (column) => column.notNull())
    .addColumn('to_user_ids', 'text', (column) => column.notNull())
    .addColumn('to_group_ids', 'text', (column) => column.notNull())
    .addColumn('undone_at', 'text')
    .execute();
  await schema.createIndex('handovers_user_id').on('handovers').columns(['user_id', 'id']).execute();

  await schema
    .createTable('handover_items')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('handover_id', 'text', (column) =>
      column.notNull().references('handovers.id').onDelete('cascade'),
    )
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('project_id', 'text')
    // Of an item of a project: its version after the hand-over.
    .addColumn('version', 'integer')
    .addColumn('changes', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text')
    .addColumn('left_because', 'text')
    .execute();
  await schema
    .createIndex('handover_items_handover_id')
    .on('handover_items')
    .columns(['handover_id', 'id'])
    .execute();
  await sql`insert into data_versions (table_name, version) values ('handovers', 1), ('handover_items', 1)`.execute(
    db,
  );
}
