import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Tally } from './outcome.ts';

export type Response = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  ms: number;
  // biome-ignore lint/suspicious/noExplicitAny: each scenario knows the shape of the body
  json(): any;
};

export type Client = {
  origin: string;
  key: string;
  /** Resolves with any status; rejects only when no complete response arrives. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): void;
};

/** How long a client that has to read something repeats a request that gets 503. */
const maxRetryMs = 60_000;

/** A client that waits and sends a request again that gets 503, as the response asks for. */
export const patient = (client: Client): Client => ({
  ...client,
  async send(...request) {
    const until = performance.now() + maxRetryMs;
    while (true) {
      const response = await client.send(...request);
      const { status, headers } = response;
      if (status !== 503 || performance.now() > until) return response;
      await wait(Number(headers['retry-after'] ?? 1) * 1000);
    }
  },
});

export type ClientOptions = {
  key?: string | undefined;
  connections?: number;
  timeoutMs?: number;
  tally?: Tally;
};

/**
 * A client with keep-alive connections. It counts the responses that no scenario allows: 500, and 503 without
 * `Retry-After`.
 */
export function createClient(
  origin: string,
  { key = '', connections = 8, timeoutMs = 60_000, tally }: ClientOptions,
): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(origin);

  function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const payload = toPayload(body);
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent,
          hostname,
          port,
          method,
          path,
          headers: {
            ...(key !== '' && { authorization: `Bearer ${key}` }),
            ...(payload !== undefined && {
              'content-type': 'application/json',
              'content-length': payload.length,
            }),
            ...headers,
          },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('close', () => {
            clearTimeout(timer);
            if (!incoming.complete)
              return reject(new Error(`The response to ${method} ${path} was cut off.`));
            const text = Buffer.concat(chunks).toString();
            const response = {
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text,
              ms: performance.now() - startedAt,
              json: () => JSON.parse(text),
            };
            if (tally) countResponse(tally, `${method} ${path.replace(/\?.*/, '?…')}`, response);
            resolve(response);
          });
        },
      );
      const timer = setTimeout(
        () => sent.destroy(new Error(`No response to ${method} ${path} within ${timeoutMs} ms.`)),
        timeoutMs,
      );
      sent.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      sent.end(payload);
    });
  }

  return { origin, key, send, close: () => agent.destroy() };
}

function toPayload(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function countResponse(tally: Tally, what: string, { status, headers, text }: Response): void {
  if (status === 500) {
    tally.responses500++;
    tally.fail(`${what} returned 500: ${text.slice(0, 200)}`);
  }
  if (status === 503 && headers['retry-after'] === undefined) {
    tally.fail(`${what} returned 503 without Retry-After.`);
  }
}

/** Sends rows as an NDJSON file. */
export const importRows = (client: Client, path: string, rows: readonly object[]) =>
  client.send('POST', path, rows.map((row) => JSON.stringify(row)).join('\n'), {
    'content-type': 'application/x-ndjson',
  });

/** Sends a request that must succeed and returns the JSON of its response. */
export async function expectJson(client: Client, method: string, path: string, body?: unknown) {
  const response = await client.send(method, path, body);
  if (response.status >= 300) {
    throw new Error(`${method} ${path} returned ${response.status}: ${response.text.slice(0, 500)}`);
  }
  return response.text === '' ? undefined : response.json();
}
