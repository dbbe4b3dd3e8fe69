import { setTimeout } from 'node:timers/promises';
import { memoryOf } from './memory.ts';
import {
  Connection,
  milliseconds,
  nextRequest,
  quantile,
  report,
  startService,
  type TestedService,
  type TimedResponse,
} from './tested-service.ts';

/** Sends ten times the capacity of the service. Accepted requests must stay fast; the rest must get 503 or 429. */
const capacityRun = { connections: 16, seconds: 5 };
const overload = { times: 10, connections: 1000, seconds: 20 };

await using service = await startService();
await sendClosedLoop(service, capacityRun.connections, 3);
const baseline = await sendClosedLoop(service, capacityRun.connections, capacityRun.seconds);
const capacity = baseline.length / capacityRun.seconds;
const { responses, failures, maxMb } = await sendOpenLoop(service, capacity * overload.times);
const recovery = await measureRecovery(service, quantile(latencies(baseline), 0.5));

const accepted = responses.filter(({ status }) => status < 300);
const rejected = responses.filter(({ status }) => status === 503 || status === 429);
const unexpected = responses.length - accepted.length - rejected.length + failures;
const p99 = quantile(latencies(accepted), 0.99);
const [early, late] = maxMb;
report(`${overload.times} times the capacity, on ${overload.connections} connections, one write in ten`, [
  ['capacity', perSecond(capacity), '', true],
  ['latency at capacity: median', milliseconds(quantile(latencies(baseline), 0.5)), '', true],
  ['99th percentile', milliseconds(quantile(latencies(baseline), 0.99)), '', true],
  ['offered load', perSecond(capacity * overload.times), '', true],
  ['sent on a free connection', perSecond(responses.length / overload.seconds), '', true],
  ['accepted', perSecond(accepted.length / overload.seconds), '', true],
  ['latency of accepted requests (99th percentile)', milliseconds(p99), '≤ 2000 ms', p99 <= 2000],
  ['rejected with 503 or 429', perSecond(rejected.length / overload.seconds), '', true],
  ['latency of rejections (99th percentile)', milliseconds(quantile(latencies(rejected), 0.99)), '', true],
  ['other errors and broken connections', String(unexpected), '0', unexpected === 0],
  ['peak memory, first half', megabytes(early), '', true],
  ['second half', megabytes(late), `≤ ${megabytes(early * 1.2)}`, late <= early * 1.2],
  ['recovered after', milliseconds(recovery), '≤ 5000 ms', recovery <= 5000],
]);

/** Closed loop: each connection sends its next request after the response to the previous one. */
async function sendClosedLoop(
  service: TestedService,
  connections: number,
  seconds: number,
): Promise<TimedResponse[]> {
  const end = performance.now() + seconds * 1000;
  const responses: TimedResponse[] = [];
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new Connection(service.port);
      while (performance.now() < end) responses.push(await connection.send(nextRequest(service)));
      connection.close();
    }),
  );
  const bad = responses.find(({ status }) => status >= 300);
  if (bad) throw new Error(`received status ${bad.status} at a load within capacity`);
  return responses;
}

/** Open loop: requests become due at a fixed rate, whether or not earlier ones have a response. */
async function sendOpenLoop(service: TestedService, rate: number) {
  const responses: TimedResponse[] = [];
  let failures = 0;
  let sent = 0;
  const maxMb: [number, number] = [0, 0];
  const idle = Array.from({ length: overload.connections }, () => new Connection(service.port));
  const send = (connection: Connection) =>
    connection.send(nextRequest(service)).then(
      (response) => {
        responses.push(response);
        idle.push(connection);
      },
      () => {
        failures++;
        idle.push(new Connection(service.port));
      },
    );
  const start = performance.now();
  const pending = new Set<Promise<unknown>>();
  for (let now = start; now < start + overload.seconds * 1000; now = performance.now()) {
    for (let due = Math.floor(((now - start) / 1000) * rate) - sent; due > 0; due--) {
      const connection = idle.shift();
      // Without a free connection, the remaining requests stay due.
      if (!connection) break;
      sent++;
      const sending = send(connection).finally(() => pending.delete(sending));
      pending.add(sending);
    }
    const half = now < start + overload.seconds * 500 ? 0 : 1;
    maxMb[half] = Math.max(maxMb[half], memoryOf(service.pid));
    await setTimeout(1);
  }
  await Promise.all(pending);
  for (const connection of idle) connection.close();
  return { responses, failures, maxMb };
}

/** Milliseconds until ten requests in a row have about the usual latency. */
async function measureRecovery(service: TestedService, baseline: number): Promise<number> {
  const start = performance.now();
  const connection = new Connection(service.port);
  for (let fastInARow = 0; fastInARow < 10 && performance.now() - start < 60_000; ) {
    const { status, milliseconds } = await connection.send(nextRequest(service));
    fastInARow = status < 300 && milliseconds <= Math.max(2 * baseline, 20) ? fastInARow + 1 : 0;
  }
  connection.close();
  return performance.now() - start;
}

function latencies(responses: TimedResponse[]): number[] {
  return responses.map(({ milliseconds }) => milliseconds);
}

function perSecond(rate: number): string {
  return `${rate.toFixed(0)} per second`;
}

function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}
