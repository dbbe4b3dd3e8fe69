import type { Kysely } from 'kysely';

/** Adds the types of an event besides the one that is named first, as a JSON array. */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .alterTable('events')
    .addColumn('also', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
}
