import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Creates the HTTP server. `installFastPath` adds the listener that handles requests. */
export function createServer(): Server {
  // An `import` of node:http also loads the `fetch` client, which would slow down every start.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({
    // By default Node silently uses the first of two duplicate headers.
    joinDuplicateHeaders: true,
    // `findMalformation` rejects it instead, with a problem document.
    requireHostHeader: false,
    // Without these timeouts a client that sends one byte a minute would hold its connection open indefinitely.
    headersTimeout: 15_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 72_000,
  });
  server.setTimeout(60_000);
  // Each connection takes memory even when idle, so more than this are closed on arrival.
  server.maxConnections = 10_000;
  // Node sends a bare 417 for an unknown `Expect` header; HTTP allows to ignore the header instead.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('request', (request, response) => latestResponses.set(request.socket, response));
  return server;
}

const latestResponses = new WeakMap<Socket, ServerResponse>();

/** Whether a complete request on this connection has not been responded to in full. */
export function isResponding(socket: Socket): boolean {
  const latest = latestResponses.get(socket);
  if (!latest) return false;
  // Only the response whose turn it is has the socket: other responses are finished, or wait for an earlier one.
  if (!latest.socket) return !latest.writableFinished;
  return latest.headersSent || latest.req.complete;
}
