import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Forwards each connection to the first of these local ports that accepts it. Returns its own port. */
export async function startForwarder(t: Pick<TestContext, 'after'>, ...ports: number[]): Promise<number> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    const forward = ([port, ...others]: number[]) => {
      if (port === undefined) return client.destroy();
      const upstream = connect(port, '127.0.0.1');
      track(upstream);
      upstream.once('connect', () => {
        upstream.off('error', next);
        client.pipe(upstream).pipe(client);
        client.once('close', () => upstream.destroy());
        upstream.once('close', () => client.destroy());
      });
      const next = () => forward(others);
      upstream.once('error', next);
    };
    forward(ports);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
