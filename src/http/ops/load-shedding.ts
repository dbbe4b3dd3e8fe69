import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from '../../core/errors.ts';

/**
 * Tracks load and decides when to shed it. A request that outlives its client is wasted work, so requests beyond the
 * service's capacity are rejected early, while that is cheap.
 */
export type Load = {
  /** Requests whose response has not ended. */
  inFlight: number;
  /** Requests being processed: not those whose body is still arriving, or whose response is being streamed. */
  readonly active: number;
  /** The total number of rejected requests. */
  shed: number;
  /** Marks a request as active, from its first call until `end`. */
  begin(request: IncomingMessage): void;
  end(request: IncomingMessage): void;
  /** Checked for each request before it is admitted. */
  isOverloaded(): boolean;
  /** Queues the function that sends a rejection. Returns false if the queue is full. */
  reject(sendRejection: () => void): boolean;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
};

/** Always admit this many requests. A request beyond them is admitted if it would not wait too long. */
const minConcurrency = 64;

/**
 * A burst of requests forms a queue that drains again; only a queue that stays is overload. As in CoDel, the longest
 * acceptable wait is therefore shorter once there has been a queue for a whole interval.
 */
const intervalMs = 1000;
const maxWaitMs = { burst: 1000, overload: 500 };

/** Requests that must have ended before their rate predicts a wait. */
const minEnded = 16;

/**
 * Shed load when one tick of the event loop takes longer than this. A busy machine causes ticks of some hundred
 * milliseconds now and then, which is no overload.
 */
const maxLoopBusyMs = 2000;

/**
 * Rejections sent per tick. Thousands of requests may arrive at once; rejecting all of them immediately would starve
 * the admitted requests, which need several ticks.
 */
const rejectionsPerTick = 4;

/** One per open connection. Only a client that pipelines requests causes more. */
const maxQueuedRejections = 10_000;

export function createLoadMonitor(maxConcurrency: number, now: () => number = () => performance.now()): Load {
  const active = new Set<IncomingMessage>();
  const queuedRejections: (() => void)[] = [];
  let queueStart = now();
  /** The requests that ended since `start`. Older ones count less and less. */
  let ended = { start: queueStart, count: 0 };
  let tickStart: number | undefined;
  let resolveIdle = () => {};
  let inFlight = 0;

  function startTick(): number {
    setImmediate(() => {
      tickStart = undefined;
    });
    return now();
  }

  /** Predicts the wait of a new request from the number of active requests and the rate at which they end. */
  function waitsTooLong(time: number): boolean {
    if (active.size < minConcurrency / 2) {
      queueStart = time;
      ended = { start: time, count: 0 };
    }
    const isBurst = time - queueStart < intervalMs;
    if (active.size < minConcurrency || (isBurst && ended.count < minEnded)) return false;
    const elapsedMs = time - ended.start;
    const waitMs = (active.size * elapsedMs) / ended.count;
    if (elapsedMs > intervalMs) ended = { start: time - elapsedMs / 2, count: ended.count / 2 };
    return waitMs > (isBurst ? maxWaitMs.burst : maxWaitMs.overload);
  }

  function sendRejections(): void {
    for (const sendRejection of queuedRejections.splice(0, rejectionsPerTick)) sendRejection();
    if (queuedRejections.length > 0) setImmediate(sendRejections);
  }

  return {
    get inFlight() {
      return inFlight;
    },
    set inFlight(count) {
      inFlight = count;
      if (count === 0) resolveIdle();
    },
    get active() {
      return active.size;
    },
    shed: 0,
    begin(request) {
      active.add(request);
    },
    end(request) {
      if (active.delete(request)) ended.count++;
    },
    isOverloaded() {
      tickStart ??= startTick();
      const time = now();
      return active.size >= maxConcurrency || waitsTooLong(time) || time - tickStart > maxLoopBusyMs;
    },
    reject(sendRejection) {
      this.shed++;
      if (queuedRejections.length >= maxQueuedRejections) return false;
      if (queuedRejections.push(sendRejection) === 1) setImmediate(sendRejections);
      return true;
    },
    idle() {
      return new Promise((resolve) => {
        resolveIdle = resolve;
        if (inFlight === 0) resolve();
      });
    },
  };
}

/** Counts admitted requests. The fast path decides whether to admit a request. */
export function trackRequests(app: FastifyInstance): void {
  const load = createLoadMonitor(app.config.max_concurrent_requests);
  app.decorate('load', load);

  app.addHook('onRequest', (request, reply, done) => {
    load.inFlight++;
    // A request whose body arrives slowly does not count against the concurrency limit.
    if (!hasBody(request)) load.begin(request.raw);
    // `close` also fires when the client disconnects before its response.
    reply.raw.once('close', () => {
      load.inFlight--;
      load.end(request.raw);
    });
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    if (!reply.raw.closed) load.begin(request.raw);
    done();
  });
  app.addHook('onSend', (request, _, payload, done) => {
    // A stream is sent at the speed of its reader.
    if (payload instanceof Readable) load.end(request.raw);
    done(null, payload);
  });
}

export const overloaded = () => unavailable('The service is overloaded. Try again shortly.', 1);

const hasBody = ({ method, headers }: FastifyRequest) =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
