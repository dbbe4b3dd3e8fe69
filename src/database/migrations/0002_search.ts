import { type Kysely, sql } from 'kysely';

/** Finds a person by any part of what they are searched by, each engine in its way: see `database/search.ts`. */
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
 * The text is kept as its grams: the three characters from each place on, in hex, with line ends behind the last so
 * that there are three, too. A text of three characters or more is found by its own grams, a shorter one by what a
 * gram starts with. The index keeps the grams, so that no code can forget to.
 */
async function postgres(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // The cost keeps the planner from computing grams where the index has them.
    `create function search_grams(folded text) returns tsvector
     language plpgsql immutable strict parallel safe cost 100 as $$
     declare
       padded text := folded || E'\\n\\n';
       grams text[] := '{}';
     begin
       for place in 1..length(folded) loop
         grams := grams || encode(convert_to(substr(padded, place, 3), 'UTF8'), 'hex');
       end loop;
       return array_to_tsvector(grams);
     end $$`,
    `create index people_grams on people using gin (search_grams(search_folded)) with (fastupdate = off)`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
