import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { nextSliceRows } from '../sql/lines.ts';
import { UnawaitedParameters } from '../sql/statement.ts';
import { unknownOutcome } from '../write-limits.ts';
import { codeOf } from './errors.ts';
import { closeCursor, end, type IsAlive, type Limits, readCursor, watchResponse } from './limits.ts';
import { PreparingClient } from './prepared.ts';

export type PostgresOptions = {
  /** Whether to use prepared statements. Poolers in transaction mode may not support them. */
  prepare?: boolean;
  /** The maximum number of connections of all pools together. */
  maxConnections?: number;
};

export type Server = {
  url: string;
  prepare: boolean;
  /** Set when a pooler rejected the settings of a connection. */
  rejectsSettings: boolean;
  /** The latest timeline. A connection from an earlier one may lead to the former primary, so it is not used again. */
  timeline: number;
  /** Called when the server refuses a connection because it has no more. */
  onRefused?: () => void;
};

type PoolOptions = {
  max?: number;
  isAlive?: IsAlive;
  /** Does not wait for statements whose result nobody needs. The driver allows no cursors on such a connection. */
  pipeline?: boolean;
  /** Settings of the planner. */
  planner?: Record<string, string>;
};

/**
 * A pool of connections with time limits. If a pooler rejects the settings of a connection, as pgbouncer does unless it is
 * configured to ignore them, it connects without them. The limits then apply only in transactions, and
 * `Limits.responseMs` to everything else.
 */
export function pool(
  server: Server,
  limits: Limits,
  { max = 1, isAlive, pipeline = false, planner = {} }: PoolOptions = {},
): pg.Pool {
  const connections = new pg.Pool({
    connectionString: server.url,
    max,
    pipeline,
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'muster',
    types: { getTypeParser },
    Client: watchedClient(server, limits, planner, isAlive),
  });
  // An idle connection may break at any time. The next query opens a new one.
  connections.on('error', () => {});
  const connect: () => Promise<pg.PoolClient> = connections.connect.bind(connections);
  const reconnect = (error: unknown) => {
    if (!isRejectedSetting(error)) throw error;
    server.rejectsSettings = true;
    return connect();
  };
  /** Waits for a connection that another pool or process closes. */
  const connectWhenFree = async (until: number): Promise<pg.PoolClient> => {
    try {
      return await connect();
    } catch (error) {
      if (codeOf(error) !== tooManyConnections || performance.now() > until) throw error;
      server.onRefused?.();
      await setTimeout(50);
      return connectWhenFree(until);
    }
  };
  const connectAgain = async (): Promise<pg.PoolClient> => {
    const client = await connectWhenFree(performance.now() + limits.connectMs / 2).catch(reconnect);
    if ((client as pg.PoolClient & { timeline: number }).timeline === server.timeline) {
      const release = client.release.bind(client);
      // The pool may have become smaller: see `createPoolShrinker`.
      client.release = (error) => release(error || connections.totalCount > connections.options.max);
      return client;
    }
    client.release(true);
    return connectAgain();
  };
  return Object.assign(connections, { connect: connectAgain });
}

const tooManyConnections = '53300';

const isRejectedSetting = (error: unknown) =>
  codeOf(error) === '08P01' && error instanceof Error && error.message.includes('startup parameter');

const timeouts = ({ statementMs, lockMs, idleInTransactionMs }: Limits) => ({
  statement_timeout: statementMs,
  lock_timeout: lockMs,
  idle_in_transaction_session_timeout: idleInTransactionMs,
});

/** Guarantees that an acknowledged write is on disk, whatever the default of the server is. */
const durable = { synchronous_commit: 'on' };

/** The settings of a connection, which a pooler may reject or ignore. */
const connectionSettings = (limits: Limits, planner: Record<string, string>): pg.ClientConfig => ({
  ...timeouts(limits),
  options: Object.entries({ ...durable, ...planner })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' '),
});

/** The same settings for one transaction, because a pooler may run each transaction on another connection. */
const transactionSettings = (limits: Limits, planner: Record<string, string>) =>
  Object.entries({ ...durable, ...planner, ...timeouts(limits) })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `; set local ${name} = ${value}`)
    .join('');

/** The number of statements that may be sent before the response to the first of them has arrived. */
const maxUnconfirmed = 16;

/** The rows that a cursor reads first. The length of a row is unknown then. */
const firstSliceRows = 16;

/** A client that detects lost and unresponsive connections: see `watchResponse`. */
function watchedClient(
  server: Server,
  limits: Limits,
  planner: Record<string, string>,
  isAlive: IsAlive | undefined,
) {
  const settings = transactionSettings(limits, planner);
  return class extends (server.prepare ? PreparingClient : UnpreparedClient) {
    hasEnded = false;
    readonly timeline = server.timeline;
    /** The warning that a wait for a standby was canceled, since the last commit was sent. */
    #warning: unknown;
    /** The responses to statements of this transaction that nobody has waited for yet. */
    readonly #unconfirmed: Promise<unknown>[] = [];

    constructor(config?: pg.ClientConfig) {
      super(server.rejectsSettings ? config : { ...config, ...connectionSettings(limits, planner) });
      // The pool listens for errors only while a client is idle. In use, the client fails its queries itself, but an
      // `error` event without a listener would end the process.
      this.on('error', () => {});
      this.once('end', () => {
        this.hasEnded = true;
      });
      this.on('notice', (notice) => {
        // Its text depends on the language of the server, and triggers may send warnings with its code.
        if (notice.routine === 'SyncRepWaitForLSN') this.#warning = notice;
      });
    }

    // biome-ignore lint/suspicious/noExplicitAny: the method has many overloads, and the pool and Kysely use several
    override query(query: any, ...rest: any[]): any {
      const watch = <T>(response: Promise<T>) => watchResponse(this, response, limits, isAlive);
      const isBegin = typeof query === 'string' && /^(begin|start transaction)\b/.test(query);
      // After these errors the state of the connection is unknown: a transaction may have begun, a cursor may be open.
      const discard = (error: unknown) => {
        this.hasEnded = true;
        end(this);
        throw error;
      };
      const result = super.query(isBegin ? query + settings : query, ...rest);
      if (isBegin) return watch(result).catch(discard);
      if (result instanceof Cursor) {
        let sliceRows = firstSliceRows;
        return {
          read: async (maxRows: number) => {
            const rows = await watch(readCursor(this, result, Math.min(maxRows, sliceRows))).catch(discard);
            // Other queries than lists have no `line`, and get more rows each time.
            const texts = (rows as { line?: string }[]).map(({ line = '' }) => line);
            sliceRows = nextSliceRows(texts, maxRows);
            return rows;
          },
          close: () => watch(closeCursor(this, result)).catch(discard),
        };
      }
      const response = this.pipeline ? this.#confirm(watch(result), query, rest[0]) : watch(result);
      if (query !== 'commit') return response;
      this.#warning = undefined;
      return response.then((value: unknown) => {
        // A failover may lose the commit.
        if (this.#warning) throw unknownOutcome(this.#warning);
        return value;
      });
    }

    /** Resolves when all statements so far have succeeded, or at once if nobody needs the result of this one. */
    #confirm<T>(response: Promise<T>, text: unknown, parameters: unknown): Promise<T | object> {
      const isInTransaction = this.getTransactionStatus() === 'T';
      if (
        parameters instanceof UnawaitedParameters &&
        isInTransaction &&
        this.#unconfirmed.length < maxUnconfirmed
      ) {
        response.catch(() => {});
        parameters.response = response as Promise<{ rows: unknown[] }>;
        this.#unconfirmed.push(response);
        return Promise.resolve({ command: '', rows: [] });
      }
      const earlier = this.#unconfirmed.splice(0);
      // A rollback also undoes what has failed.
      const isRollback = typeof text === 'string' && text.startsWith('rollback');
      return earlier.length === 0 || isRollback ? response : allOf(earlier, response);
    }
  };
}

/** The last response, or the first error: those after it are caused by it. */
async function allOf<T>(earlier: readonly Promise<unknown>[], last: Promise<T>): Promise<T> {
  const [failed] = (await Promise.allSettled([...earlier, last])).filter(
    ({ status }) => status === 'rejected',
  );
  if (failed?.status === 'rejected') throw failed.reason;
  return last;
}

/** Runs named queries without a name, so that nothing is left on a connection that other clients may use next. */
class UnpreparedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the method has many overloads, and the pool and Kysely use several
  override query(query: any, ...rest: any[]): any {
    const unnamed = typeof query === 'object' && 'name' in query ? { ...query, name: undefined } : query;
    return super.query(unnamed, ...(rest as []));
  }
}

/** Returns bigint and numeric values, such as `count(*)`, as numbers. The driver would return them as text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: unknown) =>
  oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC
    ? Number
    : pg.types.getTypeParser(oid, format as 'text');
