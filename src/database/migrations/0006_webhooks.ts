import { type Kysely, sql } from 'kysely';

/** Adds webhooks and the log of their deliveries. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('webhooks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
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
  await schema
    .createIndex('webhook_deliveries_created_at')
    .on('webhook_deliveries')
    .columns(['created_at'])
    .execute();
  // Only pending deliveries have a next attempt, so these indexes stay small.
  for (const columns of [
    ['webhook_id', 'next_attempt_at'],
    ['webhook_id', 'subject_id', 'sequence'],
  ]) {
    await schema
      .createIndex(`webhook_deliveries_${columns.slice(1).join('_')}`)
      .on('webhook_deliveries')
      .columns(columns)
      .where(sql.ref('next_attempt_at'), 'is not', null)
      .execute();
  }

  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values(['webhooks', 'webhook_deliveries'].map((table_name) => ({ table_name, version: 1 })))
    .execute();
}
