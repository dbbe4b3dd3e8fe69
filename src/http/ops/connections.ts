import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type Connections = ReturnType<typeof watchConnections>;

/** The open connections, and the totals of all connections. The work happens per connection and per read, not per request. */
export function watchConnections(server: Server) {
  const open = new Set<Socket>();
  const closed = { received: 0, sent: 0 };
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      closed.received += socket.bytesRead;
      closed.sent += socket.bytesWritten;
    });
  });
  return {
    open,
    totals() {
      let { received, sent } = closed;
      for (const socket of open) {
        received += socket.bytesRead;
        sent += socket.bytesWritten;
      }
      return { received, sent };
    },
  };
}
