import { type AddressInfo, createServer } from 'node:net';

/** Finds a free port. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/**
 * Finds a free port outside of the range from which systems choose the ports of outgoing connections, so that a server can
 * use it again after a restart.
 */
export async function freeServerPort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('listening', () => resolve(true)).once('error', () => resolve(false));
    });
    await new Promise((resolve) => probe.close(resolve));
    if (isFree) return port;
  }
}
