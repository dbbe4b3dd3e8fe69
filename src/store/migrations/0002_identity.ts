import { type Kysely, type SchemaModule, sql } from 'kysely';
import { index, indexWithoutNulls, resourceTable } from './0001_builders.ts';

/** People sign in: their access, the ways they sign in, their sessions and personal keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await createAccess(schema);
  await createWaysIn(schema);
  await createSessions(schema);
  await createAttempts(schema);

  // A key with a person is personal: it works only as long as the person has access.
  await schema
    .alterTable('keys')
    .addColumn('user_id', 'text', (column) => column.references('people.user_id'))
    .execute();
  await indexWithoutNulls(schema, 'keys', ['user_id']);
  await schema
    .alterTable('projects')
    .addColumn('acceptance', 'text', (column) => column.notNull().defaultTo('any'))
    .execute();
  // Finds the comments of the last weeks that mention somebody.
  await schema
    .createIndex('comments_mentions')
    .on('comments')
    .column('created_at')
    .where(sql.ref('mentions'), '<>', '[]')
    .execute();

  await (db as Kysely<{ data_versions: { table_name: string; version: number } }>)
    .insertInto('data_versions')
    .values(['access', 'sessions'].map((table_name) => ({ table_name, version: 1 })))
    .execute();
}

function createAccess(schema: SchemaModule): Promise<void> {
  return resourceTable(schema, 'access')
    .addColumn('user_id', 'text', (column) => column.notNull().unique().references('people.user_id'))
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('project_ids', 'text')
    .addColumn('source', 'text', (column) => column.notNull())
    .execute();
}

/** Passwords, passkeys, and accounts at an identity provider. */
async function createWaysIn(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('passwords')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('people.user_id'))
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('set_at', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('people.user_id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('credential_id', 'text', (column) => column.notNull().unique())
    .addColumn('public_key', 'text', (column) => column.notNull())
    // Up to 32 bits without a sign.
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .execute();
  await index(schema, 'passkeys', ['user_id']);

  await schema
    .createTable('identities')
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull().unique().references('people.user_id'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('identities_pkey', ['issuer', 'subject'])
    .execute();
}

/** A session is of a person, or of a key that was used to sign in. */
async function createSessions(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('key_id', 'text', (column) => column.references('keys.id'))
    .addColumn('way', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('browser', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_seen_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    // From the identity provider: the id of its session, and the token that identifies the session when it is ended.
    .addColumn('provider_session', 'text')
    .addColumn('id_token', 'text')
    .execute();
  for (const column of ['user_id', 'key_id', 'provider_session'] as const)
    await indexWithoutNulls(schema, 'sessions', [column]);
  await index(schema, 'sessions', ['expires_at']);
}

/** What is stored until somebody has signed in, or failed to. */
async function createAttempts(schema: SchemaModule): Promise<void> {
  await schema
    .createTable('links')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('key_id', 'text', (column) => column.references('keys.id'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await indexWithoutNulls(schema, 'links', ['user_id']);

  await schema
    .createTable('challenges')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await index(schema, 'challenges', ['expires_at']);

  // The sign-out notices of the identity provider that were processed, so that none is used twice.
  await schema
    .createTable('logout_tokens')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();

  await schema
    .createTable('sign_in_failures')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('last_at', 'text', (column) => column.notNull())
    .execute();
}
