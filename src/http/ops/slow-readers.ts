import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkReader } from '../../core/network/addresses.ts';
import { overloaded } from './load-shedding.ts';

export type SlowReaders = ReturnType<typeof closeSlowReaders>;

const defaultLimits = {
  /** While bytes wait for a client, it must take `minBytesPerSecond` in each period of this length. */
  periodMs: 30_000,
  minBytesPerSecond: 1024,
  /**
   * Above the first size, the slowest clients lose their connections; above the second, those of one client that have
   * stalled for `maxStallMs`.
   */
  maxBytes: 32 * 1024 * 1024,
  maxBytesPerClient: 16 * 1024 * 1024,
  maxStallMs: 1000,
};

/** How often connections are checked, and the size from which a response is checked before it is sent. */
const intervalMs = 1000;
const minCheckedBytes = 64 * 1024;

/** A connection with unsent bytes. */
type Reader = {
  /** The key or the network of the client, known for large responses. */
  client: string | undefined;
  startedAt: number;
  sentAtStart: number;
  periodStart: number;
  sentBefore: number;
  sent: number;
  progressAt: number;
};

/**
 * Bounds the memory of responses that wait for their clients. The bytes of a response stay in memory until the client has
 * read them, so connections whose clients do not read are closed.
 */
export function closeSlowReaders(app: FastifyInstance) {
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
      const start = { startedAt: now, sentAtStart: sent, periodStart: now, sentBefore: sent };
      readers.set(socket, { client, ...start, sent, progressAt: now });
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

  /** Closes the slowest of these connections that may be closed, until `added` bytes fit. Returns whether they do. */
  function makeRoomAmong(
    candidates: [Socket, Reader][],
    { added, maxBytes, mayClose }: { added: number; maxBytes: number; mayClose(reader: Reader): boolean },
  ): boolean {
    let bytes = unsentBytes(candidates.map(([socket]) => socket));
    // A single response may be larger than the limit.
    const fits = () => bytes === 0 || bytes + added <= maxBytes;
    if (fits()) return true;
    candidates.sort(([, a], [, b]) => speedOf(a) - speedOf(b));
    for (const [socket, reader] of candidates) {
      if (!mayClose(reader)) continue;
      bytes -= socket.writableLength;
      close(socket);
      if (fits()) return true;
    }
    return fits();
  }

  function updateAll(now: number): void {
    for (const socket of readers.keys()) {
      if (socket.destroyed || socket.writableLength === 0) readers.delete(socket);
      else update(socket, now);
    }
  }

  /** A client that reads keeps its connections, and gets no more responses until it has read those. */
  const makeRoomOf = (client: string, added: number, now: number) =>
    makeRoomAmong(
      [...readers].filter(([, reader]) => reader.client === client),
      {
        added,
        maxBytes: limits.maxBytesPerClient,
        mayClose: ({ progressAt }) => now - progressAt >= limits.maxStallMs,
      },
    );

  /** Slow clients must not keep out others, even if they read a little. */
  const makeRoomInTotal = (added: number, now: number) =>
    makeRoomAmong([...readers], {
      added,
      maxBytes: limits.maxBytes,
      mayClose: ({ startedAt }) => now - startedAt >= limits.maxStallMs,
    });

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
    updateAll(now);
    makeRoomInTotal(0, now);
    for (const [socket, reader] of readers) if (isTooSlow(reader, now)) close(socket);
  }, intervalMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));

  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0;
    if (bytes < minCheckedBytes || reply.raw.closed) return done(null, payload);
    const client = clientOf(request);
    const now = performance.now();
    updateAll(now);
    if (!makeRoomOf(client, bytes, now) || !makeRoomInTotal(bytes, now)) {
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

  return {
    /** Bytes that wait for clients. */
    get unsentBytes(): number {
      return unsentBytes(app.connections.open);
    },
    /** Connections closed because their clients read too slowly. */
    get closed(): number {
      return closed;
    },
    /** Throws if the client has not read its earlier responses, before another large one is built for it. */
    assertRoom(request: FastifyRequest): void {
      if (readers.size === 0) return;
      const now = performance.now();
      updateAll(now);
      // The size is unknown, so half of the room must be left.
      const hasRoom =
        makeRoomOf(clientOf(request), limits.maxBytesPerClient / 2, now) &&
        makeRoomInTotal(limits.maxBytes / 2, now);
      if (!hasRoom) throw overloaded();
    },
    limits,
  };
}

/** The headers that describe a response that is not sent after all. */
const headersOfBody = ['etag', 'link', 'content-disposition', 'last-modified'];

const speedOf = ({ sent, sentAtStart, startedAt }: Reader) =>
  (sent - sentAtStart) / (performance.now() - startedAt);

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
