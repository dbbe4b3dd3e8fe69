import { setTimeout } from 'node:timers/promises';
import { Kysely } from 'kysely';
import { Problem } from '../core/errors.ts';
import type { Engine, Pools } from './engine.ts';
import { migrate } from './migrate.ts';
import { postgresEngine } from './postgres/engine.ts';
import { sqliteEngine } from './sqlite/engine.ts';
import type { Report } from './sqlite/file-guard.ts';
import { createWriteQueue, type Work } from './sqlite/group-commit.ts';
import type { Tables } from './tables.ts';
import type { ReadVersions } from './versions.ts';
import { WriteConflict } from './writes/rows.ts';
import { bumpVersions } from './writes/table-versions.ts';

export type Database = {
  /** For people: the address, without a password. */
  name: string;
  /** For a single query. */
  db: Kysely<Tables>;
  /** One moment's view over several queries, read at the workload its kind is made for; `end` it. */
  snapshot(workload?: Workload): Promise<Snapshot>;
  /**
   * Runs `work` in one transaction: all of it is on disk when this resolves, or none of it ever is. What writes much
   * is bulk work, which does not hold the event loop.
   */
  write<T>(work: Work<T>, workload?: 'quick' | 'bulk'): Promise<T>;
  /**
   * Runs `work` in a transaction that is always rolled back, on the data as they are at its start. It does not hold up
   * writers: on SQLite it runs on a copy of the database; on PostgreSQL it takes no advisory locks.
   */
  rehearse<T>(work: Work<T>): Promise<T>;
  /** Brings the tables up to date; says which migrations ran. */
  migrate(): Promise<string[]>;
  versions: ReadVersions;
  /** Rejects with a Problem or a driver's error when reads or writes would fail now. It may wait: callers limit the time. */
  checkReady(): Promise<void>;
  pools(): Pools;
  /** What a driver's error means to a caller, if it means anything but a defect. */
  explain(error: unknown): Problem | undefined;
  close(): Promise<void>;
};

/** How long a read takes: a moment, a while, or as long as whoever reads it. */
type Workload = 'quick' | 'slow' | 'stream';

/** It may be ended more than once. */
export type Snapshot = { db: Kysely<Tables>; end(): Promise<void> };

/**
 * `url` is `sqlite:<file>` or `postgres://…`. Nothing is opened before the first query, and nothing but `migrate` creates
 * a database. `report` gets what the operator must know though no request may ever show it.
 */
export function openDatabase(url: string, report?: Report): Database {
  const engine = url.startsWith('sqlite:')
    ? sqliteEngine(url.slice('sqlite:'.length), report)
    : postgresEngine(url);
  const { dialects, singleWriter } = engine;
  const writer = new Kysely<Tables>({ dialect: dialects.write });
  const readers = {
    quick: dialects.quick === dialects.write ? writer : new Kysely<Tables>({ dialect: dialects.quick }),
    slow: new Kysely<Tables>({ dialect: dialects.slow }),
    stream: new Kysely<Tables>({ dialect: dialects.stream }),
  };
  const bulkWriter = singleWriter && new Kysely<Tables>({ dialect: singleWriter.bulk });
  const { write, waiting }: ReturnType<typeof createWriteQueue> = bulkWriter
    ? createWriteQueue(writer, bulkWriter, singleWriter)
    : { write: (work) => runTransaction(writer, engine, work), waiting: () => 0 };

  return {
    name: engine.name,
    db: readers.quick,

    async snapshot(workload = 'quick') {
      if (workload === 'stream') rejectIfQueueFull(engine);
      const db = await readers[workload]
        .startTransaction()
        .setAccessMode('read only')
        .setIsolationLevel('repeatable read')
        .execute();
      let ended: Promise<void> | undefined;
      // A connection on which not even this succeeds is discarded, and the snapshot with it.
      const end = () => {
        ended ??= db
          .rollback()
          .execute()
          .catch(() => {});
        return ended;
      };
      return { db, end };
    },

    write: (work, workload = 'quick') => retried(engine, () => write(work, workload)),

    async rehearse(work) {
      const { copy, begin } = engine.rehearsal;
      if (!copy) return retried(engine, () => rolledBack(readers.slow, work, begin));
      const { dialect, remove } = await copy();
      const db = new Kysely<Tables>({ dialect });
      try {
        return await rolledBack(db, work);
      } finally {
        await db.destroy();
        await remove();
      }
    },

    async migrate() {
      engine.createIfMissing?.();
      const dialect = engine.migrationDialect?.();
      const migrator = dialect ? new Kysely<Tables>({ dialect }) : writer;
      engine.rehearsal.removeOldCopies?.();
      try {
        return await retried(engine, () => migrate(migrator, engine));
      } catch (error) {
        throw engine.explainStart(error) ?? error;
      } finally {
        if (migrator !== writer) await migrator.destroy();
      }
    },

    versions: engine.versions,

    checkReady: engine.checkReady,

    pools: () => ({ ...engine.pools(), writes: { used: 0, idle: 0, waiting: waiting() } }),

    explain: engine.explain,

    async close() {
      await engine.close();
      for (const db of [...Object.values(readers), bulkWriter]) if (db !== writer) await db?.destroy();
      // Last: SQLite checkpoints when the last connection closes, if that one may write.
      await writer.destroy();
    },
  };
}

/** Who waits behind so many whole lists waits for nothing: they take as long as their readers do. */
const maxWaiting = 32;

function rejectIfQueueFull(engine: Engine): void {
  if ((engine.pools().stream?.waiting ?? 0) < maxWaiting) return;
  throw new Problem('unavailable', 'Too many others are waiting to read as much. Try again shortly.', {
    headers: { 'retry-after': '2' },
  });
}

/** Runs one transaction. When its connection is lost after the commit was sent, nobody knows whether it was committed. */
async function runTransaction<T>(writer: Kysely<Tables>, engine: Engine, work: Work<T>): Promise<T> {
  let isCommitSent = false;
  try {
    return await writer.transaction().execute(async (db) => {
      const result = await bumpVersions(db, work);
      isCommitSent = true;
      return result;
    });
  } catch (error) {
    throw isCommitSent && engine.isConnectionLost?.(error) ? unknownOutcome(error) : error;
  }
}

/** Running the transaction again could do it twice; a client that sends an `Idempotency-Key` can safely ask for that. */
const unknownOutcome = (cause: unknown) =>
  new Problem(
    'unavailable',
    'The connection to the database was lost while the change was being committed: it may or may not have been made. ' +
      'Read before you try again, or send the same `Idempotency-Key` again.',
    { cause, headers: { 'retry-after': '1' } },
  );

async function rolledBack<T>(
  db: Kysely<Tables>,
  work: Work<T>,
  begin?: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<T> {
  const transaction = await db.startTransaction().execute();
  try {
    await begin?.(transaction);
    return await work(transaction);
  } finally {
    // A connection that is lost has rolled back by itself; what went wrong before is worth more.
    await transaction
      .rollback()
      .execute()
      .catch(() => {});
  }
}

const retryTimeoutMs = 10_000;

/** A terminated connection is replaced at once; a database that is away for longer is not waited for. */
const maxReconnectMs = 1_000;

/**
 * Runs a transaction again while others are in its way, or when its connection was lost before it was committed,
 * without holding the event loop meanwhile.
 */
async function retried<T>(engine: Engine, transaction: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const deadline = start + retryTimeoutMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      const canReconnect = performance.now() - start < maxReconnectMs && engine.isConnectionLost?.(error);
      if (!(error instanceof WriteConflict) && !engine.isRetryable(error) && !canReconnect) throw error;
      if (performance.now() > deadline) {
        throw new Problem('unavailable', 'Too many others are changing the same thing. Try again shortly.', {
          cause: error,
          headers: { 'retry-after': '1' },
        });
      }
      await setTimeout(Math.random() * Math.min(100, 5 * 2 ** attempt));
    }
  }
}
