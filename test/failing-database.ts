import Sqlite from 'better-sqlite3';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../src/database/open.ts';
import { unknownOutcome } from '../src/database/write-limits.ts';
import type { Tables } from '../src/store/tables.ts';

/** How the first attempt of a transaction fails after its work. */
export type Failure = 'conflict' | 'lost connection' | 'unknown, saved' | 'unknown, not saved';

/**
 * A database whose transactions fail once, after their work, while `failure` is set. The second attempt is slower: it writes
 * one batch where the first one wrote several.
 */
export function failingDatabase(database: Database) {
  const state = {
    /** To try other tests with it, set `TEST_FAILURE`. */
    failure: process.env.TEST_FAILURE as Failure | undefined,
    /** Only these transactions fail, by their number from 1 on. */
    isFailing: (_transaction: number): boolean => true,
    transactions: 0,
    failures: 0,
    /** Called after each transaction. */
    onCommit: undefined as (() => Promise<void>) | undefined,
  };

  const write: Database['write'] = async (work, workload, waitedMs) => {
    const { failure } = state;
    if (!failure || !state.isFailing(++state.transactions)) {
      // One batch in each transaction before the one that fails, however fast the machine is.
      const result = await database.write(
        (db, hasWaiters) => work(db, failure ? () => true : hasWaiters),
        workload,
        waitedMs,
      );
      await state.onCommit?.();
      return result;
    }
    state.failures++;
    const startedAt = now.call(performance);
    let attempt = 0;
    const run = async <T>(
      db: Transaction<Tables>,
      hasWaiters: (() => boolean) | undefined,
      inTransaction: (db: Transaction<Tables>, hasWaiters?: () => boolean) => Promise<T>,
    ) => {
      attempt++;
      if (attempt > 1) return inTransaction(db, () => true);
      const result =
        workload === 'bulk'
          ? await withoutTime(() => inTransaction(db, hasWaiters && (() => false)))
          : await inTransaction(db, hasWaiters);
      if (failure === 'unknown, saved') return result;
      if (failure === 'unknown, not saved') throw unknownOutcome(new Error('Injected.'));
      // After more time the database counts as down, and the request fails.
      if (failure === 'lost connection' && now.call(performance) - startedAt < 500)
        await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db.withoutPlugins());
      throw conflict(database);
    };
    const result = await database.write((db, hasWaiters) => run(db, hasWaiters, work), workload, waitedMs);
    if (failure === 'unknown, saved') throw unknownOutcome(new Error('Injected.'));
    return result;
  };

  /** Only PostgreSQL retries a dry run. */
  const dryRun: Database['dryRun'] = (work) => {
    if (!state.failure || database.name.startsWith('sqlite:')) return database.dryRun(work);
    let attempt = 0;
    return database.dryRun(async (db) => {
      const result = await work(db);
      if (++attempt === 1) throw conflict(database);
      return result;
    });
  };

  return Object.assign(state, { database: { ...database, write, dryRun } });
}

const { now } = performance;

/** What a driver throws when two transactions conflict. */
const conflict = ({ name }: Database) =>
  name.startsWith('sqlite:')
    ? new Sqlite.SqliteError('Injected.', 'SQLITE_BUSY')
    : Object.assign(new Error('Injected.'), { code: '40001' });

/** No time passes, so that a transaction takes as many batches as it can. */
async function withoutTime<T>(work: () => Promise<T>): Promise<T> {
  const start = now.call(performance);
  performance.now = () => start;
  try {
    return await work();
  } finally {
    performance.now = now;
  }
}
