import { type Kysely, sql } from 'kysely';

/**
 * Adds the event log. The versions in `data_versions` are the sequence numbers of the latest event and of the latest one
 * that was deleted because it was too old.
 */
export const up = {
  // An integer primary key is the row id of SQLite, so that appending is cheap.
  sqlite: (db: Kysely<unknown>) => createTables(db, 'integer'),
  postgres,
};

async function postgres(db: Kysely<unknown>): Promise<void> {
  // Sequence numbers start from the time in microseconds, which needs 64 bits.
  await sql`alter table data_versions alter column version type bigint`.execute(db);
  await createTables(db, 'bigint');
}

async function createTables(db: Kysely<unknown>, integer: 'integer' | 'bigint'): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('events')
    .addColumn('sequence', integer, (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('key_name', 'text', (column) => column.notNull())
    .addColumn('subject_type', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('subject_key', 'text')
    .addColumn('project_id', 'text')
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('events_subject_id').on('events').columns(['subject_id', 'sequence']).execute();
  await schema
    .createIndex('events_project_id')
    .on('events')
    .columns(['project_id', 'sequence'])
    .where(sql.ref('project_id'), 'is not', null)
    .execute();

  // For each type of event that a date causes: the time up to which its events are written.
  await schema
    .createTable('event_checkpoints')
    .addColumn('type', 'text', (column) => column.primaryKey())
    .addColumn('checked_until', 'text', (column) => column.notNull())
    .execute();

  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values(['events', 'deleted_events'].map((table_name) => ({ table_name, version: 0 })))
    .execute();
}
