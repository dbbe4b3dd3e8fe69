import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Each takes some memory, even if nothing is ever asked on it; more are closed as they come. */
const maxConnections = 10_000;

/** Gives what there is on connections, and was, when asked: no request pays for the counting. */
export function watchConnections(server: Server) {
  server.maxConnections = maxConnections;
  const open = new Set<Socket>();
  const ended = { received: 0, sent: 0 };
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      ended.received += socket.bytesRead;
      ended.sent += socket.bytesWritten;
    });
  });
  return () => {
    let { received, sent } = ended;
    for (const socket of open) {
      received += socket.bytesRead;
      sent += socket.bytesWritten;
    }
    return { open: open.size, received, sent };
  };
}
