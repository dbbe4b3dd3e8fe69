import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeAfterDraining } from './request/drain.ts';

/** Creates the HTTP server. `installFastPath` adds the listener that handles requests. */
export function createServer(): Server {
  // An `import` of node:http also loads the `fetch` client, which would slow down every start.
  const { createServer, ServerResponse } = process.getBuiltinModule('node:http');
  /** Emits `head` when it begins, whether the framework, an error handler or a route of its own sends it. */
  class ObservableResponse extends ServerResponse {
    // biome-ignore lint/suspicious/noExplicitAny: the method has several overloads
    override writeHead(...args: any[]): this {
      this.emit('head');
      return super.writeHead(...(args as [number]));
    }
  }
  const server = createServer({
    ServerResponse: ObservableResponse,
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
  // Reading the address stores it, so that a log line still has it when the connection is closed.
  server.on('connection', (socket) => void socket.remoteAddress);
  server.on('request', (request, response) => {
    latestResponses.set(request.socket, response);
    if (request.httpVersion === '1.0') resetIncompleteResponses(request.socket);
  });
  return server;
}

/** In HTTP/1.0 a response can end with its connection, so a response that breaks off must not end like a complete one. */
function resetIncompleteResponses(socket: Socket): void {
  if (Object.hasOwn(socket, 'destroy')) return;
  socket.destroy = (error) => {
    Reflect.deleteProperty(socket, 'destroy');
    const isWhole = latestResponses.get(socket)?.writableFinished || !socket.writable;
    return isWhole ? socket.destroy(error) : socket.resetAndDestroy();
  };
  // Before Node ends the connection, because the client has ended its side.
  socket.prependOnceListener('end', () => socket.destroy());
}

/** How many requests may wait on a connection for the response to an earlier one. */
const maxPipelined = 64;

/**
 * Handles the requests of a connection one after another. Responses are sent in that order anyway, and a client that
 * pipelines requests without reading keeps only one response in memory.
 */
export function inTurn(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // Node assigns the connection to a response when the previous one has been sent.
    if (response.socket) return handle(request, response);
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > maxPipelined) return void socket.destroy();
    waiting.set(socket, count);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      const isOver = () => response.closed || (!request.complete && !socket.writable);
      setImmediate(() => isOver() || handle(request, response));
    });
  };
}

const latestResponses = new WeakMap<Socket, ServerResponse>();

/**
 * Closes a connection with broken bytes when the complete requests before them have been responded to. False if there are
 * none left, so that the response to the broken bytes can be sent.
 */
export function closeAfterResponses(socket: Socket): boolean {
  const latest = latestResponses.get(socket);
  // Only the response whose turn it is has the socket: other responses are finished, or wait for an earlier one.
  if (!latest || (latest.socket ? !latest.headersSent && !latest.req.complete : latest.writableFinished))
    return false;
  // The parser would report each further piece.
  socket.removeAllListeners('data').on('data', () => {});
  socket.destroySoon = () => closeAfterDraining(socket);
  if (!latest.headersSent) latest.setHeader('connection', 'close');
  latest.once(latest.socket || latest.req.complete ? 'finish' : 'socket', () => socket.destroySoon());
  return true;
}
