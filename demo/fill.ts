import type { Insertable, Transaction } from 'kysely';
import type { Moment } from '../src/core/clock.ts';
import type { Database } from '../src/database/open.ts';
import type { Tables } from '../src/database/tables.ts';
import { type Organization, organization } from './organization.ts';

export type Counts = Record<keyof Organization, number>;

/** Below what either engine takes in one statement. */
const parametersPerStatement = 20_000;

/** Puts the organization into an empty database, in one transaction; says how many rows each table got. */
export function fillDemo(database: Database, moment: Moment): Promise<Counts> {
  const rows = organization(moment);
  return database.write(async (db) => ({
    people: await insert(db, 'people', rows.people),
    groups: await insert(db, 'groups', rows.groups),
    memberships: await insert(db, 'memberships', rows.memberships),
    projects: await insert(db, 'projects', rows.projects),
    risks: await insert(db, 'risks', rows.risks),
    past_risks: await insert(db, 'past_risks', rows.past_risks),
    issues: await insert(db, 'issues', rows.issues),
    tasks: await insert(db, 'tasks', rows.tasks),
    history: await insert(db, 'history', rows.history),
  }));
}

async function insert<Table extends keyof Organization>(
  db: Transaction<Tables>,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<number> {
  const columns = Object.keys(rows[0] ?? {}).length || 1;
  const size = Math.floor(parametersPerStatement / columns);
  for (let from = 0; from < rows.length; from += size) {
    await db
      .insertInto(table)
      .values(rows.slice(from, from + size))
      .execute();
  }
  return rows.length;
}
