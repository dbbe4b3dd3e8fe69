import type { Kysely, Transaction } from 'kysely';
import type { Engine } from './engine.ts';
import type { Tables } from './tables.ts';
import type { Versions } from './versions.ts';

type Recorder = <T>(db: Transaction<Tables>, work: (db: Transaction<Tables>) => Promise<T>) => Promise<T>;

/** What this folder needs of the application whose tables it stores. */
export type Application = {
  /** Runs the work of a transaction, then writes what its changes entail: it is the last to write before the commit. */
  recordTransaction: Recorder;
  /** The same for each write of a transaction that several share. */
  recordWrite: Recorder;
  /** See `growing`. */
  renewVersions(db: Transaction<Tables>, versions: Versions, sequence?: number): Promise<void>;
  /** Runs pending migrations and returns their names. */
  migrate(db: Kysely<Tables>, engine: Engine): Promise<string[]>;
  /** Runs all migrations in a database that has none. */
  createTables(db: Kysely<Tables>, kind: Engine['kind']): Promise<void>;
  /** Returns the names of the migrations that ran and of those that did not, without running any. */
  migrationState(db: Kysely<Tables>, engine: Engine): Promise<{ applied: string[]; pending: string[] }>;
};

/** A concurrent transaction changed the row after it was read. The transaction must be retried. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}
