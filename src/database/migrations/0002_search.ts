import { type Kysely, sql } from 'kysely';

/** Finds a person by any part of what they are searched by, each engine in its way. */
export const up = { sqlite, postgres };

/** Reading all texts from one index takes some ten milliseconds for 100,000 people; grams would make each insert six times as long. */
async function sqlite({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex('people_roster_key_search')
    .on('people')
    .columns(['roster_key', 'search_folded', 'user_id'])
    .execute();
  await schema.dropIndex('people_roster_key').execute();
}

/**
 * PostgreSQL cannot hold long texts in such an index, but comes with an extension that keeps grams for a few microseconds
 * each. Where it is not installed, or whoever owns these tables may not take it in, all texts are read.
 */
async function postgres(db: Kysely<unknown>): Promise<void> {
  await sql`
    do $$ begin
      create extension if not exists pg_trgm;
      create index people_search on people using gin (search_folded gin_trgm_ops)
        with (gin_pending_list_limit = 1024);
    exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
      raise notice 'People are searched without pg_trgm: %', sqlerrm;
    end $$`.execute(db);
}
