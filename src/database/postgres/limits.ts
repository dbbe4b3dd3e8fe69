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

/** Closes a cursor. The driver would wait forever for the server to confirm this if the connection has ended. */
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

/** The pool removes an ended client when it is released. */
export const end = (client: pg.Client) => void client.end().catch(() => {});
