import type { Kysely, SchemaModule } from 'kysely';
import { index, resourceTable } from './0001_builders.ts';

export function createKeys(schema: SchemaModule): Promise<void> {
  return resourceTable(schema, 'keys')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('name_folded', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('previous_hash', 'text', (column) => column.unique())
    .addColumn('previous_until', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text')
    .addColumn('expires_at', 'text')
    .addColumn('rate_limit', 'integer')
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('last_four', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute();
}

/** Shared views and settings, and what the service stores for itself. */
export async function createService(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await resourceTable(schema, 'views')
    .addColumn('list', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('query', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('views_list_name').on('views').columns(['list', 'name']).unique().execute();

  await schema
    .createTable('settings')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('idempotency')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('response', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await index(schema, 'idempotency', ['created_at']);

  // The version of `events` is the sequence number of the latest event, which needs 64 bits; that of `deleted_events` the
  // one of the latest event that was deleted because it was too old.
  await schema
    .createTable('data_versions')
    .addColumn('table_name', 'text', (column) => column.primaryKey())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .execute();
  const versions = [
    ...versionedTables.map((table_name) => ({ table_name, version: 1 })),
    ...['events', 'deleted_events'].map((table_name) => ({ table_name, version: 0 })),
  ];
  await (db as Kysely<{ data_versions: (typeof versions)[number] }>)
    .insertInto('data_versions')
    .values(versions)
    .execute();
}

const versionedTables = [
  'people',
  'groups',
  'memberships',
  'projects',
  'risks',
  'past_risks',
  'issues',
  'tasks',
  'comments',
  'views',
  'settings',
  'keys',
  'history',
  'webhooks',
  'webhook_deliveries',
];
