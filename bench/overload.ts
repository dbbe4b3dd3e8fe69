import { setTimeout } from 'node:timers/promises';
import { memoryOf } from './memory.ts';
import {
  type Answer,
  Connection,
  milliseconds,
  nextRequest,
  quantile,
  report,
  startService,
  type TestedService,
} from './tested-service.ts';

/** Ten times as much as the service can do: is what it takes in answered in time, and what it refuses refused well? */
const carried = { connections: 16, seconds: 5 };
const over = { times: 10, connections: 1000, seconds: 20 };

await using service = await startService();
await carry(service, carried.connections, 3);
const usual = await carry(service, carried.connections, carried.seconds);
const carriedRate = usual.length / carried.seconds;
const { answers, failures, maxMb } = await flood(service, carriedRate * over.times);
const recovery = await untilItself(service, quantile(times(usual), 0.5));

const taken = answers.filter(({ status }) => status < 300);
const refused = answers.filter(({ status }) => status === 503 || status === 429);
const others = answers.length - taken.length - refused.length + failures;
const p99 = quantile(times(taken), 0.99);
const [early, late] = maxMb;
report(`${over.times} times the load, on ${over.connections} connections, one write in ten`, [
  ['it can carry', perSecond(carriedRate), '', true],
  ['with a median of', milliseconds(quantile(times(usual), 0.5)), '', true],
  ['and a 99th percentile of', milliseconds(quantile(times(usual), 0.99)), '', true],
  ['clients would send', perSecond(carriedRate * over.times), '', true],
  ['and found connections free for', perSecond(answers.length / over.seconds), '', true],
  ['taken in', perSecond(taken.length / over.seconds), '', true],
  ['answered in (99th percentile)', milliseconds(p99), '≤ 2000 ms', p99 <= 2000],
  ['refused with 503 or 429', perSecond(refused.length / over.seconds), '', true],
  ['refused in (99th percentile)', milliseconds(quantile(times(refused), 0.99)), '', true],
  ['other answers and broken connections', String(others), '0', others === 0],
  ['memory at most, first half', megabytes(early), '', true],
  ['second half', megabytes(late), `≤ ${megabytes(early * 1.2)}`, late <= early * 1.2],
  ['itself again after', milliseconds(recovery), '≤ 5000 ms', recovery <= 5000],
]);

/** Each connection sends its next request when the last one is answered. */
async function carry(service: TestedService, connections: number, seconds: number): Promise<Answer[]> {
  const end = performance.now() + seconds * 1000;
  const answers: Answer[] = [];
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = new Connection(service.port);
      while (performance.now() < end) answers.push(await connection.send(nextRequest(service)));
      connection.close();
    }),
  );
  const bad = answers.find(({ status }) => status >= 300);
  if (bad) throw new Error(`${bad.status} to a load that it should carry`);
  return answers;
}

/** Requests come when they come, whether or not those before are answered. */
async function flood(service: TestedService, rate: number) {
  const answers: Answer[] = [];
  let failures = 0;
  let offered = 0;
  const maxMb: [number, number] = [0, 0];
  const idle = Array.from({ length: over.connections }, () => new Connection(service.port));
  const send = (connection: Connection) =>
    connection.send(nextRequest(service)).then(
      (answer) => {
        answers.push(answer);
        idle.push(connection);
      },
      () => {
        failures++;
        idle.push(new Connection(service.port));
      },
    );
  const start = performance.now();
  const pending = new Set<Promise<unknown>>();
  for (let now = start; now < start + over.seconds * 1000; now = performance.now()) {
    for (let due = Math.floor(((now - start) / 1000) * rate) - offered; due > 0; due--) {
      const connection = idle.shift();
      // Who finds no connection free goes away.
      if (!connection) break;
      offered++;
      const sending = send(connection).finally(() => pending.delete(sending));
      pending.add(sending);
    }
    const half = now < start + over.seconds * 500 ? 0 : 1;
    maxMb[half] = Math.max(maxMb[half], memoryOf(service.pid));
    await setTimeout(1);
  }
  await Promise.all(pending);
  for (const connection of idle) connection.close();
  return { answers, failures, maxMb };
}

/** How long until ten requests in a row are all answered in about the usual time. */
async function untilItself(service: TestedService, usual: number): Promise<number> {
  const start = performance.now();
  const connection = new Connection(service.port);
  for (let inTime = 0; inTime < 10 && performance.now() - start < 60_000; ) {
    const { status, milliseconds } = await connection.send(nextRequest(service));
    inTime = status < 300 && milliseconds <= Math.max(2 * usual, 20) ? inTime + 1 : 0;
  }
  connection.close();
  return performance.now() - start;
}

function times(answers: Answer[]): number[] {
  return answers.map(({ milliseconds }) => milliseconds);
}

function perSecond(rate: number): string {
  return `${rate.toFixed(0)} a second`;
}

function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}
