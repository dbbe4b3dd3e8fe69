import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Measurements } from './livez-probe.ts';

const intervalMs = 5;
const timeoutMs = 5000;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const none: Measurements = { maxMs: 0, unanswered: 0 };

let measurements = none;
/** Undefined between two requests. */
let startedAt: number | undefined;

parentPort?.on('message', () => {
  countTime();
  parentPort?.postMessage(measurements);
  measurements = none;
});

for (;;) {
  startedAt = performance.now();
  const hasResponse = await get();
  if (hasResponse) countTime();
  else measurements = { ...measurements, unanswered: measurements.unanswered + 1 };
  startedAt = undefined;
  await setTimeout(intervalMs);
}

function countTime(): void {
  if (startedAt === undefined) return;
  measurements = { ...measurements, maxMs: Math.max(measurements.maxMs, performance.now() - startedAt) };
}

function get(): Promise<boolean> {
  return new Promise((resolve) => {
    request(`${workerData}/livez`, { agent, timeout: timeoutMs }, (incoming) => {
      incoming.resume().on('close', () => resolve(incoming.statusCode === 200));
    })
      .on('timeout', () => resolve(false))
      .on('error', () => resolve(false))
      .end();
  });
}
