import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type FunctionNode,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { Problem, UsageError } from '../errors.ts';
import type { Engine } from './engine.ts';
import { type Spellings, spelling } from './functions.ts';

/** One file, one connection that writes, some that read: in WAL mode they do not wait for each other. */
export function sqliteEngine(file: string): Engine {
  const open = (options: { readonly: boolean }) => () => openFile(file, options);
  return {
    name: `sqlite:${file}`,
    dialects: {
      write: dialect(open({ readonly: false }), 1),
      read: dialect(open({ readonly: true }), 4),
      readSlowly: dialect(open({ readonly: true }), 8),
    },
    retryable(error) {
      if (codeOf(error).startsWith('SQLITE_BUSY')) return 'busy';
      return codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE' ? 'lost race' : undefined;
    },
    explain(error) {
      const code = codeOf(error);
      if (code === 'SQLITE_FULL') {
        return new Problem('storage_full', 'The disk of the service is full. Nothing was changed.', {
          cause: error,
        });
      }
      if (/^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY)/.test(code)) {
        return new Problem('unavailable', 'The database file cannot be used right now. Try again shortly.', {
          cause: error,
          headers: { 'retry-after': '5' },
        });
      }
      return undefined;
    },
    explainStart(error) {
      const code = codeOf(error);
      return /^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT|FULL)/.test(code)
        ? cannotUse(file, 'writing', error)
        : undefined;
    },
  };
}

const cannotUse = (file: string, what: string, error: unknown) =>
  new UsageError(
    `The database file ${file} cannot be opened for ${what} (${error instanceof Error ? error.message : error}). ` +
      'Point MUSTER_DATABASE_URL at a file in a folder that this user may write to.',
    { cause: error },
  );

function openFile(file: string, { readonly }: { readonly: boolean }): Sqlite.Database {
  try {
    if (!readonly) mkdirSync(dirname(file), { recursive: true });
    // Waiting inside SQLite would hold the event loop; who writes waits outside of it, and readers need not wait.
    const connection = new Sqlite(file, { readonly, timeout: readonly ? 1000 : 0 });
    connection.pragma('foreign_keys = on');
    if (!readonly) {
      connection.pragma('journal_mode = wal');
      // In WAL mode NORMAL may lose an acknowledged commit when the power fails.
      connection.pragma('synchronous = full');
    }
    return connection;
  } catch (error) {
    throw cannotUse(file, readonly ? 'reading' : 'writing', error);
  }
}

const codeOf = (error: unknown) => (error instanceof Sqlite.SqliteError ? error.code : '');

const dialect = (open: () => Sqlite.Database, connections: number): Dialect => ({
  createDriver: () => new SqliteDriver(open, connections),
  createAdapter: () => new SqliteTransactionalAdapter(),
  createQueryCompiler: () => new MusterSqliteCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
});

/** A writing transaction is immediate here, so migrations are safe in one, also with two processes at once. */
class SqliteTransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true;
  }
  override get supportsMultipleConnections() {
    return true;
  }
}

const spellings: Spellings = {
  parsed_json: spelling`json(${0})`,
  json_boolean: spelling`json(case ${0} when 1 then 'true' when 0 then 'false' end)`,
  json_array_of: spelling`json_group_array(${0} order by ${1})`,
  days_between: spelling`cast(julianday(${1}) - julianday(${0}) as integer)`,
};

class MusterSqliteCompiler extends SqliteQueryCompiler {
  protected override visitFunction(node: FunctionNode): void {
    const spelled = spellings[node.func];
    if (!spelled) super.visitFunction(node);
    else
      for (const part of spelled(node)) typeof part === 'string' ? this.append(part) : this.visitNode(part);
  }
}

/** Connections are opened when first needed, kept, and handed out one user at a time. */
class SqliteDriver implements Driver {
  readonly #open: () => Sqlite.Database;
  readonly #most: number;
  readonly #all: SqliteConnection[] = [];
  readonly #idle: SqliteConnection[] = [];
  readonly #waiting: ((connection: SqliteConnection) => void)[] = [];

  constructor(open: () => Sqlite.Database, most: number) {
    this.#open = open;
    this.#most = most;
  }

  async init() {}

  async acquireConnection(): Promise<SqliteConnection> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#all.length === this.#most) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = new SqliteConnection(this.#open());
    this.#all.push(connection);
    return connection;
  }

  async releaseConnection(connection: SqliteConnection) {
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
    // SQLite ends a transaction by itself when the disk is full.
    if (connection.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy() {
    for (const connection of this.#all) connection.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: Sqlite.Database;
  readonly #statements = new Map<string, Sqlite.Statement>();

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  get inTransaction() {
    return this.#database.inTransaction;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const statement = this.#prepare(sql);
    if (statement.reader) return { rows: statement.all(parameters) as R[] };
    const { changes } = statement.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  /** Lets others through after each slice: reading here holds the event loop. */
  async *streamQuery<R>(
    { sql, parameters }: CompiledQuery,
    sliceRows: number,
  ): AsyncGenerator<QueryResult<R>> {
    // Not a shared statement: it stays busy for as long as the reader takes.
    const iterator = this.#database.prepare(sql).iterate(parameters) as IterableIterator<R>;
    let rows: R[] = [];
    for (const row of iterator) {
      rows.push(row);
      if (rows.length < sliceRows) continue;
      yield { rows };
      rows = [];
      await setImmediate();
    }
    yield { rows };
  }

  close() {
    this.#database.close();
  }

  /** Preparing costs more than most queries. The oldest statement makes room, so that memory is bounded. */
  #prepare(sql: string): Sqlite.Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > 500) this.#statements.delete(this.#statements.keys().next().value ?? '');
    return statement;
  }
}
