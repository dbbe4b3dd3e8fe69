import { type Kysely, sql } from 'kysely';
import type { EngineKind } from './0001_builders.ts';

/** What happened to the account of a person. Few events do, so other changes pay nothing for the index. */
export async function up(db: Kysely<unknown>, kind: EngineKind): Promise<void> {
  const data = { sqlite: sql`json(data)`, postgres: sql`cast(data as json)` }[kind];
  await sql`create index events_account on events ((${data} ->> 'user_id'), sequence)
    where type = 'session.started' or subject_type = 'access'`.execute(db);
}
