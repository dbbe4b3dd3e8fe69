import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import autocannon from 'autocannon';
import type { Measurement } from './measurement.ts';
import { run } from './processes.ts';
import type { Headers } from './responses.ts';

/** Closed-loop traffic: each connection sends its next request after the response to the previous one. */
export type Traffic = {
  /** The servers that share the connections. */
  origins: string[];
  connections: number;
  path: string;
  headers: Headers;
  /** Replaces every `every`-th request with a write. */
  writes?: Writes;
};

/** `{n}` in the body is replaced by a text that is unique to the request. */
type Writes = { every: number; method: 'POST' | 'PATCH'; path: string; body: string };

export type Load = Measurement & { requests: number; bytes: number };

/** Sends traffic for `seconds`. A single failed request or error status fails the measurement. */
export type Tool = { name: string; send(traffic: Traffic, seconds: number): Promise<Load> };

/** Prefers `wrk`, because it uses the least CPU and leaves more to the server. */
export function chooseTool(requested: 'wrk' | 'autocannon' | undefined): Tool {
  const version = requested === 'autocannon' ? undefined : wrkVersion();
  if (version) return { name: `wrk ${version}`, send: sendWithWrk };
  if (requested === 'wrk')
    throw new Error('wrk is not installed. Install it, or leave out --load to use autocannon.');
  return { name: 'autocannon', send: sendWithAutocannon };
}

function wrkVersion(): string | undefined {
  try {
    execFileSync('wrk', ['-v'], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    // `wrk -v` prints its version and exits with 1.
    return /^wrk (\S+)/.exec((error as { stdout?: string }).stdout ?? '')?.[1];
  }
  return undefined;
}

async function sendWithWrk(traffic: Traffic, seconds: number): Promise<Load> {
  const { origins, connections, path, headers, writes } = traffic;
  const output = await run(
    'wrk',
    [
      `-t${origins.length}`,
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout=10s',
      `-s${join(import.meta.dirname, 'wrk.lua')}`,
      ...Object.entries(headers).map(([name, value]) => `-H${name}: ${value}`),
      `${origins[0]}${path}`,
    ],
    {
      BENCH_ORIGINS: origins.join(' '),
      BENCH_RUN: newRunId(),
      ...(writes && {
        BENCH_WRITE_EVERY: String(writes.every),
        BENCH_WRITE_METHOD: writes.method,
        BENCH_WRITE_PATH: writes.path,
        BENCH_WRITE_BODY: writes.body,
      }),
    },
  );
  return readWrk(output);
}

/** Parses the JSON that `wrk.lua` prints in the last line. */
export function readWrk(output: string): Load {
  const { requests, microseconds, bytes, failed, errorStatuses, p50, p99 } = JSON.parse(
    output.trim().split('\n').at(-1) ?? '',
  );
  assertAllSucceeded({ requests, failed, errorStatuses });
  return {
    requests,
    bytes,
    per_second: requests / (microseconds / 1e6),
    p50_ms: p50 / 1000,
    p99_ms: p99 / 1000,
  };
}

async function sendWithAutocannon(traffic: Traffic, seconds: number): Promise<Load> {
  const { origins, connections, path, headers, writes } = traffic;
  const prefix = newRunId();
  let sent = 0;
  const result = await autocannon({
    // autocannon accepts several URLs, but its types do not.
    url: origins as unknown as string,
    connections,
    duration: seconds,
    requests: [
      {
        path,
        headers,
        ...(writes && {
          setupRequest: (request) => {
            sent++;
            if (sent % writes.every !== 0)
              return { ...request, method: 'GET', path, headers, body: undefined };
            return {
              ...request,
              method: writes.method,
              path: writes.path,
              headers: { ...headers, 'content-type': 'application/json' },
              body: writes.body.replaceAll('{n}', `${prefix}-${sent}`),
            };
          },
        }),
      },
    ],
  });
  const { total: requests } = result.requests;
  const errorStatuses = result['4xx'] + result['5xx'];
  assertAllSucceeded({ requests, failed: result.errors + result.timeouts, errorStatuses });
  return {
    requests,
    bytes: result.throughput.total,
    per_second: requests / result.duration,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
  };
}

/** Not even one response arrived while the load was measured. */
export class NoResponse extends Error {}

function assertAllSucceeded(counts: { requests: number; failed: number; errorStatuses: number }): void {
  const { requests, failed, errorStatuses } = counts;
  if (requests === 0) throw new NoResponse('no response was received');
  if (failed + errorStatuses > 0) {
    throw new Error(
      `of ${requests} requests, ${failed} failed and ${errorStatuses} returned an error status`,
    );
  }
}

const newRunId = () => crypto.randomUUID().slice(0, 8);
