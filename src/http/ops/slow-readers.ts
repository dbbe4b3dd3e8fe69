import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkReader } from '../../core/addresses.ts';
import { overloaded } from './load-shedding.ts';

/**
 * Bounds the memory of responses that wait for their clients. The bytes of a response stay in memory until the client has
 * read them, so connections whose clients do not read are closed.
 */
export type SlowReaders = {
  /** Bytes that wait for clients. */
  readonly unsentBytes: number;
  /** Connections closed because their clients read too slowly. */
  readonly closed: number;
  /** Throws if the client has not read its earlier responses, before another large one is built for it. */
  assertRoom(request: FastifyRequest): void;
  limits: ReaderLimits;
};

const defaultLimits = {
  /** While bytes wait for a client, it must take `minBytesPerSecond` in each period of this length. */
  periodMs: 30_000,
  minBytesPerSecond: 1024,
  /** Above these sizes, clients that have read nothing for `maxStallMs` lose their connections. */
  maxBytes: 64 * 1024 * 1024,
  maxBytesPerClient: 32 * 1024 * 1024,
  maxStallMs: 1000,
};
type ReaderLimits = typeof defaultLimits;

/** How often connections are checked, and the size from which a response is checked before it is sent. */
const intervalMs = 1000;
const minCheckedBytes = 64 * 1024;

/** A connection with unsent bytes. */
type Reader = {
  /** The key or the network of the client, known for large responses. */
  client: string | undefined;
  periodStart: number;
  sentBefore: number;
  sent: number;
  progressAt: number;
};

export function closeSlowReaders(app: FastifyInstance): void {
  const limits = { ...defaultLimits };
  const readers = new Map<Socket, Reader>();
  const networkOfClient = networkReader(app.config.trust_proxy);
  const clientOf = ({ actor, raw }: FastifyRequest) => actor?.id ?? networkOfClient(raw);
  let closed = 0;

  /** Notes what a client has read since the last check. */
  function update(socket: Socket, now: number, client?: string): void {
    const sent = sentBytes(socket);
    const reader = readers.get(socket);
    if (!reader) {
      readers.set(socket, { client, periodStart: now, sentBefore: sent, sent, progressAt: now });
      return;
    }
    if (sent > reader.sent) Object.assign(reader, { sent, progressAt: now });
    reader.client = client ?? reader.client;
  }

  function close(socket: Socket): void {
    readers.delete(socket);
    closed++;
    socket.destroy();
  }

  /** Closes stalled connections, the longest stalled first, until these bytes fit into this part of the limits. */
  function makeRoom(added: number, client: string | undefined, now: number, part = 1): boolean {
    for (const socket of readers.keys()) {
      if (socket.destroyed || socket.writableLength === 0) readers.delete(socket);
      else update(socket, now);
    }
    const ofClient = [...readers].filter(([, reader]) => client !== undefined && reader.client === client);
    const fits = (candidates: [Socket, Reader][], maxBytes: number) => {
      let bytes = unsentBytes(candidates.map(([socket]) => socket));
      if (bytes + added <= maxBytes) return true;
      candidates.sort(([, a], [, b]) => a.progressAt - b.progressAt);
      for (const [socket, { progressAt }] of candidates) {
        // A single response may be larger than the limit.
        if (bytes === 0 || bytes + added <= maxBytes) return true;
        if (now - progressAt < limits.maxStallMs) return false;
        bytes -= socket.writableLength;
        close(socket);
      }
      return true;
    };
    return fits(ofClient, part * limits.maxBytesPerClient) && fits([...readers], part * limits.maxBytes);
  }

  function isTooSlow(reader: Reader, now: number): boolean {
    const { periodStart, sentBefore, sent } = reader;
    const ms = now - periodStart;
    if (ms < limits.periodMs) return false;
    Object.assign(reader, { periodStart: now, sentBefore: sent });
    return (sent - sentBefore) / ms < limits.minBytesPerSecond / 1000;
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const socket of app.connections.open) {
      if (socket.writableLength > 0) update(socket, now);
    }
    makeRoom(0, undefined, now);
    for (const [socket, reader] of readers) if (isTooSlow(reader, now)) close(socket);
  }, intervalMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));

  app.decorate('slowReaders', {
    get unsentBytes() {
      return unsentBytes(app.connections.open);
    },
    get closed() {
      return closed;
    },
    assertRoom(request) {
      // The size is unknown, so half of the room must be left.
      if (readers.size > 0 && !makeRoom(0, clientOf(request), performance.now(), 0.5)) throw overloaded();
    },
    limits,
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0;
    if (bytes < minCheckedBytes || reply.raw.closed) return done(null, payload);
    const client = clientOf(request);
    const now = performance.now();
    if (!makeRoom(bytes, client, now)) {
      for (const name of headersOfBody) reply.removeHeader(name);
      return done(overloaded());
    }
    const { socket } = request.raw;
    // Fastify sends the response when the last hook is done, before the next tick.
    process.nextTick(() => {
      if (socket.writableLength > 0) update(socket, now, client);
    });
    done(null, payload);
  });
}

/** The headers that describe a response that is not sent after all. */
const headersOfBody = ['etag', 'link', 'content-disposition', 'last-modified'];

function unsentBytes(sockets: Iterable<Socket>): number {
  let bytes = 0;
  for (const { writableLength } of sockets) bytes += writableLength;
  return bytes;
}

/**
 * The bytes that the operating system has taken. While a large buffer is written, only the handle knows how much of it is
 * left; Node's own idle timeout reads the same number.
 */
function sentBytes(socket: Socket): number {
  const { _bytesDispatched = 0, _handle } = socket as Socket & SocketInternals;
  return _bytesDispatched - (_handle?.writeQueueSize ?? 0);
}

type SocketInternals = { _bytesDispatched?: number; _handle?: { writeQueueSize: number } | null };
