import { connect, type Socket } from 'node:net';
import { buildService } from '../build.ts';
import { buildConsole } from '../web/build.ts';
import { muster, type Running, start } from './processes.ts';

/** The built service with the demo data, in a separate process. */
export type TestedService = Running & { port: number; key: string };

export async function startService(): Promise<TestedService> {
  await buildConsole();
  await buildService();
  // A small heap keeps garbage from hiding a leak or looking like one. The response cache is off, because cached responses
  // are cheap under any load and would hide the cost of the work.
  const running = start(...muster('demo', '--max-old-space-size=256'), {
    MUSTER_PORT: '0',
    MUSTER_RATE_LIMIT: '0',
    MUSTER_CACHE_MB: '0',
  });
  const [, port, key = ''] = await running.waitForOutput(/ready at http:\/\/[^:]+:(\d+)[\s\S]*(mst_\w+)/);
  return { ...running, port: Number(port), key };
}

export type TimedResponse = { status: number; milliseconds: number };

/**
 * A minimal HTTP client: it sends requests as text and parses only the status and the length of a response, so that the
 * client uses little CPU.
 */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #sentAt = 0;
  #onResponse: ((response: TimedResponse) => void) | undefined;
  #onError: ((error: Error) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1');
    this.#socket.on('data', (text) => this.#read(String(text)));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The connection was closed.')));
  }

  send(request: string): Promise<TimedResponse> {
    this.#sentAt = performance.now();
    this.#socket.write(request);
    return new Promise((resolve, reject) => {
      this.#onResponse = resolve;
      this.#onError = reject;
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, headEnd))?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#onResponse?.({ status, milliseconds: performance.now() - this.#sentAt });
  }

  #fail(error: Error): void {
    this.#onError?.(error);
  }
}

let sent = 0;

/** Nine requests in ten read a filtered page; one adds an issue. */
export function nextRequest({ key }: TestedService): string {
  const number = ++sent;
  const head = `host: bench\r\nauthorization: Bearer ${key}\r\n`;
  if (number % 10 !== 0) {
    const since = new Date(1_600_000_000_000 + number).toISOString();
    return `GET /v1/risks?limit=20&updated_since=${since} HTTP/1.1\r\n${head}\r\n`;
  }
  const body = `{"title":"Issue ${number} of the bench"}`;
  return (
    `POST /v1/projects/APOLLO/issues HTTP/1.1\r\n${head}content-type: application/json\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  );
}

export const quantile = (values: number[], fraction: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * fraction))] ??
  Number.NaN;

export const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** Prints each measured value next to its limit. Sets the exit code to 1 if a limit is exceeded. */
export function report(
  title: string,
  rows: [label: string, measured: string, goal: string, isMet: boolean][],
): void {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => String(row[column]).length)));
  console.log(title);
  for (const [label, measured, goal, isMet] of rows) {
    const cells = [label, measured, goal].map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(`  ${cells.join('  ')}  ${goal === '' ? '' : isMet ? 'met' : 'MISSED'}`.trimEnd());
  }
  if (rows.some(([, , , isMet]) => !isMet)) process.exitCode = 1;
}
