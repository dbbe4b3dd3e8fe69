import {
  DeleteQueryNode,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  type OperationNode,
  sql,
  TableNode,
  type Transaction,
  UpdateQueryNode,
} from 'kysely';
import { advisoryLock, rowLock } from '../sql/functions.ts';
import { statement } from '../sql/statement.ts';
import type { TableName, Tables } from '../tables.ts';

/**
 * Runs `work`, then increments the versions of the tables it changed. Caches compare versions to find out whether an entry
 * is fresh. The increment is the last statement of the transaction because, on PostgreSQL, other writers of these tables
 * wait from then until the commit.
 */
export async function bumpVersions<T>(
  transaction: Transaction<Tables>,
  work: (db: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const changed = new Set<TableName>();
  const result = await work(transaction.withPlugin(trackChanges(changed)));
  // Its version is the latest sequence number, which `appendEvents` has set.
  changed.delete('events');
  if (changed.size > 0) {
    await transaction
      .updateTable('data_versions')
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('table_name', 'in', [...changed])
      .execute();
  }
  return result;
}

/** A number that increases whenever one of the tables changes. */
export async function dataVersion(db: Kysely<Tables>, tables: readonly TableName[]): Promise<number> {
  const { rows } = await allVersions(db);
  return rows.reduce(
    (sum, { table_name, version }) => (tables.some((table) => table === table_name) ? sum + version : sum),
    0,
  );
}

const allVersions = statement((db) => db.selectFrom('data_versions').select(['table_name', 'version']));

/**
 * Locks the table until the transaction ends, for rules that concern several rows. It conflicts only with itself. It does
 * not lock the row in `data_versions`: taking that before the end of the transaction could cause deadlocks.
 */
export async function lockTable(db: Transaction<Tables>, table: TableName): Promise<void> {
  await sql`select ${advisoryLock(sql.lit(table))}`.execute(db);
}

/**
 * Locks the person until the transaction ends. Waits for transactions that assign something to the person: they hold a
 * shared lock since they checked the reference (`referenceErrors`). Later statements see those assignments. Lock projects
 * before people, as transactions that assign something do; otherwise they could deadlock.
 */
export async function lockPerson(db: Transaction<Tables>, user_id: string): Promise<void> {
  await sql`select ${rowLock(sql.val(user_id))}`.execute(db);
}

const trackChanges = (changed: Set<TableName>): KyselyPlugin => ({
  transformQuery({ node }) {
    const table = changedTable(node);
    if (table) changed.add(table);
    return node;
  },
  transformResult: async ({ result }) => result,
});

/** Returns the table that a statement changes; undefined if it only reads. */
export function changedTable(node: OperationNode): TableName | undefined {
  const isChange = InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node);
  if (!isChange) return undefined;
  const table = InsertQueryNode.is(node)
    ? node.into
    : UpdateQueryNode.is(node)
      ? node.table
      : node.from.froms[0];
  if (table && TableNode.is(table)) return table.table.identifier.name as TableName;
  throw new Error('A statement that writes must name one table, without an alias.');
}
