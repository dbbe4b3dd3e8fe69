import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { CompiledQuery, QueryResult } from 'kysely';
import { isBatch } from '../sql/batches.ts';
import type { LinesQuery } from '../sql/lines.ts';
import type { SqliteConnection } from './connections.ts';
import type { Arguments, Call, Method, Result, WorkerData, WorkerResponse } from './worker.ts';

/** Creates connections in a worker thread, so that long statements do not block the event loop. */
export function connectInThread(name: string, data: () => WorkerData): () => SqliteConnection {
  let thread: Thread | undefined;
  // Starts the thread on first use, and again after it has died.
  const current = () => {
    if (!thread?.isAlive) thread = new Thread(name, data());
    return thread;
  };
  const end = async () => thread?.end();
  let count = 0;
  return () => new ThreadConnection({ current, end }, count++);
}

type Threads = { current(): Thread; end(): Promise<void> };

class ThreadConnection implements SqliteConnection {
  readonly #threads: Threads;
  readonly #number: number;
  /** The thread of the current transaction: if it dies, the transaction must not continue in a new thread. */
  #thread: Thread | undefined;
  /** Batches that were sent and are not confirmed yet. */
  readonly #unconfirmed: Promise<unknown>[] = [];

  constructor(threads: Threads, number: number) {
    this.#threads = threads;
    this.#number = number;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const isInsert = isBatch(parameters);
    if (!isInsert) await Promise.all(this.#unconfirmed.splice(0));
    const response = this.#call('run', sql, JSON.stringify(parameters));
    if (!isInsert) return (await response) as QueryResult<R>;
    // The caller prepares the next batch meanwhile. The next other statement, such as the commit, waits for all batches.
    this.#unconfirmed.push(response);
    response.catch(() => {});
    return { rows: [] };
  }

  /** Reads one slice ahead of the consumer, never more, so that a slow consumer applies backpressure. */
  async *streamQuery<R>(
    { sql, parameters, joinsLines = false }: LinesQuery,
    sliceRows: number,
  ): AsyncGenerator<QueryResult<R>> {
    let isLast = false;
    try {
      let next = this.#call('startStream', sliceRows, sql, parameters, joinsLines);
      while (!isLast) {
        const slice = await next;
        isLast = slice.isLast;
        if (!isLast) {
          next = this.#call('nextRows', sliceRows);
          // The error is thrown when the slice is awaited. If the consumer stops before, it must not be unhandled.
          next.catch(() => {});
        }
        yield { rows: slice.rows as R[] };
      }
    } finally {
      if (!isLast) await this.#finish('endStream');
    }
  }

  rollback() {
    return this.#finish('rollback');
  }

  release() {
    this.#unconfirmed.length = 0;
    this.#thread = undefined;
  }

  /** Ends the thread with all of its connections: they are always closed together. */
  close() {
    return this.#threads.end();
  }

  /** Ends a stream or a transaction. Does nothing if the thread has died, which ended it as well. */
  async #finish(method: 'endStream' | 'rollback') {
    const thread = this.#thread;
    if (!thread?.isAlive) return;
    try {
      await this.#call(method);
    } catch (error) {
      if (thread.isAlive) throw error;
    }
  }

  #call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Result<M>> {
    this.#thread ??= this.#threads.current();
    return this.#thread.call(this.#number, method, args);
  }
}

/** The extension is `.ts` in the source and `.js` in the built package. */
const workerFile = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** Rows are short-lived in the thread, so a larger young generation would only delay garbage collection. */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

class Thread {
  isAlive = true;
  readonly #worker: Worker;
  /** Responses arrive in the order of the calls. */
  readonly #pending: PromiseWithResolvers<unknown>[] = [];

  constructor(name: string, workerData: WorkerData) {
    this.#worker = new Worker(workerFile, { workerData, name, resourceLimits })
      .on('message', (response) => this.#settle(response))
      .on('error', (error) => this.#fail(error))
      .on('exit', () => this.#fail());
    this.#worker.unref();
  }

  async call<M extends Method>(connection: number, method: M, args: Arguments<M>): Promise<Result<M>> {
    if (!this.isAlive) throw threadEnded();
    this.#worker.postMessage({ connection, method, args } as Call);
    const pending = Promise.withResolvers<unknown>();
    // An idle thread must not keep the process running.
    if (this.#pending.push(pending) === 1) this.#worker.ref();
    return (await pending.promise) as Result<M>;
  }

  async end() {
    this.#fail();
    await this.#worker.terminate();
  }

  #settle(response: WorkerResponse) {
    const pending = this.#pending.shift();
    if (!pending) return;
    if (this.#pending.length === 0) this.#worker.unref();
    if ('result' in response) pending.resolve(response.result);
    else pending.reject(rebuildError(response));
  }

  #fail(cause?: unknown) {
    this.isAlive = false;
    for (const { reject } of this.#pending.splice(0)) reject(threadEnded(cause));
  }
}

const rebuildError = ({ error, code }: Extract<WorkerResponse, { error: unknown }>) =>
  code === undefined ? error : new Sqlite.SqliteError(error instanceof Error ? error.message : '', code);

const threadEnded = (cause?: unknown) =>
  Object.assign(new Sqlite.SqliteError('The database thread has ended.', 'SQLITE_ABORT'), { cause });
