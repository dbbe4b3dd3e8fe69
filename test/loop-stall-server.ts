import { type AddressInfo, createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { watchLoop } from './loop-stall.ts';

/** Loaded into a process with `--import`: sends each TCP client the longest event-loop stall since the previous one. */
if (isMainThread) {
  const loop = watchLoop();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(`${loop.takeMaxMs()}\n`);
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`loop stalls at port ${(server.address() as AddressInfo).port}\n`);
  });
  server.unref();
}
