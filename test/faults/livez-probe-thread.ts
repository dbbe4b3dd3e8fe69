import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Stalls } from './livez-probe.ts';

const { origin, pid } = workerData as { origin: string; pid: number };
const intervalMs = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const none: Stalls = { longestMs: 0, longestHeldMs: 0, probes: 0, unanswered: 0 };

let stalls = none;
let probe: { startedAt: number; before: Processor } | undefined;

/** How late this thread itself was during a probe: on a busy machine that is not the service's doing. */
let lateMs = 0;
let tickedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  lateMs += Math.max(0, now - tickedAt - intervalMs - 1);
  tickedAt = now;
}, intervalMs);

parentPort?.on('message', () => {
  if (probe) countStall();
  parentPort?.postMessage(stalls);
  stalls = none;
});

for (;;) {
  lateMs = 0;
  probe = { startedAt: performance.now(), before: processorOf(pid) };
  const isAnswered = await get();
  if (isAnswered) countStall();
  stalls = {
    ...stalls,
    probes: stalls.probes + 1,
    unanswered: stalls.unanswered + (isAnswered ? 0 : 1),
  };
  probe = undefined;
  await setTimeout(intervalMs);
}

function countStall(): void {
  if (!probe) return;
  const { startedAt, before } = probe;
  const after = processorOf(pid);
  const elapsedMs = performance.now() - startedAt;
  const waitedMs = after.waitedMs - before.waitedMs;
  const usedMs = after.usedMs - before.usedMs;
  stalls = {
    ...stalls,
    longestMs: Math.max(stalls.longestMs, elapsedMs - lateMs),
    longestHeldMs: Math.max(stalls.longestHeldMs, usedMs, elapsedMs - lateMs - waitedMs),
  };
}

/** How long the main thread of a process has used a processor, and how long it was ready to run and had none. */
type Processor = { usedMs: number; waitedMs: number };

/** Linux alone says so. */
function processorOf(id: number): Processor {
  try {
    const [used, waited] = readFileSync(`/proc/${id}/schedstat`, 'utf8').split(' ');
    return { usedMs: Number(used) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return { usedMs: 0, waitedMs: 0 };
  }
}

function get(): Promise<boolean> {
  return new Promise((resolve) => {
    request(`${origin}/livez`, { agent }, (incoming) => {
      incoming.resume().on('close', () => resolve(incoming.statusCode === 200));
    })
      .on('error', () => resolve(false))
      .end();
  });
}
