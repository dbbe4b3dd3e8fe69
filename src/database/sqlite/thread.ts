import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { CompiledQuery, QueryResult } from 'kysely';
import { isBatch } from '../sql/parameters.ts';
import type { SqliteConnection } from './connections.ts';
import type { Answer, Arguments, Call, Method, Result, WorkerData } from './worker.ts';

/** Connections in a thread of their own, so that what takes long does not hold the event loop. */
export function connectInThread(name: string, data: () => WorkerData): () => SqliteConnection {
  const threads = new Threads(name, data);
  let made = 0;
  return () => new ThreadConnection(threads, made++);
}

class ThreadConnection implements SqliteConnection {
  readonly #threads: Threads;
  readonly #number: number;
  /** The thread whose connection is in use: if it dies, a transaction must not go on in the next one. */
  #thread: Thread | undefined;
  /** Rows that are on their way. */
  readonly #behind: Promise<unknown>[] = [];

  constructor(threads: Threads, number: number) {
    this.#threads = threads;
    this.#number = number;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const isInsert = isBatch(parameters);
    if (!isInsert) await Promise.all(this.#behind.splice(0));
    const answer = this.#call('run', sql, JSON.stringify(parameters));
    if (!isInsert) return (await answer) as QueryResult<R>;
    // Their sender goes on meanwhile, but nothing is asked or committed before they are known to be written.
    this.#behind.push(answer);
    answer.catch(() => {});
    return { rows: [] };
  }

  /** Asks for the next slice when it hands one out, and never for more: the reader sets the pace. */
  async *streamQuery<R>(
    { sql, parameters }: CompiledQuery,
    sliceRows: number,
  ): AsyncGenerator<QueryResult<R>> {
    let isAll = false;
    try {
      let next = this.#call('startStream', sliceRows, sql, parameters);
      while (!isAll) {
        const slice = await next;
        isAll = slice.isAll;
        if (!isAll) {
          next = this.#call('nextRows', sliceRows);
          // An error is thrown when the slice is awaited; a reader who stops before never meets it.
          next.catch(() => {});
        }
        yield { rows: slice.rows as R[] };
      }
    } finally {
      if (!isAll) await this.#finish('endStream');
    }
  }

  rollback() {
    return this.#finish('rollback');
  }

  release() {
    this.#behind.length = 0;
    this.#thread = undefined;
  }

  /** The thread ends with the first of its connections: they are closed together. */
  close() {
    return this.#threads.end();
  }

  /** What has come to its end as well when the thread has. */
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

/** One thread after another: it is started when first needed, and again when it has died. */
class Threads {
  readonly #name: string;
  readonly #data: () => WorkerData;
  #thread: Thread | undefined;

  constructor(name: string, data: () => WorkerData) {
    this.#name = name;
    this.#data = data;
  }

  current(): Thread {
    if (!this.#thread?.isAlive) this.#thread = new Thread(this.#name, this.#data());
    return this.#thread;
  }

  async end() {
    await this.#thread?.end();
  }
}

/** It ends in `.ts` or, in the built package, in `.js`, as this file does. */
const program = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** Rows are sent away as soon as they are read, or written as soon as they come; with more room they would only be collected later. */
const resourceLimits = { maxYoungGenerationSizeMb: 4 };

class Thread {
  isAlive = true;
  readonly #worker: Worker;
  /** Answers come in the order of the calls. */
  readonly #pending: PromiseWithResolvers<unknown>[] = [];

  constructor(name: string, workerData: WorkerData) {
    this.#worker = new Worker(program, { workerData, name, resourceLimits })
      .on('message', (answer) => this.#settle(answer))
      .on('error', (error) => this.#fail(error))
      .on('exit', () => this.#fail());
    this.#worker.unref();
  }

  async call<M extends Method>(connection: number, method: M, args: Arguments<M>): Promise<Result<M>> {
    if (!this.isAlive) throw gone();
    this.#worker.postMessage({ connection, method, args } as Call);
    const pending = Promise.withResolvers<unknown>();
    // Only a thread with work to do keeps the process from ending.
    if (this.#pending.push(pending) === 1) this.#worker.ref();
    return (await pending.promise) as Result<M>;
  }

  async end() {
    this.#fail();
    await this.#worker.terminate();
  }

  #settle(answer: Answer) {
    const pending = this.#pending.shift();
    if (!pending) return;
    if (this.#pending.length === 0) this.#worker.unref();
    if ('result' in answer) pending.resolve(answer.result);
    else pending.reject(rebuilt(answer));
  }

  #fail(cause?: unknown) {
    this.isAlive = false;
    for (const { reject } of this.#pending.splice(0)) reject(gone(cause));
  }
}

const rebuilt = ({ error, code }: Extract<Answer, { error: unknown }>) =>
  code === undefined ? error : new Sqlite.SqliteError(error instanceof Error ? error.message : '', code);

const gone = (cause?: unknown) =>
  Object.assign(new Sqlite.SqliteError('The thread of the database has ended.', 'SQLITE_ABORT'), { cause });
