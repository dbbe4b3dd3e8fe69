import { type Kysely, sql } from 'kysely';

/**
 * Finds a person by any part of what they are searched by. The text is kept as its grams: the three characters from
 * each place on, in hex, with line ends behind the last so that there are three, too. A text of three characters or
 * more is found by its own grams, a shorter one by what a gram starts with: see `database/search.ts`. Triggers and
 * an index keep the grams, so that no code can forget to.
 */
export const up = { sqlite, postgres };

async function sqlite(db: Kysely<unknown>): Promise<void> {
  const gramsOf = (text: string) => `(
    with recursive place(n) as (select 1 union all select n + 1 from place where n < length(${text}))
    select group_concat(hex(substr(${text} || char(10, 10), n, 3)), ' ') from place)`;
  const statements = [
    // Numbers of people that stay: a row's own may change when the file is compacted.
    `create table people_numbers (number integer primary key, user_id text not null unique)`,
    `create virtual table people_grams using fts5(
       grams, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii')`,
    `insert into people_numbers (user_id) select user_id from people`,
    `insert into people_grams (rowid, grams)
       select number, ${gramsOf('search_folded')} from people join people_numbers using (user_id)`,
    `create trigger people_grams_insert after insert on people begin
       insert into people_numbers (user_id) values (new.user_id);
       insert into people_grams (rowid, grams)
         select number, ${gramsOf('new.search_folded')} from people_numbers where user_id = new.user_id;
     end`,
    `create trigger people_grams_update after update of search_folded on people
     when new.search_folded <> old.search_folded begin
       update people_grams set grams = ${gramsOf('new.search_folded')}
         where rowid = (select number from people_numbers where user_id = new.user_id);
     end`,
    `create trigger people_grams_delete after delete on people begin
       delete from people_grams where rowid = (select number from people_numbers where user_id = old.user_id);
       delete from people_numbers where user_id = old.user_id;
     end`,
    // What most people have is met soonest in the order of the roster, without reading their rows.
    `create index people_roster_key_search on people (roster_key, search_folded, user_id)`,
    `drop index people_roster_key`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

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
