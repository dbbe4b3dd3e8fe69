import type Sqlite from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { unavailable } from '../../core/errors.ts';
import { Statements } from './statements.ts';

export type SqliteConnection = DatabaseConnection & {
  rollback(): Promise<void>;
  /** Called when the connection returns to the pool. */
  release?(): void;
  close(): Promise<void>;
};

type DriverOptions = {
  connect(): SqliteConnection;
  maxConnections: number;
  /** Throws when the database must not be used. */
  check(): void;
  canClose?(): boolean;
  /** Delays new users of the pool until the promise resolves. */
  admit?: (() => Promise<void> | undefined) | undefined;
};

const maxWaitMs = 10_000;

/** A connection pool. Connections are opened on demand and stay open. */
export class SqliteDriver implements Driver {
  readonly #options: DriverOptions;
  readonly #all: SqliteConnection[] = [];
  readonly #idle: SqliteConnection[] = [];
  readonly #waiting: ((connection: SqliteConnection) => void)[] = [];

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  async init() {}

  get use() {
    const idle = this.#idle.length;
    return { used: this.#all.length - idle, idle, waiting: this.#waiting.length };
  }

  async acquireConnection(): Promise<SqliteConnection> {
    await this.#options.admit?.();
    this.#options.check();
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#all.length === this.#options.maxConnections) return this.#wait();
    const connection = this.#options.connect();
    this.#all.push(connection);
    return connection;
  }

  /** Waits for a connection, with a time limit: clients that read slowly may occupy all connections. */
  #wait(): Promise<SqliteConnection> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(receive), 1);
        reject(unavailable('All database connections are in use. Try again shortly.', 5));
      }, maxWaitMs);
      const receive = (connection: SqliteConnection) => {
        clearTimeout(timer);
        resolve(connection);
      };
      this.#waiting.push(receive);
    });
  }

  async releaseConnection(connection: SqliteConnection) {
    connection.release?.();
    const next = this.#waiting.shift();
    if (next) next(connection);
    else this.#idle.push(connection);
  }

  async beginTransaction(connection: SqliteConnection, { accessMode }: TransactionSettings) {
    await connection.executeQuery(
      CompiledQuery.raw(accessMode === 'read only' ? 'begin' : 'begin immediate'),
    );
  }

  async commitTransaction(connection: SqliteConnection) {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: SqliteConnection) {
    await connection.rollback();
  }

  async destroy() {
    if (this.#options.canClose?.() === false) return;
    for (const connection of this.#all) await connection.close();
  }
}

/** Many, because preparing a short statement takes longer than running it. */
const maxPrepared = 200;

/** A connection in this thread, for short statements: each one blocks the event loop. */
export class QuickConnection implements SqliteConnection {
  readonly #database: Sqlite.Database;
  readonly #statements: Statements;

  constructor(database: Sqlite.Database) {
    this.#database = database;
    this.#statements = new Statements(database, maxPrepared);
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.#statements.run(sql, parameters) as QueryResult<R>;
  }

  streamQuery(): never {
    throw new Error('Streams need a snapshot for the `stream` workload.');
  }

  async rollback() {
    this.#statements.rollback();
  }

  async close() {
    this.#database.close();
  }
}
