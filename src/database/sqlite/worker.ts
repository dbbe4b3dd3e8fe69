import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { maxSliceLength } from '../sql/lines.ts';
import { type FileOptions, openFile } from './files/file.ts';
import { Statements } from './statements.ts';

/** The entry point of the thread for long reads and writes. It runs calls one after another and responds in that order. */
parentPort?.on('message', (call: Call) => {
  try {
    respond({ result: perform(call) });
  } catch (error) {
    respond({ error, code: error instanceof Sqlite.SqliteError ? error.code : undefined });
  }
});

export type WorkerData = { file: string; options: FileOptions };

/** A method call on a connection, which is identified by its number. */
export type Call = { [M in Method]: { connection: number; method: M; args: Arguments<M> } }[Method];
export type Method = keyof Connection;
export type Arguments<M extends Method> = Parameters<Connection[M]>;
export type Result<M extends Method> = ReturnType<Connection[M]>;

/** The code is sent beside the error, because a cloned error loses its own properties. */
export type WorkerResponse = { result: unknown } | { error: unknown; code: string | undefined };

type Slice = { rows: unknown[]; isLast: boolean };

const respond = (message: WorkerResponse) => parentPort?.postMessage(message);

const connections = new Map<number, Connection>();

function perform({ connection, method, args }: Call): unknown {
  // Opened by the first call, so that an error while opening is the response to that call.
  const target = connections.get(connection) ?? new Connection(workerData);
  connections.set(connection, target);
  return (target[method] as (...args: unknown[]) => unknown).apply(target, args);
}

/** For bulk writes, which repeat their statements. A long read takes longer than preparing its statement. */
const maxPrepared = 30;

/** Kysely runs one query at a time on a connection, so there is at most one stream. */
class Connection {
  readonly #database: Sqlite.Database;
  readonly #statements: Statements;
  #stream: IterableIterator<unknown> | undefined;
  #joinsLines = false;
  #isInTransaction = false;
  #lastError: unknown;

  constructor({ file, options }: WorkerData) {
    this.#database = openFile(file, options);
    // Commits do not checkpoint, because other writers wait for them: `beforeBulk` does.
    if (!options.readonly) this.#database.pragma('wal_autocheckpoint = 0');
    this.#statements = new Statements(this.#database, options.readonly ? 0 : maxPrepared);
  }

  /** `parameters` is JSON: one long string is copied between threads much faster than many short ones. */
  run(sql: string, parameters: string) {
    // On a full disk SQLite rolls back the transaction. Its remaining statements must not run outside of it.
    if (this.#isInTransaction && !this.#database.inTransaction) throw this.#lastError;
    try {
      const result = this.#statements.run(sql, JSON.parse(parameters));
      this.#isInTransaction = this.#database.inTransaction;
      return result;
    } catch (error) {
      this.#lastError = error;
      throw error;
    }
  }

  /** Returns the first slice. With `joinsLines`, each slice is one row with all lines: see `LinesQuery`. */
  startStream(sliceRows: number, sql: string, parameters: readonly unknown[], joinsLines: boolean): Slice {
    // Not a cached statement, because it stays busy until the stream ends.
    const statement = this.#database.prepare(sql);
    this.#joinsLines = joinsLines;
    this.#stream = (joinsLines ? statement.pluck() : statement).iterate(parameters);
    return this.nextRows(sliceRows);
  }

  nextRows(sliceRows: number): Slice {
    const rows: unknown[] = [];
    let length = 0;
    let isLast = false;
    while (rows.length < sliceRows && length < maxSliceLength) {
      const next = this.#stream?.next();
      if (!next || next.done) {
        isLast = true;
        break;
      }
      rows.push(next.value);
      if (this.#joinsLines) length += (next.value as string).length;
    }
    if (!this.#joinsLines || rows.length === 0) return { rows, isLast };
    return { rows: [{ line: rows.join('\n') }], isLast };
  }

  endStream(): void {
    this.#stream?.return?.();
  }

  rollback(): void {
    this.#isInTransaction = false;
    this.#statements.rollback();
  }
}
