import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await indexPeopleByTime(db);
  await indexUnplannedRisks(db);
}

/**
 * People in the order of their creation and of their last change. Each key is one text, unique per row. The second index
 * also finds the people that changed since a time, so it replaces the one on `updated_at`.
 */
async function indexPeopleByTime({ schema }: Kysely<unknown>): Promise<void> {
  for (const column of ['created_at', 'updated_at']) {
    await schema
      .createIndex(`people_${column}_key`)
      .on('people')
      .expression(sql`(${sql.ref(column)} || user_id)`)
      .execute();
  }
  await schema.dropIndex('people_updated_at').execute();
}

/**
 * The critical risks without a response plan, which are few, for the health of a project. With the column `active`,
 * though it is constant: without it SQLite prefers the index of all active risks.
 */
async function indexUnplannedRisks({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('risks_unplanned')
    .on('risks')
    .columns(['project_id', 'active', 'rank_key'])
    .where(
      sql<boolean>`active = 1 and level = 'critical' and kind = 'threat' and status <> 'accepted' and response_plan is null`,
    )
    .execute();
}
