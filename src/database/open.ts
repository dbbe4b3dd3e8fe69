import { setTimeout } from 'node:timers/promises';
import { type ControlledTransaction, type Dialect, Kysely, type LogEvent } from 'kysely';
import { createLimiter } from '../core/concurrency.ts';
import { unavailable } from '../core/errors.ts';
import { type Application, WriteConflict } from './application.ts';
import type { Engine, Report } from './engine.ts';
import type { PostgresOptions } from './postgres/connections.ts';
import { postgresEngine } from './postgres/engine.ts';
import { sqliteEngine } from './sqlite/engine.ts';
import { createWriteQueue, type Work } from './sqlite/group-commit.ts';
import type { Tables } from './tables.ts';
import { growing, type ReadVersions } from './versions.ts';
import { tooManyWrites, unknownOutcome, type WriteProgress, withinLimit } from './write-limits.ts';

export type Database = Pick<
  Engine,
  | 'name'
  | 'bulkBatchMs'
  | 'describeTables'
  | 'checkIntegrity'
  | 'watchEvents'
  | 'checkReady'
  | 'checkWritable'
  | 'storage'
  | 'pools'
  | 'explain'
> & {
  versions: ReadVersions;
  /** Names what a new database has in another form, and triggers, which none has. */
  findSchemaDifferences(db: Kysely<Tables>): Promise<string[]>;
  /** For single queries. Use `snapshot` if several queries must see the same data. */
  db: Kysely<Tables>;
  /** Calls `observe` with the seconds that each commit takes. */
  observeCommits(observe: ObserveCommit): void;
  /** Sets the URL that clients use, for links to the console. Statements that are already compiled keep the former one. */
  setBaseUrl(baseUrl: string): void;
  /** Starts a read-only transaction in which all queries see the same data. The caller must call `end`. */
  snapshot(workload?: Workload): Promise<Snapshot>;
  /**
   * Runs `work` in one transaction. When this resolves, the transaction is committed and on disk; when it rejects,
   * the transaction is rolled back. Use `bulk` for large writes: they do not block the event loop. Use `long` for those
   * that may take longer than `Engine.writeLimits`, such as an atomic import. `waitedMs` is how
   * long the request has waited for the database before.
   */
  write<T>(work: Work<T>, workload?: WriteWorkload, waitedMs?: number): Promise<T>;
  /**
   * Runs `work` in a transaction that is always rolled back. On SQLite it runs on a copy of the database and blocks no
   * writer. On PostgreSQL it takes no advisory locks, so it blocks only writers of the rows that it changes.
   */
  dryRun<T>(work: Work<T>): Promise<T>;
  /** Waits for a server that cannot be reached yet. `onWait` is called once, if there is a wait, with the error. */
  waitUntilReachable(onWait: (error: unknown) => void, maxMs?: number): Promise<void>;
  /** Returns a sentence for the operator if only one service should use the database and another one does. */
  claim(): string | undefined;
  /** Rejects with an error for the operator if the migrated database cannot be used as it is set up. */
  checkSetup(): Promise<void>;
  /** Runs pending migrations and returns their names. */
  migrate(): Promise<string[]>;
  /** The names of the migrations that ran, and of those that `migrate` would run. */
  migrations(db?: Kysely<Tables>): Promise<{ applied: string[]; pending: string[] }>;
  /** Runs `load`, which restores a backup, and explains its errors to the operator. */
  restore(load: (engine: Engine) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

type ObserveCommit = (seconds: number) => void;

export type WriteWorkload = 'quick' | 'bulk' | 'long';

/** Expected duration of a read: milliseconds, seconds, or as long as the client takes to download the response. */
type Workload = 'quick' | 'slow' | 'stream';

/** `end` may be called more than once. */
export type Snapshot = { db: Kysely<Tables>; end(): Promise<void> };

/** The URL of a database that is one file. */
export const urlOfFile = (file: string) => `sqlite:${file}`;

/** Runs several queries in one snapshot, without blocking the event loop. */
export async function inSnapshot<T>(
  database: Pick<Database, 'snapshot'>,
  read: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const { db, end } = await database.snapshot('slow');
  try {
    return await read(db);
  } finally {
    await end();
  }
}

/**
 * Opens `sqlite:<file>` or `postgres://…`. The first query opens the first connection; only `migrate` creates a database.
 * `report` receives errors that concern the operator and may occur outside of a request.
 * The options apply to PostgreSQL only. `log` is called after each statement.
 */
export function createDatabase(
  application: Application,
  url: string,
  report?: Report,
  options: PostgresOptions = {},
  log?: (event: LogEvent) => void,
): Database {
  const settings = { baseUrl: '' };
  const engine = url.startsWith('sqlite:')
    ? sqliteEngine(url.slice('sqlite:'.length), report, settings)
    : postgresEngine(url, options, settings, report);
  const { dialects, singleWriter } = engine;
  const connect = (dialect: Dialect) => new Kysely<Tables>({ dialect, ...(log && { log }) });
  const writer = connect(dialects.write);
  const readers = {
    quick: dialects.quick === dialects.write ? writer : connect(dialects.quick),
    slow: connect(dialects.slow),
    stream: connect(dialects.stream),
  };
  const bulkWriter = singleWriter && connect(singleWriter.bulk);
  let observeCommit: ObserveCommit = () => {};
  const onCommit: ObserveCommit = (seconds) => observeCommit(seconds);
  const queue = bulkWriter && createWriteQueue(writer, bulkWriter, singleWriter, application, onCommit);
  const writers = createLimiter(engine.writeLimits?.concurrency ?? 1);
  const writeOnce = <T>(work: Work<T>, workload: WriteWorkload, progress: WriteProgress): Promise<T> =>
    queue
      ? queue.write(work, workload === 'quick' ? 'quick' : 'bulk')
      : writers
          .run(() => runTransaction(application, writer, engine, work, progress, onCommit))
          .catch(startAgain);
  const startAgain = async (error: unknown): Promise<never> => {
    if (!engine.isPromoted?.(error)) throw error;
    await database.versions();
    throw new WriteConflict();
  };
  const explainStartErrors = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw engine.explainStart(error) ?? error;
    }
  };

  const database: Database = {
    name: engine.name,
    bulkBatchMs: engine.bulkBatchMs,
    describeTables: engine.describeTables,
    checkIntegrity: engine.checkIntegrity,
    async findSchemaDifferences(db) {
      const expected = await engine.describeNewSchema((db) => application.createTables(db, engine.kind));
      const stored = await engine.describeSchema(db);
      const triggers = [...stored].filter((definition) => definition.startsWith('trigger '));
      const differing = [...expected.difference(stored), ...triggers];
      return differing.map((definition) => definition.slice(0, definition.indexOf(': ')));
    },
    // Requests wait for the write, so it may take only a part of their time.
    versions: growing(engine.versions, (versions, sequence) =>
      database.write((db) => application.renewVersions(db, versions, sequence), 'quick', 6_000),
    ),
    watchEvents: engine.watchEvents,
    async checkReady() {
      await engine.checkReady();
      await database.versions();
    },
    checkWritable: engine.checkWritable,
    storage: engine.storage,
    explain: engine.explain,
    db: readers.quick,

    observeCommits(observe) {
      observeCommit = observe;
    },

    setBaseUrl(baseUrl) {
      settings.baseUrl = baseUrl;
    },

    async snapshot(workload = 'quick') {
      if (workload === 'stream') rejectIfQueueFull(engine);
      const db = await readers[workload]
        .startTransaction()
        .setAccessMode('read only')
        .setIsolationLevel('repeatable read')
        .execute();
      let ended: Promise<void> | undefined;
      const end = () => {
        ended ??= rollBack(db);
        return ended;
      };
      return { db, end };
    },

    write(work, workload = 'quick', waitedMs = 0) {
      const { totalMs, retryMs } = engine.writeLimits ?? {};
      const isLong = workload === 'long';
      const maxMs = isLong ? undefined : totalMs && Math.max(0, totalMs - waitedMs);
      return withinLimit(maxMs, (progress) =>
        runWithRetries(
          engine,
          () => writeOnce(work, workload, progress),
          isLong ? retryMs : undefined,
          progress,
        ),
      );
    },

    async dryRun(work) {
      const { copy, begin } = engine.dryRun;
      if (!copy) return runWithRetries(engine, () => runAndRollBack(readers.slow, work, begin));
      const { db, close } = await copy();
      try {
        return await runAndRollBack(db, work);
      } finally {
        await close();
      }
    },

    async waitUntilReachable(onWait, maxMs = 30_000) {
      const { checkReachable, isAbsent } = engine;
      if (!checkReachable || !isAbsent) return;
      const deadline = performance.now() + maxMs;
      let isWaiting = false;
      for (;;) {
        try {
          return await checkReachable();
        } catch (error) {
          if (!isAbsent(error) || performance.now() > deadline) throw engine.explainStart(error) ?? error;
          if (!isWaiting) onWait(error);
          isWaiting = true;
        }
        await setTimeout(Math.min(500, maxMs));
      }
    },

    claim() {
      engine.createIfMissing?.();
      return engine.claim?.();
    },

    checkSetup: () => explainStartErrors(async () => engine.checkSetup?.(writer)),

    async migrate() {
      engine.createIfMissing?.();
      const dialect = engine.migrationDialect?.();
      const migrator = dialect ? new Kysely<Tables>({ dialect }) : writer;
      try {
        return await explainStartErrors(() =>
          runWithRetries(engine, () => application.migrate(migrator, engine)),
        );
      } finally {
        if (migrator !== writer) await migrator.destroy();
      }
    },

    migrations: (db = readers.quick) => explainStartErrors(() => application.migrationState(db, engine)),

    restore: (load) => explainStartErrors(() => load(engine)),

    pools: () => ({ ...engine.pools(), writes: { used: 0, idle: 0, waiting: (queue ?? writers).waiting() } }),

    async close() {
      await engine.close();
      for (const db of [...Object.values(readers), bulkWriter]) if (db !== writer) await db?.destroy();
      // Close the writer last: SQLite checkpoints the WAL when the last connection closes, if that connection can write.
      await writer.destroy();
    },
  };
  return database;
}

/** Streams last as long as their clients take to read them, so a longer queue would only time out. */
const maxWaitingStreams = 32;

function rejectIfQueueFull(engine: Engine): void {
  if ((engine.pools().stream?.waiting ?? 0) < maxWaitingStreams) return;
  throw unavailable('Too many requests for complete lists are waiting. Try again shortly.', 2);
}

/** Runs one transaction. If the connection is lost after the commit was sent, the outcome is unknown. */
async function runTransaction<T>(
  { recordTransaction, recordWrite }: Application,
  writer: Kysely<Tables>,
  engine: Engine,
  work: Work<T>,
  progress: WriteProgress,
  onCommit: ObserveCommit,
): Promise<T> {
  // It may have waited for its turn.
  if (progress.isOverdue) throw tooManyWrites();
  progress.isCommitSent = false;
  let sentAt = 0;
  try {
    const result = await writer.transaction().execute(async (db) => {
      const result = await recordTransaction(db, (db) => recordWrite(db, work));
      if (progress.isOverdue) throw tooManyWrites();
      progress.isCommitSent = true;
      sentAt = performance.now();
      return result;
    });
    onCommit((performance.now() - sentAt) / 1000);
    return result;
  } catch (error) {
    throw progress.isCommitSent && engine.isConnectionLost?.(error) ? unknownOutcome(error) : error;
  }
}

async function runAndRollBack<T>(
  db: Kysely<Tables>,
  work: Work<T>,
  begin?: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<T> {
  const transaction = await db.startTransaction().execute();
  try {
    await begin?.(transaction);
    return await work(transaction);
  } finally {
    await rollBack(transaction);
  }
}

/** If the rollback fails, the connection is broken: the driver discards it, which ends the transaction as well. */
const rollBack = (transaction: ControlledTransaction<Tables>): Promise<void> =>
  transaction
    .rollback()
    .execute()
    .catch(() => {});

/** A terminated connection is replaced at once. If the database is down for longer, the request fails instead of waiting. */
const maxReconnectMs = 1_000;

/**
 * Retries a transaction that conflicts with a concurrent one, or that lost its connection before the commit. Waits in the
 * event loop, not inside the database driver, which would block the thread on SQLite.
 */
async function runWithRetries<T>(
  engine: Engine,
  transaction: () => Promise<T>,
  maxRetryMs = 10_000,
  progress?: WriteProgress,
): Promise<T> {
  const start = performance.now();
  const deadline = start + maxRetryMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      const canReconnect = performance.now() - start < maxReconnectMs && engine.isConnectionLost?.(error);
      if (!(error instanceof WriteConflict) && !engine.isRetryable(error) && !canReconnect) throw error;
      if (progress?.isOverdue || performance.now() > deadline) throw tooManyWrites(error);
      await setTimeout(Math.random() * Math.min(100, 5 * 2 ** attempt));
    }
  }
}
