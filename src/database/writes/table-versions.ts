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
 * Counts, in the transaction's own last statement, which tables it changed. Whoever keeps an answer and the counts
 * it was made from knows by comparing them whether the answer still holds. Last, because on PostgreSQL other
 * writers of these tables wait from here to the commit.
 */
export async function bumpVersions<T>(
  transaction: Transaction<Tables>,
  work: (db: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const changed = new Set<TableName>();
  const result = await work(transaction.withPlugin(trackChanges(changed)));
  if (changed.size > 0) {
    await transaction
      .updateTable('data_versions')
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('table_name', 'in', [...changed])
      .execute();
  }
  return result;
}

/** A number that differs whenever one of the tables has been changed in between, and never becomes smaller. */
export async function dataVersion(db: Kysely<Tables>, tables: readonly TableName[]): Promise<number> {
  const { rows } = await allVersions(db);
  return rows.reduce(
    (sum, { table_name, version }) => (tables.includes(table_name) ? sum + version : sum),
    0,
  );
}

const allVersions = statement((db) => db.selectFrom('data_versions').select(['table_name', 'version']));

/**
 * Makes others who lock the table wait until this transaction ends, for rules that look at several rows. It is no lock
 * of the table's count: who held that so early and another who holds other counts would wait for each other.
 */
export async function lockTable(db: Transaction<Tables>, table: TableName): Promise<void> {
  await sql`select ${advisoryLock(sql.lit(table))}`.execute(db);
}

/**
 * Waits for transactions that assign something to the person, and makes others wait until this one ends: they hold a
 * shared lock from their check that the person exists (`referenceErrors`) on. Statements after this one see what they
 * assigned. Lock projects first, as those who assign something in a project do, or two wait for each other.
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

/** The table that a statement changes; undefined when it changes none. */
export function changedTable(node: OperationNode): TableName | undefined {
  const isChange = InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node);
  if (!isChange) return undefined;
  const table = InsertQueryNode.is(node)
    ? node.into
    : UpdateQueryNode.is(node)
      ? node.table
      : node.from.froms[0];
  if (table && TableNode.is(table)) return table.table.identifier.name as TableName;
  throw new Error('A statement that changes something names one table, without an alias.');
}
