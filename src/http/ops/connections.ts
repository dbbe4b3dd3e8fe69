import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The open connections, and the totals of all connections. The work happens per connection and per read, not per request. */
export type Connections = {
  readonly open: ReadonlySet<Socket>;
  totals(): { received: number; sent: number };
};

export function watchConnections(app: FastifyInstance): void {
  const open = new Set<Socket>();
  const closed = { received: 0, sent: 0 };
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      closed.received += socket.bytesRead;
      closed.sent += socket.bytesWritten;
    });
  });
  app.decorate('connections', {
    open,
    totals() {
      let { received, sent } = closed;
      for (const socket of open) {
        received += socket.bytesRead;
        sent += socket.bytesWritten;
      }
      return { received, sent };
    },
  });
}
