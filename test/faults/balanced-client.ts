import { type Client, createClient } from './client.ts';
import type { Tally } from './outcome.ts';

export type BalancedClient = Client & {
  /** Requests sent, responses with 503, and connections that broke before the response was complete. */
  counts: { requests: number; unavailable: number; broken: number };
};

/** A client that sends each request to the next instance, and to another one if the connection is refused. */
export function createBalancedClient(
  origins: readonly string[],
  key: string | undefined,
  tally: Tally,
): BalancedClient {
  const options = { key, connections: 32, timeoutMs: 30_000, tally };
  const clients = origins.map((origin) => createClient(origin, options));
  const counts = { requests: 0, unavailable: 0, broken: 0 };
  let turn = 0;

  async function send(...args: Parameters<Client['send']>) {
    counts.requests++;
    for (let attempt = 1; ; attempt++) {
      const client = clients[turn++ % clients.length] as Client;
      try {
        const response = await client.send(...args);
        if (response.status === 503) counts.unavailable++;
        return response;
      } catch (error) {
        // Nothing was sent.
        if (codeOf(error) === 'ECONNREFUSED' && attempt < clients.length) continue;
        counts.broken++;
        if (!isBroken(error)) tally.fail(`${args[0]} ${args[1]}: ${(error as Error).message}`);
        throw error;
      }
    }
  }

  return {
    origin: origins[0] ?? '',
    key: key ?? '',
    counts,
    send,
    close() {
      for (const client of clients) client.close();
    },
  };
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Whether the connection ended before the response: every client can retry a read, and a write with `Idempotency-Key`. */
const isBroken = (error: unknown) =>
  ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '') ||
  (error instanceof Error && error.message.endsWith('was cut off.'));
