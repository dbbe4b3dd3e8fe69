import { type SchemaModule, sql } from 'kysely';
import { type EngineKind, index, resourceTable } from './0001_builders.ts';

/** One row per changed field. `actor_user_id` is null until people can sign in. */
export async function createHistory(schema: SchemaModule, kind: EngineKind): Promise<void> {
  const table = schema
    .createTable('history')
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('actor_user_id', 'text')
    .addColumn('key_id', 'text')
    .addColumn('key_name', 'text', (column) => column.notNull())
    .addColumn('field', 'text', (column) => column.notNull())
    .addColumn('from', 'text', (column) => column.notNull())
    .addColumn('to', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addPrimaryKeyConstraint('history_pkey', ['subject_id', 'id']);
  // One B-tree in the order that the history is read, instead of a table and an index.
  await (kind === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table).execute();
}

export async function createEvents(schema: SchemaModule, kind: EngineKind): Promise<void> {
  await schema
    .createTable('events')
    // Starts from the time in microseconds, which needs 64 bits. SQLite appends cheaply to a column of this very type.
    .addColumn('sequence', kind === 'sqlite' ? 'integer' : 'bigint', (column) => column.primaryKey())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('also', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('actor_user_id', 'text')
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
}

/** Webhooks and the log of their deliveries. */
export async function createWebhooks(schema: SchemaModule): Promise<void> {
  await resourceTable(schema, 'webhooks')
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('types', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('project_ids', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('disabled_reason', 'text')
    .addColumn('failing_since', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('previous_secret', 'text')
    .addColumn('previous_until', 'text')
    .addColumn('last_sequence', 'bigint', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('throttled_until', 'text')
    .execute();

  await schema
    .createTable('webhook_deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('webhook_id', 'text', (column) => column.notNull())
    .addColumn('event_id', 'text', (column) => column.notNull())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint')
    .addColumn('subject_id', 'text')
    .addColumn('payload', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_attempt_at', 'text')
    .addColumn('next_attempt_at', 'text')
    .addColumn('claimed_until', 'text')
    .addColumn('latency_ms', 'integer')
    .addColumn('response_status', 'integer')
    .addColumn('response_excerpt', 'text')
    .addColumn('error', 'text')
    .execute();
  await schema
    .createIndex('webhook_deliveries_webhook_id')
    .on('webhook_deliveries')
    .columns(['webhook_id', 'id'])
    .execute();
  await index(schema, 'webhook_deliveries', ['created_at']);
  // Only pending deliveries have a next attempt, so these indexes stay small.
  for (const columns of [['next_attempt_at'], ['subject_id', 'sequence']]) {
    await schema
      .createIndex(`webhook_deliveries_${columns.join('_')}`)
      .on('webhook_deliveries')
      .columns(['webhook_id', ...columns])
      .where(sql.ref('next_attempt_at'), 'is not', null)
      .execute();
  }
}
