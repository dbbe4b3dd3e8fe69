import { sql, type Transaction } from 'kysely';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { advisoryLock, inJsonArray, rowLock } from '../../database/sql/functions.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../tables.ts';

/*
 * Every transaction takes its locks in the same order, so that no two wait for each other: tables, projects, people, then
 * the rows that it changes, and the table versions last. ARCHITECTURE.md says more. Nobody needs the result of a lock, so
 * it is sent together with the next statement. On SQLite, which has one writer, locks do nothing.
 */

/**
 * Locks tables until the transaction ends, for rules that concern several rows and for changes of several people or
 * groups. It conflicts only with itself. It does not lock the rows in `data_versions`: those come last.
 */
export async function lockTables(db: Transaction<Tables>, ...tables: (keyof Tables)[]): Promise<void> {
  for (const table of tables.sort()) await takeTableLock.send(db, { table });
}

const takeTableLock = statement((db) => db.selectNoFrom(advisoryLock(param('table')).as('locked')));

/**
 * Locks projects until the transaction ends, in the order of their ids. A statement that changes many rows would lock
 * them in an order of its own. References to the projects do not wait for the lock.
 */
export async function lockProjectRows(db: Transaction<Tables>, ids: Iterable<string>): Promise<void> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0 || hasSingleWriter(db)) return;
  await takeProjectLocks.send(withoutScope(db), { ids: JSON.stringify(wanted) });
}

const takeProjectLocks = statement((db) =>
  db
    .selectFrom('projects')
    .select('id')
    .where(inJsonArray(sql.ref('id'), param<string>('ids')))
    .orderBy('id')
    .forNoKeyUpdate(),
);

/** Locks all projects, new ones too, and these tables until the transaction ends. */
export async function lockAllProjects(db: Transaction<Tables>, ...tables: (keyof Tables)[]): Promise<void> {
  await lockTables(db, 'projects', ...tables);
  const projects = await db.selectFrom('projects').select('id').execute();
  await lockProjectRows(
    db,
    projects.map(({ id }) => id),
  );
}

/**
 * A key that is limited to projects reads them from a common table expression, whose rows cannot be locked. The lock
 * reveals nothing: its result is not used.
 */
export const withoutScope = (db: Transaction<Tables>) => db.withoutPlugins();

/**
 * Locks the person until the transaction ends. Waits for transactions that assign something to the person: they hold a
 * shared lock since they checked the reference (`referenceErrors`). Later statements see those assignments. Lock the
 * table `people` and projects before.
 */
export async function lockPerson(db: Transaction<Tables>, user_id: string): Promise<void> {
  await takePersonLock.send(db, { user_id });
}

const takePersonLock = statement((db) => db.selectNoFrom(rowLock(param('user_id')).as('locked')));
