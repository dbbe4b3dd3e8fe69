import { type Kysely, sql, type Transaction } from 'kysely';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { namedStatement, param, statement } from '../../database/sql/statement.ts';
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
  const hasEvents = tables.delete('events');
  const changed = [...tables].sort();
  if (sequence !== undefined) changed.push('events');
  // Transactions with events hold this lock. The rest waits for it too, because one statement locks many rows in any order.
  if (!hasEvents && changed.length > 1 && !hasSingleWriter(transaction)) await lockSequence.send(transaction);
  if (changed.length > 0) await bump(changed).send(transaction, { sequence });
  return result;
}

const lockSequence = statement((db) =>
  db.selectFrom('data_versions').select('version').where('table_name', '=', 'events').forNoKeyUpdate(),
);

const bump = (tables: readonly TableName[]) =>
  namedStatement(`bump ${tables}`, (db) =>
    db
      .updateTable('data_versions')
      .set((eb) => ({
        version: tables.includes('events')
          ? sql<number>`case table_name when 'events' then ${param('sequence')} else version + 1 end`
          : eb('version', '+', 1),
      }))
      .where('table_name', 'in', tables),
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
