import { type Kysely, sql } from 'kysely';
import { indexWithoutNulls } from './0003_links.ts';

/** Makes writes cheaper: removes redundant indexes, and NULLs from indexes that are only searched by value. */
export const up = { sqlite, postgres };

/** Stores the history as one B-tree in the order it is read, instead of a table and two indexes. */
async function sqlite(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table history_of_subjects (
      id text not null,
      subject_id text not null,
      at text not null,
      key_id text,
      key_name text not null,
      field text not null,
      "from" text not null,
      "to" text not null,
      reason text,
      primary key (subject_id, id)
    ) without rowid`.execute(db);
  await sql`
    insert into history_of_subjects
    select id, subject_id, at, key_id, key_name, field, "from", "to", reason from history`.execute(db);
  await db.schema.dropTable('history').execute();
  await db.schema.alterTable('history_of_subjects').renameTo('history').execute();
  await withoutNulls(db);
}

async function postgres(db: Kysely<unknown>): Promise<void> {
  await sql`alter table history drop constraint history_pkey, add primary key (subject_id, id)`.execute(db);
  await db.schema.dropIndex('history_subject_id_id').execute();
  await withoutNulls(db);
}

async function withoutNulls({ schema }: Kysely<unknown>): Promise<void> {
  for (const [table, column] of pointers) await indexWithoutNulls(schema, table, [column]);
}

/** Foreign keys and dates that are NULL in most rows. */
const pointers = [
  ['people', 'manager_user_id'],
  ['people', 'accountable_user_id'],
  ['risks', 'raised_by_user_id'],
  ['risks', 'accepted_until'],
  ['risks', 'accepted_by_user_id'],
  ['issues', 'raised_by_user_id'],
] as const;
