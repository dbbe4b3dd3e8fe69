import type { FastifyRequest } from 'fastify';

/** Runs work during which the connection is silent for long, such as an import. That must not count as idle. */
export async function whileSilent<T>(
  { raw: { socket }, server }: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    socket.setTimeout(server.server.timeout);
  }
}
