import { connect, type Socket } from 'node:net';
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
} from './tested-service.ts';

/** A thousand connections that send a byte a second: does a good client notice, and are they got rid of? */
const slow = { headers: 500, bodies: 500 };
const seconds = 10;
/** The service says that a request must arrive within 30 seconds. */
const longestLife = 40;

await using service = await startService();
await usualTimes(service, 3);
const without = await usualTimes(service, seconds);
const memoryBefore = memoryOf(service.pid);

const opened = performance.now();
const sockets = [
  ...Array.from({ length: slow.headers }, () =>
    openSlowly(service, 'GET /v1/risks HTTP/1.1\r\nhost: bench\r\nx-slow: '),
  ),
  ...Array.from({ length: slow.bodies }, () => openSlowly(service, headOfPost(service))),
];
const trickle = setInterval(() => {
  for (const socket of sockets) if (socket.writable) socket.write('x');
}, 1000);
while (sockets.some(({ connecting }) => connecting)) await setTimeout(100);
const open = sockets.filter(({ readyState }) => readyState === 'open').length;
const meanwhile = await usualTimes(service, seconds);
const memoryWith = memoryOf(service.pid);
while (sockets.some(({ closed }) => !closed) && performance.now() - opened < longestLife * 1000)
  await setTimeout(100);
const lastClosed = (performance.now() - opened) / 1000;
clearInterval(trickle);
const left = sockets.filter(({ closed }) => !closed).length;
for (const socket of sockets) socket.destroy();

const [before, during] = [quantile(without, 0.5), quantile(meanwhile, 0.5)];
report(
  `${sockets.length} slow connections (${slow.headers} in their headers, ${slow.bodies} in their bodies)`,
  [
    ['a good client alone: median', milliseconds(before), '', true],
    ['99th percentile', milliseconds(quantile(without, 0.99)), '', true],
    ['slow connections open beside it', String(open), String(sockets.length), open === sockets.length],
    ['beside them: median', milliseconds(during), `≤ ${milliseconds(2 * before)}`, during <= 2 * before],
    ['99th percentile', milliseconds(quantile(meanwhile, 0.99)), '', true],
    ['memory before and with them', `${memoryBefore.toFixed(0)} and ${memoryWith.toFixed(0)} MB`, '', true],
    ['slow connections left', String(left), '0', left === 0],
    ['the last one closed after', `${lastClosed.toFixed(1)} s`, `≤ ${longestLife} s`, left === 0],
  ],
);

/** A client that sends a request, waits for its answer, and rests a little. All must be good. */
async function usualTimes(service: TestedService, seconds: number): Promise<number[]> {
  const connection = new Connection(service.port);
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const { status, milliseconds } = await connection.send(nextRequest(service));
    if (status >= 300) throw new Error(`A good client was answered with ${status}.`);
    times.push(milliseconds);
    await setTimeout(5);
  }
  connection.close();
  return times;
}

function openSlowly({ port }: TestedService, beginning: string): Socket {
  const socket = connect(port, '127.0.0.1')
    .on('error', () => {})
    .resume();
  socket.write(beginning);
  return socket;
}

function headOfPost({ key }: TestedService): string {
  return (
    `POST /v1/projects/APOLLO/issues HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\n` +
    'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"title":"'
  );
}
