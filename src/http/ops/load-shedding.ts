import type { IncomingMessage, ServerResponse } from 'node:http';
import { unavailable } from '../../core/errors.ts';

export type Load = ReturnType<typeof createLoadMonitor>;

/** All requests whose key is not known yet count as one client, because anybody can invent keys. */
export const unknownClient = '';

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

/** The requests that each known client may have in progress under overload, so that one client cannot keep out the rest. */
const minShare = 4;
/** The part of all requests in progress that one client may have. */
const maxShare = 3 / 4;

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

/** One per open connection, as the requests of a connection are handled one after another. */
const maxQueuedRejections = 10_000;

/** Without a rejection for this long, the service no longer sheds load. */
const sheddingPauseMs = 10_000;

/**
 * Counts the work of the service and decides when to shed load. A request that outlives its client is wasted work, so
 * requests beyond the service's capacity are rejected early, while that is cheap. The fast path decides which requests are
 * admitted, and counts them.
 */
export function createLoadMonitor(maxConcurrency: number, now: () => number = () => performance.now()) {
  const active = new Set<ServerResponse>();
  const admitted = new WeakMap<IncomingMessage, { response: ServerResponse; client: string }>();
  const activeByClient = new Map<string, number>();
  const queuedRejections: (() => void)[] = [];
  let queueStart = now();
  /** The work that ended since `start`. Older work counts less and less. */
  let ended = { start: queueStart, count: 0 };
  let inFlight = 0;
  let shed = 0;
  let shedding = { from: 0, until: Number.NEGATIVE_INFINITY };
  let tickStart: number | undefined;
  let resolveIdle = () => {};

  function startTick(): number {
    setImmediate(() => {
      tickStart = undefined;
    });
    return now();
  }

  const activeOf = (client: string) => activeByClient.get(client) ?? 0;

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

  function begin(response: ServerResponse, client: string): void {
    // The response may have begun before the end of the body, and its client may be gone.
    if (response.headersSent || response.closed) return;
    active.add(response);
    activeByClient.set(client, activeOf(client) + 1);
  }

  function end(response: ServerResponse, client: string): void {
    if (!active.has(response)) return;
    leave(response, client);
    ended.count++;
  }

  function leave(response: ServerResponse, client: string): void {
    active.delete(response);
    const others = activeOf(client) - 1;
    if (others > 0) activeByClient.set(client, others);
    else activeByClient.delete(client);
  }

  function sendRejections(): void {
    for (const sendRejection of queuedRejections.splice(0, rejectionsPerTick)) sendRejection();
    if (queuedRejections.length > 0) setImmediate(sendRejections);
  }

  return {
    /** Requests whose response has not ended. */
    get inFlight(): number {
      return inFlight;
    },
    /** Requests the service works on: neither those whose body is still arriving, nor those whose response is being read. */
    get active(): number {
      return active.size;
    },
    /** The total number of rejected requests. */
    get shed(): number {
      return shed;
    },
    /** How long requests have been rejected without a pause. */
    get sheddingSeconds(): number {
      return now() < shedding.until ? (now() - shedding.from) / 1000 : 0;
    },
    /** Counts a request until its response begins or its client disconnects. */
    admit(request: IncomingMessage, response: ServerResponse, client: string): void {
      if (response.closed) return;
      admitted.set(request, { response, client });
      inFlight++;
      // Emitted for every response that begins, whoever sends it: see `createServer`.
      response.once('head', () => end(response, client));
      response.once('close', () => {
        end(response, client);
        if (--inFlight === 0) resolveIdle();
      });
      if (hasBody(request)) request.once('end', () => begin(response, client));
      else begin(response, client);
    },
    /** A request is no work while it waits for something that others do not need, such as its turn for a hash. */
    async whileWaiting<T>(request: IncomingMessage, waiting: Promise<T>): Promise<T> {
      const known = admitted.get(request);
      if (known === undefined || !active.has(known.response)) return waiting;
      const { response, client } = known;
      leave(response, client);
      try {
        return await waiting;
      } finally {
        begin(response, client);
      }
    },
    /** Checked for each request before it is admitted. */
    admits(client: string): boolean {
      tickStart ??= startTick();
      const time = now();
      if (active.size >= maxConcurrency || activeOf(client) >= maxConcurrency * maxShare) return false;
      if (time - tickStart <= maxLoopBusyMs && !waitsTooLong(time)) return true;
      return client !== unknownClient && activeOf(client) < minShare;
    },
    /** Queues the function that sends a rejection. Returns false if the queue is full. */
    reject(sendRejection: () => void): boolean {
      shed++;
      const time = now();
      if (time >= shedding.until) shedding = { from: time, until: 0 };
      shedding.until = time + sheddingPauseMs;
      if (queuedRejections.length >= maxQueuedRejections) return false;
      if (queuedRejections.push(sendRejection) === 1) setImmediate(sendRejections);
      return true;
    },
    /** Resolves when no request is in flight. */
    idle(): Promise<void> {
      return new Promise((resolve) => {
        resolveIdle = resolve;
        if (inFlight === 0) resolve();
      });
    },
  };
}

export const overloaded = () => unavailable('The service is overloaded. Try again shortly.', 1);

/** A request whose body arrives slowly takes no work until it is complete. */
const hasBody = ({ method, headers }: IncomingMessage) =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
