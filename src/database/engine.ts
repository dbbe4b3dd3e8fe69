import type { Dialect, Kysely } from 'kysely';
import type { Problem, UsageError } from '../core/errors.ts';
import type { Tables } from './tables.ts';
import type { ReadVersions } from './versions.ts';

/** Connections by what they are for, and how many wait for one. */
export type Pools = Record<string, { used: number; idle: number; waiting: number }>;

/** How many whole lists can be read at once. */
export const maxStreams = 8;

/** What differs between the databases: everything else is written once. */
export type Engine = {
  kind: 'sqlite' | 'postgres';
  /** For people: the address, without a password. */
  name: string;
  dialects: {
    write: Dialect;
    /** For reads that take a moment. */
    quick: Dialect;
    /** For reads that take a while, such as a scan of a table. */
    slow: Dialect;
    /** For reads that take as long as their reader does; apart, so that slow readers keep no others waiting. */
    stream: Dialect;
  };
  /** For migrations, which have no time limit; without it they run where writes do. */
  migrationDialect?(): Dialect;
  versions: ReadVersions;
  /** Creates the database at a first start, where that is not the operator's task. Nothing else ever creates one. */
  createIfMissing?(): void;
  /** Where only one transaction can write at a time, so that those who wait gain by being committed together. */
  singleWriter?: {
    /** For writes that take a while, such as an import's. */
    bulk: Dialect;
    /** What is better done between those than in them, while others may write. It does not fail. */
    beforeBulk(db: Kysely<Tables>): Promise<unknown>;
    /** Throws unless what has been committed is where the next start will find it. */
    assertStored(): void;
    /** Called after each commit, for upkeep beside the requests. It does not fail. */
    afterCommit(db: Kysely<Tables>, inTurn: (work: () => Promise<void>) => Promise<void>): Promise<void>;
  };
  /** For transactions that are always rolled back: they must not make writers wait. */
  rehearsal: {
    /** Where only one transaction can write at a time: a copy of the database. */
    copy?(): Promise<{ dialect: Dialect; remove(): Promise<void> }>;
    /** Removes copies that were left behind. */
    removeOldCopies?(): void;
    /** Comes first in the transaction, where there is no copy. */
    begin?(db: Kysely<Tables>): Promise<unknown>;
  };
  /**
   * Whether the same transaction may succeed when run again, because another one is writing or has won a race. A lost
   * race for a unique value, or against a deletion, is one, too: run again, the transaction's own check finds out and
   * says so in words.
   */
  isRetryable(error: unknown): boolean;
  /** Whether the connection was lost or never was: before its commit was sent, a transaction may be run again. */
  isConnectionLost?(error: unknown): boolean;
  /** What a driver's error means to a caller, if it means anything but a defect. */
  explain(error: unknown): Problem | undefined;
  /** What it means to whoever starts the service, if there is something to be done about it. */
  explainStart(error: unknown): UsageError | undefined;
  /** Rejects with a Problem or a driver's error when reads or writes would fail now. It may wait: callers limit the time. */
  checkReady(): Promise<void>;
  pools(): Pools;
  /** Ends what is not a dialect's, before those are. */
  close(): Promise<void>;
};
