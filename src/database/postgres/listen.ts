import pg from 'pg';

/** Also polls, because notifications do not arrive through a pooler such as pgbouncer, or while reconnecting. */
const pollMs = 1_000;
const reconnectMs = 5_000;

/** Calls `wake` when an instance has committed events (`wakeFollowers`), and at an interval. Returns a function that ends it. */
export function listenForEvents(connectionString: string, wake: () => void): () => void {
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let isEnded = false;
  const poll = setInterval(wake, pollMs);

  async function connect(): Promise<void> {
    const connection = new pg.Client({
      connectionString,
      keepAlive: true,
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
