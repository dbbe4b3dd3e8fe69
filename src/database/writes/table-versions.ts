import { type Kysely, sql, type Transaction } from 'kysely';
import { advisoryLock, rowLock } from '../sql/functions.ts';
import { namedStatement, param, statement } from '../sql/statement.ts';
import type { TableName, Tables } from '../tables.ts';
import { insertRows } from './rows.ts';
import { ChangeTracker } from './tracker.ts';

/**
 * Runs `work`, then inserts its events and increments the versions of the tables it changed. Caches compare versions to
 * find out whether an entry is fresh. The increment is the last statement of the transaction because, on PostgreSQL, other
 * writers of these tables wait from then until the commit.
 */
export async function bumpVersions<T>(
  transaction: Transaction<Tables>,
  work: (db: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const tracker = new ChangeTracker();
  const result = await work(transaction.withPlugin(tracker));
  const { tables, sequence, rows } = tracker;
  await insertRows(transaction, 'events', rows);
  // The version of this table is the latest sequence number.
  tables.delete('events');
  const changed = [...tables].sort();
  if (sequence !== undefined) changed.push('events');
  if (changed.length > 0) await bump(changed)(transaction, { sequence });
  return result;
}

const bump = (tables: readonly TableName[]) =>
  namedStatement(
    `bump ${tables}`,
    (db) =>
      db
        .updateTable('data_versions')
        .set((eb) => ({
          version: tables.includes('events')
            ? sql<number>`case table_name when 'events' then ${param('sequence')} else version + 1 end`
            : eb('version', '+', 1),
        }))
        .where('table_name', 'in', tables),
    { isCommand: true },
  );

/** A number that increases whenever one of the tables changes. */
export async function dataVersion(db: Kysely<Tables>, tables: readonly TableName[]): Promise<number> {
  const { rows } = await allVersions(db);
  return rows.reduce(
    (sum, { table_name, version }) => (tables.some((table) => table === table_name) ? sum + version : sum),
    0,
  );
}

/** `dataVersion` as an expression. */
export const versionExpression = (tables: readonly TableName[]) =>
  sql<number>`(select sum(version) from data_versions where table_name in (${sql.join(tables.map((table) => sql.lit(table)))}))`;

const allVersions = statement((db) => db.selectFrom('data_versions').select(['table_name', 'version']));

/**
 * Locks the table until the transaction ends, for rules that concern several rows. It conflicts only with itself. It does
 * not lock the row in `data_versions`: taking that before the end of the transaction could cause deadlocks.
 */
export async function lockTable(db: Transaction<Tables>, table: TableName): Promise<void> {
  await takeTableLock(db, { table });
}

const takeTableLock = statement((db) => db.selectNoFrom(advisoryLock(param('table')).as('locked')), {
  isCommand: true,
});

/**
 * Locks the person until the transaction ends. Waits for transactions that assign something to the person: they hold a
 * shared lock since they checked the reference (`referenceErrors`). Later statements see those assignments. Lock projects
 * before people, as transactions that assign something do; otherwise they could deadlock.
 */
export async function lockPerson(db: Transaction<Tables>, user_id: string): Promise<void> {
  await takePersonLock(db, { user_id });
}

const takePersonLock = statement((db) => db.selectNoFrom(rowLock(param('user_id')).as('locked')), {
  isCommand: true,
});
