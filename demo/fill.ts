import type { Insertable, Transaction } from 'kysely';
import type { Moment } from '../src/core/clock.ts';
import type { Database } from '../src/database/open.ts';
import type { Tables } from '../src/store/tables.ts';
import { createOrganization, type Organization } from './organization.ts';

export type Counts = Record<keyof Organization, number>;

/** Both engines accept more parameters than this in one statement. */
const maxParameters = 20_000;

/** Inserts the organization into an empty database in one transaction. Returns the row count of each table. */
export function fillDemo(database: Database, moment: Moment): Promise<Counts> {
  const rows = createOrganization(moment);
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
  const columnCount = Object.keys(rows[0] ?? {}).length || 1;
  const chunkSize = Math.floor(maxParameters / columnCount);
  for (let from = 0; from < rows.length; from += chunkSize) {
    await db
      .insertInto(table)
      .values(rows.slice(from, from + chunkSize))
      .execute();
  }
  return rows.length;
}
