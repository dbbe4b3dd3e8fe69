import { type Kysely, sql } from 'kysely';

/** What tells whether commits were lost. The timeline is unknown until the first request. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`insert into data_versions (table_name, version)
    values ('timeline', 0), ('lost_after', 0), ('lost_until', 0)`.execute(db);
}
