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
  /** Marks a request as active. */
  begin(request: object): void;
  end(request: object): void;
  /** Checked for each request before it is admitted. */
  isOverloaded(): boolean;
  /** Queues the function that sends a rejection. Returns false if the queue is full. */
  reject(sendRejection: () => void): boolean;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
};

/** Always admit this many requests; admit more only while the oldest has run for less than 2 s. */
const minConcurrency = 64;
const maxOldestRequestMs = 2000;

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
  /** The start time of each active request, the oldest first. */
  const active = new Map<object, number>();
  const queuedRejections: (() => void)[] = [];
  let tickStart: number | undefined;
  let resolveIdle = () => {};
  let inFlight = 0;

  function startTick(): number {
    setImmediate(() => {
      tickStart = undefined;
    });
    return now();
  }

  function isSlow(time: number): boolean {
    const [oldest = time] = active.values();
    return active.size >= minConcurrency && time - oldest > maxOldestRequestMs;
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
      if (!active.has(request)) active.set(request, now());
    },
    end(request) {
      active.delete(request);
    },
    isOverloaded() {
      tickStart ??= startTick();
      const time = now();
      return active.size >= maxConcurrency || isSlow(time) || time - tickStart > maxLoopBusyMs;
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
    if (!hasBody(request)) load.begin(request);
    // `close` also fires when the client disconnects before its response.
    reply.raw.once('close', () => {
      load.inFlight--;
      load.end(request);
    });
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    if (!reply.raw.closed) load.begin(request);
    done();
  });
  app.addHook('onSend', (request, _, payload, done) => {
    // A stream is sent at the speed of its reader.
    if (payload instanceof Readable) load.end(request);
    done(null, payload);
  });
}

export const overloaded = () => unavailable('The service is overloaded. Try again shortly.', 1);

const hasBody = ({ method, headers }: FastifyRequest) =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
