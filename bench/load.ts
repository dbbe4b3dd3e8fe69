import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import autocannon from 'autocannon';
import type { Measurement } from './measurement.ts';
import { run } from './processes.ts';
import type { Headers } from './responses.ts';

/** What is sent, by many connections at once, each sending its next request when the last one is answered. */
export type Traffic = {
  /** The servers that share the connections. */
  origins: string[];
  connections: number;
  path: string;
  headers: Headers;
  /** Each so manieth request writes instead. */
  writes?: Writes;
};

/** In the body `{n}` stands for a text that is never sent twice. */
type Writes = { every: number; method: 'POST' | 'PATCH'; path: string; body: string };

export type Load = Measurement & { requests: number; bytes: number };

/** Sends traffic for so many seconds. One answer that is not good fails all of it. */
export type Tool = { name: string; send(traffic: Traffic, seconds: number): Promise<Load> };

/** `wrk` where it is installed: it leaves the most of the machine to the server. */
export function chooseTool(wanted: 'wrk' | 'autocannon' | undefined): Tool {
  const version = wanted === 'autocannon' ? undefined : versionOfWrk();
  if (version) return { name: `wrk ${version}`, send: sendByWrk };
  if (wanted === 'wrk') throw new Error('wrk is not installed; leave --load out to use autocannon.');
  return { name: 'autocannon', send: sendByAutocannon };
}

function versionOfWrk(): string | undefined {
  try {
    execFileSync('wrk', ['-v'], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    // It prints its version, and ends with 1.
    return /^wrk (\S+)/.exec((error as { stdout?: string }).stdout ?? '')?.[1];
  }
  return undefined;
}

async function sendByWrk(traffic: Traffic, seconds: number): Promise<Load> {
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
      BENCH_RUN: newRun(),
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

/** What `wrk.lua` says in the last line of the output. */
export function readWrk(output: string): Load {
  const { requests, microseconds, bytes, failed, refused, p50, p99 } = JSON.parse(
    output.trim().split('\n').at(-1) ?? '',
  );
  refuseBadAnswers({ requests, failed, refused });
  return {
    requests,
    bytes,
    per_second: requests / (microseconds / 1e6),
    p50_ms: p50 / 1000,
    p99_ms: p99 / 1000,
  };
}

async function sendByAutocannon(traffic: Traffic, seconds: number): Promise<Load> {
  const { origins, connections, path, headers, writes } = traffic;
  const prefix = newRun();
  let sent = 0;
  const result = await autocannon({
    // More than one is allowed, though the types do not know it.
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
  const refused = result['4xx'] + result['5xx'];
  refuseBadAnswers({ requests, failed: result.errors + result.timeouts, refused });
  return {
    requests,
    bytes: result.throughput.total,
    per_second: requests / result.duration,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
  };
}

function refuseBadAnswers(counts: { requests: number; failed: number; refused: number }): void {
  const { requests, failed, refused } = counts;
  if (requests === 0) throw new Error('no request was answered');
  if (failed + refused > 0) {
    throw new Error(`of ${requests} requests ${failed} failed and ${refused} were refused`);
  }
}

const newRun = () => crypto.randomUUID().slice(0, 8);
