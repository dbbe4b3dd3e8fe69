import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { Statements } from './sqlite-statements.ts';

/** The program of the thread for long reads: it does one call after another, and answers them in that order. */
parentPort?.on('message', (call: Call) => {
  try {
    answer({ result: perform(call) });
  } catch (error) {
    answer({ error, code: error instanceof Sqlite.SqliteError ? error.code : undefined });
  }
});

/** What a reader is asked to do; readers are told apart by their numbers. */
export type Call = { [M in Method]: { reader: number; method: M; args: Arguments<M> } }[Method];
export type Method = keyof Reader;
export type Arguments<M extends Method> = Parameters<Reader[M]>;
export type Result<M extends Method> = ReturnType<Reader[M]>;

/** An error's code is sent beside it, because a copy of an error keeps only its message. */
export type Answer = { result: unknown } | { error: unknown; code: string | undefined };

type Slice = { rows: unknown[]; isAll: boolean };

const answer = (message: Answer) => parentPort?.postMessage(message);

const readers = new Map<number, Reader>();

function perform({ reader, method, args }: Call): unknown {
  // Opened when first asked, so that what keeps it from opening is the answer.
  const asked = readers.get(reader) ?? new Reader(workerData);
  readers.set(reader, asked);
  return (asked[method] as (...args: unknown[]) => unknown).apply(asked, args);
}

/** One connection. Kysely gives it one thing to do at a time, so there is never more than one stream. */
class Reader {
  readonly #database: Sqlite.Database;
  readonly #statements: Statements;
  #stream: IterableIterator<unknown> | undefined;
  #isOfLines = false;

  constructor(file: string) {
    this.#database = new Sqlite(file, { readonly: true, timeout: 1000 });
    this.#statements = new Statements(this.#database);
  }

  run(sql: string, parameters: readonly unknown[]) {
    return this.#statements.run(sql, parameters);
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
    this.#statements.rollback();
  }
}
