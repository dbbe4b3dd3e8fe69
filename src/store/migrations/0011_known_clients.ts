import type { Kysely } from 'kysely';
import { index } from './0001_builders.ts';

/** The browsers and networks from which a person has signed in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('known_clients')
    .addColumn('hash', 'text', (column) => column.notNull())
    // An instance of an earlier version may delete the person, and knows nothing of this table.
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('people.user_id').onDelete('cascade'),
    )
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('known_clients_pkey', ['hash', 'user_id'])
    .execute();
  await index(schema, 'known_clients', ['user_id']);
  await index(schema, 'known_clients', ['expires_at']);
}
