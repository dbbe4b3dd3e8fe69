import type pg from 'pg';
import type Cursor from 'pg-cursor';
import { isFatal } from './errors.ts';

/** Time limits for the connections of one pool. */
export type Limits = {
  /** Wait for a free connection, or for a new one to be established. */
  connectMs: number;
  /** One statement, enforced by the server. Streams have no such limit, because it includes the time the client takes to read. */
  statementMs?: number;
  /** One wait for a lock, enforced by the server. */
  lockMs?: number;
  /** Between two statements of a transaction, enforced by the server, so that an unreachable service does not hold locks. */
  idleInTransactionMs?: number;
  /** Wait for one response, enforced here, because a frozen or unreachable server cannot enforce its own limits. */
  responseMs: number;
};

/** Interval at which a connection without a response checks, on another connection, whether the server is alive. */
const aliveCheckMs = 3_000;

export type IsAlive = () => Promise<boolean>;

/**
 * Closes a connection whose response is overdue, whose server is not alive, or that the server has closed. Its queries fail
 * at once, and the pool replaces it. Without `isAlive`, only `responseMs` applies.
 */
export async function watchResponse<T>(
  client: pg.Client,
  response: Promise<T>,
  { responseMs }: Limits,
  isAlive?: IsAlive,
): Promise<T> {
  const sentAt = performance.now();
  let isDone = false;
  const check = async () => {
    const isOverdue = performance.now() - sentAt >= responseMs;
    const isLost = isOverdue || (isAlive !== undefined && !(await isAlive()));
    // After the response, the connection may already serve another request.
    if (isLost && !isDone) end(client);
  };
  const timer = setInterval(check, isAlive ? aliveCheckMs : responseMs);
  try {
    return await response;
  } catch (error) {
    if (isFatal(error)) end(client);
    throw error;
  } finally {
    isDone = true;
    clearInterval(timer);
  }
}

type EndingClient = pg.Client & { hasEnded: boolean };

export const readCursor = (client: EndingClient, cursor: Cursor, rows: number): Promise<unknown[]> =>
  settleAtEnd(
    client,
    () => cursor.read(rows),
    () => {
      throw new Error('Connection terminated while a list was read.');
    },
  );

export const closeCursor = (client: EndingClient, cursor: Cursor): Promise<void> =>
  settleAtEnd(
    client,
    () => cursor.close(),
    () => {},
  );

/**
 * Settles with `onEnd` if the connection has ended or ends. The driver would wait forever for the server to confirm the end
 * of a cursor.
 */
async function settleAtEnd<T>(client: EndingClient, request: () => Promise<T>, onEnd: () => T): Promise<T> {
  if (client.hasEnded) return onEnd();
  const { promise: ended, resolve: settle } = Promise.withResolvers<void>();
  client.once('end', settle);
  try {
    return await Promise.race([request(), ended.then(onEnd)]);
  } finally {
    client.removeListener('end', settle);
  }
}

/**
 * The pool removes an ended client when it is released. The socket is closed first, because a client that has sent several
 * statements would wait for their responses.
 */
export function end(client: pg.Client & { connection?: pg.Connection }): void {
  client.connection?.stream.destroy();
  client.end().catch(() => {});
}
