import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Stalls } from './livez-probe.ts';

const { origin, pid } = workerData as { origin: string; pid: number };
const intervalMs = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const none: Stalls = { maxMs: 0, maxBusyMs: 0, probes: 0, unanswered: 0 };

let stalls = none;
let probe: { startedAt: number; before: CpuTime } | undefined;

/** The delay of this thread's own timer during a probe. The service does not cause it, so it is subtracted. */
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
  probe = { startedAt: performance.now(), before: readCpuTime(pid) };
  const hasResponse = await get();
  if (hasResponse) countStall();
  stalls = {
    ...stalls,
    probes: stalls.probes + 1,
    unanswered: stalls.unanswered + (hasResponse ? 0 : 1),
  };
  probe = undefined;
  await setTimeout(intervalMs);
}

function countStall(): void {
  if (!probe) return;
  const { startedAt, before } = probe;
  const after = readCpuTime(pid);
  const elapsedMs = performance.now() - startedAt;
  const waitedMs = after.waitedMs - before.waitedMs;
  const usedMs = after.usedMs - before.usedMs;
  stalls = {
    ...stalls,
    maxMs: Math.max(stalls.maxMs, elapsedMs - lateMs),
    maxBusyMs: Math.max(stalls.maxBusyMs, usedMs, elapsedMs - lateMs - waitedMs),
  };
}

/** The time that a process's main thread ran on a CPU, and the time that it was runnable but waited for one. */
type CpuTime = { usedMs: number; waitedMs: number };

/** Only Linux reports these times. */
function readCpuTime(id: number): CpuTime {
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
