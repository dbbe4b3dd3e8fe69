import { type Kysely, sql } from 'kysely';

/**
 * People in the order of their creation and of their last change. Each key is one text, unique per row. The second index
 * also finds the people that changed since a time, so it replaces the one on `updated_at`.
 */
export async function up({ schema }: Kysely<unknown>): Promise<void> {
  for (const column of ['created_at', 'updated_at']) {
    await schema
      .createIndex(`people_${column}_key`)
      .on('people')
      .expression(sql`(${sql.ref(column)} || user_id)`)
      .execute();
  }
  await schema.dropIndex('people_updated_at').execute();
}
