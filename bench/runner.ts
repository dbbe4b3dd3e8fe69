import assert from 'node:assert/strict';
import { get } from 'node:http';
import type { Datasets } from './datasets.ts';
import type { Load, Tool, Traffic } from './load.ts';
import { type Measurement, repeatAsync } from './measurement.ts';
import { type Memory, peakMemoryOf } from './memory.ts';
import { type Answer, type Headers, maxResponseMs } from './responses.ts';
import type { Server } from './servers.ts';

/** What all arms share: the filled databases, and how to measure. */
export type Stage = Datasets & {
  folder: string;
  tool: Tool;
  /** Seconds to warm up before each measurement, and of the measurement. */
  warm: number;
  seconds: number;
  people: number;
};

export const usualConnections = 64;

/** What is sent, and what every answer must weigh if all are to be the same. */
type Asked = Omit<Traffic, 'origins' | 'connections'> & { connections?: number; answer?: Answer };

/** Warms servers up, then measures how many requests they answer. */
export async function hammer(
  stage: Stage,
  servers: Server[],
  asked: Asked,
): Promise<Load & { memory: Memory }> {
  const { answer, connections = usualConnections, ...rest } = asked;
  const traffic = { ...rest, connections, origins: servers.map(({ origin }) => origin) };
  await stage.tool.send(traffic, stage.warm);
  const load = await stage.tool.send(traffic, stage.seconds);
  if (answer) {
    const weight = load.bytes / load.requests;
    const isAlike = Math.abs(weight / answer.bytes - 1) < 0.05;
    assert.ok(isAlike, `an answer has ${answer.bytes} bytes, but those under load have ${weight}`);
  }
  return { ...load, memory: memoryOf(servers) };
}

/** Reads a long answer again and again, to its end, one at a time. */
export async function download(
  stage: Stage,
  server: Server,
  path: string,
  headers: Headers,
  answer: Answer,
): Promise<Measurement & { memory: Memory }> {
  const read = async () => {
    const bytes = await countBytes(server.origin + path, headers);
    assert.equal(bytes, answer.body.byteLength, 'all of it arrives');
  };
  await repeatAsync(stage.warm, read);
  return { ...(await repeatAsync(stage.seconds, read)), memory: memoryOf([server]) };
}

function countBytes(url: string, headers: Headers): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers, signal: AbortSignal.timeout(maxResponseMs) }, (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.byteLength;
      });
      response.once('end', () => resolve(bytes)).once('error', reject);
    }).on('error', reject);
  });
}

function memoryOf(servers: Server[]): Memory {
  const sum = (mb: (server: Server) => number) => servers.reduce((total, server) => total + mb(server), 0);
  return { ready_mb: sum(({ ready_mb }) => ready_mb), peak_mb: sum(({ pid }) => peakMemoryOf(pid)) };
}
