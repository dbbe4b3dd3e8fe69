import type pg from 'pg';
import type Cursor from 'pg-cursor';
import { isFatal } from './errors.ts';

/** How long the requests on the connections of one pool may take. */
export type Limits = {
  /** Until there is a free connection, or a new one is established. */
  connectMs: number;
  /** Of one statement, by the server; it counts the time in which a stream's reader does not read, so streams have none. */
  statementMs?: number;
  /** Of one wait for rows or tables that another transaction holds, by the server. */
  lockMs?: number;
  /** Between two statements of a transaction, by the server: a service that cannot be reached holds no locks for longer. */
  idleInTransactionMs?: number;
  /** Until the server responds to one request, measured here: a frozen or unreachable server does not measure. */
  responseMs: number;
};

/** After this time without a response, and then as often again, another connection is asked whether the server is alive. */
const checkMs = 3_000;

export type IsAlive = () => Promise<boolean>;

/**
 * Ends a connection whose response is overdue, or that the server has given up: its requests fail at once, and the pool
 * replaces it. Without `isAlive` there is only the limit.
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
    // Meanwhile the connection may have become another request's.
    if (isLost && !isDone) end(client);
  };
  const timer = setInterval(check, isAlive ? checkMs : responseMs);
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

/** Closes a cursor. The driver waits for the server's word on it, which does not come once the connection has ended. */
export async function closeCursor(client: pg.Client & { hasEnded: boolean }, cursor: Cursor): Promise<void> {
  if (client.hasEnded) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.once('end', resolve);
  cursor.close().then(resolve, reject);
  try {
    await promise;
  } finally {
    client.removeListener('end', resolve);
  }
}

/** The pool removes a client that has ended when it is released. */
const end = (client: pg.Client) => void client.end().catch(() => {});
