import type { Kysely } from 'kysely';
import { index } from './0001_builders.ts';

/**
 * Finds the risks that changed since a day: those that were created since, and those that replaced an earlier version since.
 * An index on `updated_at` would find both, but then PostgreSQL would write to all indexes of a risk at every change.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await index(schema, 'risks', ['created_at']);
  // With the id, so that it is not read from the rows.
  await index(schema, 'past_risks', ['valid_until', 'id']);
  await schema.dropIndex('past_risks_valid_until').execute();
}
