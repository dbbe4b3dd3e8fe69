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

/** Opens 1,000 connections that send one byte per second. A normal client must stay fast, and the service must close them. */
const slow = { headers: 500, bodies: 500 };
const seconds = 10;
/** The request timeout of the service is 30 seconds; the rest is tolerance. */
const maxConnectionSeconds = 40;

await using service = await startService();
await measureNormalClient(service, 3);
const timesAlone = await measureNormalClient(service, seconds);
const memoryBefore = memoryOf(service.pid);

const opened = performance.now();
const sockets = [
  ...Array.from({ length: slow.headers }, () =>
    openSlowConnection(service, 'GET /v1/risks HTTP/1.1\r\nhost: bench\r\nx-slow: '),
  ),
  ...Array.from({ length: slow.bodies }, () => openSlowConnection(service, startOfPost(service))),
];
const trickle = setInterval(() => {
  for (const socket of sockets) if (socket.writable) socket.write('x');
}, 1000);
while (sockets.some(({ connecting }) => connecting)) await setTimeout(100);
const open = sockets.filter(({ readyState }) => readyState === 'open').length;
const timesDuring = await measureNormalClient(service, seconds);
const memoryWith = memoryOf(service.pid);
while (sockets.some(({ closed }) => !closed) && performance.now() - opened < maxConnectionSeconds * 1000)
  await setTimeout(100);
const lastClosed = (performance.now() - opened) / 1000;
clearInterval(trickle);
const left = sockets.filter(({ closed }) => !closed).length;
for (const socket of sockets) socket.destroy();

const [before, during] = [quantile(timesAlone, 0.5), quantile(timesDuring, 0.5)];
report(`${sockets.length} slow connections (${slow.headers} in the headers, ${slow.bodies} in the body)`, [
  ['normal client alone: median', milliseconds(before), '', true],
  ['99th percentile', milliseconds(quantile(timesAlone, 0.99)), '', true],
  ['slow connections open', String(open), String(sockets.length), open === sockets.length],
  [
    'normal client with slow connections: median',
    milliseconds(during),
    `≤ ${milliseconds(2 * before)}`,
    during <= 2 * before,
  ],
  ['99th percentile', milliseconds(quantile(timesDuring, 0.99)), '', true],
  [
    'memory without and with slow connections',
    `${memoryBefore.toFixed(0)} and ${memoryWith.toFixed(0)} MB`,
    '',
    true,
  ],
  ['slow connections left', String(left), '0', left === 0],
  ['last one closed after', `${lastClosed.toFixed(1)} s`, `≤ ${maxConnectionSeconds} s`, left === 0],
]);

/** Sends requests one at a time with a short pause. Every response must be successful. */
async function measureNormalClient(service: TestedService, seconds: number): Promise<number[]> {
  const connection = new Connection(service.port);
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const { status, milliseconds } = await connection.send(nextRequest(service));
    if (status >= 300) throw new Error(`The normal client received status ${status}.`);
    times.push(milliseconds);
    await setTimeout(5);
  }
  connection.close();
  return times;
}

function openSlowConnection({ port }: TestedService, start: string): Socket {
  const socket = connect(port, '127.0.0.1')
    .on('error', () => {})
    .resume();
  socket.write(start);
  return socket;
}

function startOfPost({ key }: TestedService): string {
  return (
    `POST /v1/projects/APOLLO/issues HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\n` +
    'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"title":"'
  );
}
