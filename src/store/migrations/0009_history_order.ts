import { type Kysely, sql } from 'kysely';
import type { EngineKind } from './0001_builders.ts';

/** The key of the history is the order in which it is read: ids are made from the clocks of several instances. */
export const up = (db: Kysely<unknown>, kind: EngineKind): Promise<void> => keyByTime[kind](db);

const columns = sql`id, subject_id, at, actor_user_id, key_id, key_name, field, "from", "to", reason`;

const keyByTime: Record<EngineKind, (db: Kysely<unknown>) => Promise<void>> = {
  /** The table is one B-tree in the order of its key, so it is written again. */
  async sqlite(db) {
    await sql`create table history_by_time (id text not null, subject_id text not null, at text not null,
      actor_user_id text, key_id text, key_name text not null, field text not null, "from" text not null,
      "to" text not null, reason text,
      constraint history_pkey primary key (subject_id, at, id)) without rowid`.execute(db);
    await sql`insert into history_by_time (${columns}) select ${columns} from history
      order by subject_id, at, id`.execute(db);
    await sql`drop table history`.execute(db);
    await sql`alter table history_by_time rename to history`.execute(db);
  },
  /** Nobody reads the table from the second statement on until the migration is complete, so the index is created before. */
  async postgres(db) {
    await sql`create unique index history_by_time on history (subject_id, at, id)`.execute(db);
    await sql`alter table history drop constraint history_pkey,
      add constraint history_pkey primary key using index history_by_time`.execute(db);
  },
};
