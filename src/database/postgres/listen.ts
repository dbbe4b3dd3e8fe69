import pg from 'pg';

/** Also polls, because notifications do not arrive through a pooler such as pgbouncer, or while reconnecting. */
const pollMs = 1_000;
const reconnectMs = 5_000;

/** Returns a function that watches events. All that watch at the same time share one connection. */
export function createEventWatch(
  connectionString: string,
  maxWaitMs = 5_000,
): (wake: () => void) => () => void {
  const watchers = new Set<() => void>();
  let end: (() => void) | undefined;
  return (wake) => {
    const watcher = () => wake();
    watchers.add(watcher);
    if (end) {
      // As after a new connection: events may have been committed just before.
      queueMicrotask(() => watchers.has(watcher) && wake());
    } else {
      end = listenForEvents(connectionString, maxWaitMs, () => {
        for (const watcher of watchers) watcher();
      });
    }
    return () => {
      if (!watchers.delete(watcher) || watchers.size > 0) return;
      end?.();
      end = undefined;
    };
  };
}

/** Calls `wake` when an instance has committed events (`wakeFollowers`), and at an interval. Returns a function that ends it. */
function listenForEvents(connectionString: string, maxWaitMs: number, wake: () => void): () => void {
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let isEnded = false;
  const poll = setInterval(wake, pollMs);

  async function connect(): Promise<void> {
    const connection = new pg.Client({
      connectionString,
      keepAlive: true,
      // Without these a server that accepts connections and does not respond would be waited for without end.
      connectionTimeoutMillis: maxWaitMs,
      query_timeout: maxWaitMs,
      application_name: 'muster events',
    });
    client = connection;
    connection.on('notification', wake);
    // An error is followed by `end`.
    connection.on('error', () => {});
    connection.once('end', () => {
      if (!isEnded) reconnect = setTimeout(connect, reconnectMs);
    });
    try {
      await connection.connect();
      await connection.query('listen muster_events');
      wake();
    } catch {
      await connection.end().catch(() => {});
    }
  }

  void connect();
  return () => {
    isEnded = true;
    clearInterval(poll);
    clearTimeout(reconnect);
    void client?.end().catch(() => {});
  };
}
