import type { Dialect, Kysely, Transaction } from 'kysely';
import type { Problem, UsageError } from '../core/errors.ts';
import type { StoredTable, Tables } from './tables.ts';
import type { ReadVersions } from './versions.ts';

/** Receives what concerns the operator and may occur outside of a request. */
export type Report = (level: 'fatal' | 'warn', message: string) => void;

/** Runs `work` while no transaction writes. */
export type RunExclusive = (work: () => Promise<void>) => Promise<void>;

/** Bytes; `undefined` where the operator of the server knows them. */
type Storage = {
  databaseBytes: number;
  walBytes: number | undefined;
  freeBytes: number | undefined;
};

/** The differences between the supported databases. All other code is the same for every engine. */
export type Engine = {
  kind: 'sqlite' | 'postgres';
  /** The URL to show to people, without the password. */
  name: string;
  /** Each has its own connections, so that a long read never blocks a short one. */
  dialects: {
    write: Dialect;
    /** For reads that take a few milliseconds. */
    quick: Dialect;
    /** For reads that take longer, such as a table scan. */
    slow: Dialect;
    /** For reads that last as long as the client takes to download the response. */
    stream: Dialect;
  };
  /** A dialect without time limits for migrations. If absent, migrations use the `write` dialect. */
  migrationDialect?(): Dialect;
  versions: ReadVersions;
  /** Calls `wake` soon after any instance has committed events, and maybe more often. Returns a function that ends it. */
  watchEvents(wake: () => void): () => void;
  /**
   * Creates the database on first start, and removes what a killed process left behind. Absent where the operator creates
   * it. No other method creates a database.
   */
  createIfMissing?(): void;
  /** Returns a sentence if another service uses the database, which should have only one. Absent if many may use it. */
  claim?(): string | undefined;
  /** Whether there is a database. Absent where the operator creates it. */
  exists?(): boolean;
  /** The tables with their stored columns. */
  describeTables(db: Kysely<Tables>): Promise<StoredTable[]>;
  /** Returns what is damaged in the files of the database: nothing where the operator checks the server. */
  checkIntegrity(db: Kysely<Tables>): Promise<string[]>;
  /** The definitions of indexes, constraints and triggers, each after its kind and name and a colon. */
  describeSchema(db: Kysely<Tables>): Promise<Set<string>>;
  /** The same of a temporary database that `create` fills. Empty without the right to create it. */
  describeNewSchema(create: (db: Kysely<Tables>) => Promise<void>): Promise<Set<string>>;
  /** Drops indexes and foreign keys while many rows are loaded. The returned function creates them again. */
  dropIndexes(db: Transaction<Tables>): Promise<() => Promise<void>>;
  /** Returns which unique value or reference of a table an error is about, for people; undefined for any other error. */
  describeViolation(error: unknown): string | undefined;
  /**
   * Runs `load` in a database without tables, and makes the result visible at once if it succeeds. `assertEmpty` throws if
   * the existing database has rows.
   */
  restore(work: {
    /** The tables that are replaced. */
    tables: readonly string[];
    assertEmpty(db: Kysely<Tables>): Promise<void>;
    load(db: Transaction<Tables>): Promise<void>;
  }): Promise<void>;
  /** Set if only one transaction can write at a time. Waiting writes are then committed in groups. */
  singleWriter?: {
    /** For writes that take long, such as an import. */
    bulk: Dialect;
    /** Runs before each bulk write, outside of its transaction, so that other writers do not wait for it. Never fails. */
    beforeBulk(db: Kysely<Tables>): Promise<unknown>;
    /** Throws if the committed data would not be found after a restart, for example because the file was replaced. */
    assertStored(): void;
    /** Runs maintenance after each commit, without delaying the response. Never fails. */
    afterCommit(db: Kysely<Tables>, runExclusive: RunExclusive): Promise<void>;
  };
  /** Absent if the queue of writes limits how long one takes. */
  writeLimits?: {
    /** From the call of `write` until its commit is sent, with all waits and retries. */
    totalMs: number;
    /** The same until the last retry starts, for writes that may take long. */
    retryMs: number;
    /** At most this many transactions write at a time, so that connections are left for short reads. */
    concurrency: number;
  };
  /** How long a batch of a bulk write should take, so that other writers do not wait long. */
  bulkBatchMs: number;
  /** How to run a dry run: a transaction that is always rolled back and must not block writers. */
  dryRun: {
    /** Copies the database to run on, if only one transaction can write at a time. */
    copy?(): Promise<{ db: Kysely<Tables>; close(): Promise<void> }>;
    /** Runs first in the transaction if the engine does not use a copy. */
    begin?(db: Kysely<Tables>): Promise<unknown>;
  };
  /**
   * Whether the transaction may succeed if it runs again: it hit a lock, a deadlock, or a constraint that a concurrent
   * transaction made it violate. In the last case the second run finds the conflict with its own checks and returns a
   * proper validation error.
   */
  isRetryable(error: unknown): boolean;
  /** Whether the connection was lost or not established. It is safe to retry if the commit was not sent yet. */
  isConnectionLost?(error: unknown): boolean;
  /**
   * Whether the transaction must start again after `versions`: a standby was promoted, or a version that it requires has
   * changed. Absent where there is no server.
   */
  isPromoted?(error: unknown): boolean;
  /** Maps a driver error to a response; undefined if the error is a bug. */
  explain(error: unknown): Problem | undefined;
  /** Maps a driver error at startup to a message for the operator; undefined if the operator cannot fix it. */
  explainStart(error: unknown): UsageError | undefined;
  /** Whether an error means that the server is not there, or not yet. Absent where there is no server. */
  isAbsent?(error: unknown): boolean;
  /** Rejects with a driver error if the server cannot be reached. */
  checkReachable?(): Promise<void>;
  /** Rejects with an error for the operator if a migrated database cannot be used as it is set up. */
  checkSetup?(db: Kysely<Tables>): Promise<void>;
  /** Rejects with a Problem or a driver error if reads would fail or be stale now. May wait: callers set a timeout. */
  checkReady(): Promise<void>;
  /** The same for writes. */
  checkWritable(): Promise<void>;
  /** The bytes of the database, and, where it is a file, of its write-ahead log and of free disk. */
  storage(): Promise<Storage>;
  /** Connections in use, idle connections, waiting callers and, with a server, the maximum, by the name of the pool. */
  pools(): Record<string, { used: number; idle: number; waiting: number; max?: number }>;
  /** Closes resources that no dialect owns. Call it before the dialects are destroyed. */
  close(): Promise<void>;
};
