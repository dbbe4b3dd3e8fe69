import type Sqlite from 'better-sqlite3';
import type { QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import { isBatch } from '../sql/batches.ts';

/** Runs statements on one connection, in the main thread or a worker, and caches prepared ones. */
export class Statements {
  readonly #database: Sqlite.Database;
  readonly #prepared: LRUCache<string, Sqlite.Statement> | undefined;

  /** A prepared statement takes 30 to 100 kB outside of the JavaScript heap, on each connection. */
  constructor(database: Sqlite.Database, maxPrepared: number) {
    this.#database = database;
    if (maxPrepared > 0) this.#prepared = new LRUCache({ max: maxPrepared });
  }

  run(sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
    const statement = this.#prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) };
    let affected = 0;
    for (const values of isBatch(parameters) ? parameters : [parameters])
      affected += statement.run(values).changes;
    return { rows: [], numAffectedRows: BigInt(affected) };
  }

  rollback(): void {
    // On a full disk SQLite has already rolled back the transaction.
    if (this.#database.inTransaction) this.run('rollback', []);
  }

  /** Preparing a statement takes longer than running most of them. */
  #prepare(sql: string): Sqlite.Statement {
    const cached = this.#prepared?.get(sql);
    if (cached) return cached;
    const statement = this.#database.prepare(sql);
    this.#prepared?.set(sql, statement);
    return statement;
  }
}
