import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { type FileOptions, openFile } from './file.ts';
import { Statements } from './statements.ts';

/** The program of a thread for what takes long: it does one call after another, and answers them in that order. */
parentPort?.on('message', (call: Call) => {
  try {
    answer({ result: perform(call) });
  } catch (error) {
    answer({ error, code: error instanceof Sqlite.SqliteError ? error.code : undefined });
  }
});

export type WorkerData = { file: string; options: FileOptions };

/** What a connection is asked to do; they are told apart by their numbers. */
export type Call = { [M in Method]: { connection: number; method: M; args: Arguments<M> } }[Method];
export type Method = keyof Connection;
export type Arguments<M extends Method> = Parameters<Connection[M]>;
export type Result<M extends Method> = ReturnType<Connection[M]>;

/** An error's code is sent beside it, because a copy of an error keeps only its message. */
export type Answer = { result: unknown } | { error: unknown; code: string | undefined };

type Slice = { rows: unknown[]; isAll: boolean };

const answer = (message: Answer) => parentPort?.postMessage(message);

const connections = new Map<number, Connection>();

function perform({ connection, method, args }: Call): unknown {
  // Opened when first asked, so that what keeps it from opening is the answer.
  const asked = connections.get(connection) ?? new Connection(workerData);
  connections.set(connection, asked);
  return (asked[method] as (...args: unknown[]) => unknown).apply(asked, args);
}

/** Kysely gives it one thing to do at a time, so there is never more than one stream. */
class Connection {
  readonly #database: Sqlite.Database;
  readonly #statements: Statements;
  #stream: IterableIterator<unknown> | undefined;
  #isOfLines = false;
  #isInTransaction = false;
  #failure: unknown;

  constructor({ file, options }: WorkerData) {
    this.#database = openFile(file, options);
    // Not in a commit, for whose end others wait: see `beforeBulk`.
    if (!options.readonly) this.#database.pragma('wal_autocheckpoint = 0');
    this.#statements = new Statements(this.#database);
  }

  /** Many short texts are sent as one in a fraction of the time. */
  run(sql: string, parameters: string) {
    // SQLite ends a transaction by itself when the disk is full. What was sent in it must not be written outside of it.
    if (this.#isInTransaction && !this.#database.inTransaction) throw this.#failure;
    try {
      const result = this.#statements.run(sql, JSON.parse(parameters));
      this.#isInTransaction = this.#database.inTransaction;
      return result;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** The first rows: see `nextRows`. */
  startStream(most: number, sql: string, parameters: readonly unknown[]): Slice {
    // Not a shared statement: it stays busy for as long as the reader takes.
    const statement = this.#database.prepare(sql);
    const [column, ...others] = statement.columns();
    this.#isOfLines = column?.name === 'lines' && others.length === 0;
    this.#stream = (this.#isOfLines ? statement.pluck() : statement).iterate(parameters);
    return this.nextRows(most);
  }

  /** Where all of a row is a line, they are sent as one text: to send each by itself takes as long as to read it. */
  nextRows(most: number): Slice {
    const rows: unknown[] = [];
    while (rows.length < most) {
      const next = this.#stream?.next();
      if (!next || next.done) break;
      rows.push(next.value);
    }
    const isAll = rows.length < most;
    if (!this.#isOfLines || rows.length === 0) return { rows, isAll };
    return { rows: [{ lines: rows.join('\n') }], isAll };
  }

  endStream(): void {
    this.#stream?.return?.();
  }

  rollback(): void {
    this.#isInTransaction = false;
    this.#statements.rollback();
  }
}
