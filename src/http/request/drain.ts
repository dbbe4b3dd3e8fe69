import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Within these limits a proxy has read the response, or sent the whole body. */
const maxDrain = { bytes: 64 * 1024 * 1024, ms: 5_000 };

/** A body up to this size is read to its end, so that the connection can be used again. */
const maxKeepAliveBytes = 64 * 1024;

/**
 * Reads on after a response that precedes the end of its request, such as 401 for a large body. Closing a connection
 * with unread data resets it, and a proxy would report 502 to its client instead of the response.
 */
export function drainRejectedRequests(app: FastifyInstance): void {
  app.server.on('request', (request, response) => {
    if (!hasBody(request)) return;
    // Before Node's own listener, which closes the connection.
    response.prependOnceListener('finish', () => {
      if (request.complete) return;
      const { socket } = request;
      // Node calls this if the response is the last one on the connection.
      socket.destroySoon = () => closeAfterDraining(socket);
    });
  });
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (hasLargeRest(raw)) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Whether so much of the body is missing that closing the connection is cheaper than reading on. */
export const hasLargeRest = (request: IncomingMessage): boolean =>
  hasBody(request) &&
  !request.complete &&
  !(Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= maxKeepAliveBytes);

const hasBody = ({ headers }: IncomingMessage) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/**
 * Ends the sending side, and closes the connection when the client does, or at a limit. The bytes bypass the HTTP
 * parser: after a malformed request they could be mistaken for the next one.
 */
export function closeAfterDraining(socket: Socket, { bytes, ms } = maxDrain): void {
  socket.end();
  let drained = 0;
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
  socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > bytes) socket.destroy();
  });
  socket.resume();
}
