import assert from 'node:assert/strict';
import { get } from 'node:http';
import type { Datasets } from './datasets.ts';
import type { Load, Tool, Traffic } from './load.ts';
import { type Measurement, repeatAsync } from './measurement.ts';
import { type Memory, peakMemoryOf } from './memory.ts';
import { type Headers, type HttpResponse, maxResponseMs } from './responses.ts';
import type { Server } from './servers.ts';

/** Shared by all benchmarks: the datasets, the load generator and the durations. */
export type BenchmarkContext = Datasets & {
  folder: string;
  tool: Tool;
  /** Seconds of warm-up before each measurement, and of the measurement itself. */
  warm: number;
  seconds: number;
  people: number;
};

export const defaultConnections = 64;

/** If `response` is set, every response must have about the same size. */
type LoadOptions = Omit<Traffic, 'origins' | 'connections'> & {
  connections?: number;
  response?: HttpResponse;
};

/** Warms the servers up, then measures their throughput and latency. */
export async function measureLoad(
  context: BenchmarkContext,
  servers: Server[],
  options: LoadOptions,
): Promise<Load & { memory: Memory }> {
  const { response, connections = defaultConnections, ...rest } = options;
  const traffic = { ...rest, connections, origins: servers.map(({ origin }) => origin) };
  await context.tool.send(traffic, context.warm);
  const load = await context.tool.send(traffic, context.seconds);
  if (response) {
    const meanBytes = load.bytes / load.requests;
    const hasSameSize = Math.abs(meanBytes / response.bytes - 1) < 0.05;
    assert.ok(hasSameSize, `a response has ${response.bytes} bytes, but under load the mean is ${meanBytes}`);
  }
  return { ...load, memory: memoryOf(servers) };
}

/** Downloads a long response repeatedly, one download at a time. */
export async function measureDownload(
  context: BenchmarkContext,
  server: Server,
  path: string,
  headers: Headers,
  response: HttpResponse,
): Promise<Measurement & { memory: Memory }> {
  const read = async () => {
    const bytes = await countBytes(server.origin + path, headers);
    assert.equal(bytes, response.body.byteLength, 'the whole body arrives');
  };
  await repeatAsync(context.warm, read);
  return { ...(await repeatAsync(context.seconds, read)), memory: memoryOf([server]) };
}

function countBytes(url: string, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers, signal: AbortSignal.timeout(maxResponseMs) }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
      });
      response.once('end', () => resolve(bytes)).once('error', reject);
    }).on('error', reject);
  });
}

function memoryOf(servers: Server[]): Memory {
  const sum = (mb: (server: Server) => number) => servers.reduce((total, server) => total + mb(server), 0);
  return { ready_mb: sum(({ ready_mb }) => ready_mb), peak_mb: sum(({ pid }) => peakMemoryOf(pid)) };
}
