import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';

/**
 * How much is going on. What is taken in beyond what can be done waits, and what waits longer than its client does is
 * done for nothing: so it is refused, while that costs little.
 */
export type Load = {
  /** Requests that have come and are not answered to their end. */
  inFlight: number;
  /** Those of them that something is done for: not those whose body is still coming, or whose answer is being read. */
  readonly working: number;
  /** How many were refused. */
  shed: number;
  /** Something is done for a request from now on. */
  begin(request: object): void;
  end(request: object): void;
  /** Asked of each request before it is taken in. */
  isOverloaded(): boolean;
  /** Calls `answer` when it is its turn, unless too many wait for theirs: then it says false. */
  refuse(answer: () => void): boolean;
  /** Ends when nothing is under way. */
  idle(): Promise<void>;
};

/**
 * So many are always taken in. More only while none has been worked on for longer than this many milliseconds: then they
 * take long, and those that come would take longer still.
 */
const few = 64;
const maxOldestRequestMs = 2000;

/**
 * Milliseconds for which requests are taken in one after another, before all else that goes on has its turn. A machine
 * that others keep busy takes some hundred now and then, which is no reason to refuse anyone.
 */
const maxLoopBusyMs = 2000;

/**
 * Refusals sent in one turn of the event loop. Thousands come at once; sent as they come, they would keep what was taken
 * in from ever being done, because that takes several turns.
 */
const rejectionsPerTick = 4;

/** One for each connection that may be open: only who sends requests without waiting for answers makes more. */
const maxQueuedRejections = 10_000;

export function createLoadMonitor(most: number, now: () => number = () => performance.now()): Load {
  /** When each was begun, the oldest first. */
  const working = new Map<object, number>();
  const findRejections: (() => void)[] = [];
  let roundBegan: number | undefined;
  let whenIdle = () => {};
  let inFlight = 0;

  function beginRound(): number {
    setImmediate(() => {
      roundBegan = undefined;
    });
    return now();
  }

  function isSlow(time: number): boolean {
    const [oldest = time] = working.values();
    return working.size >= few && time - oldest > maxOldestRequestMs;
  }

  function refuseSome(): void {
    for (const answer of findRejections.splice(0, rejectionsPerTick)) answer();
    if (findRejections.length > 0) setImmediate(refuseSome);
  }

  return {
    get inFlight() {
      return inFlight;
    },
    set inFlight(count) {
      inFlight = count;
      if (count === 0) whenIdle();
    },
    get working() {
      return working.size;
    },
    shed: 0,
    begin(request) {
      if (!working.has(request)) working.set(request, now());
    },
    end(request) {
      working.delete(request);
    },
    isOverloaded() {
      roundBegan ??= beginRound();
      const time = now();
      return working.size >= most || isSlow(time) || time - roundBegan > maxLoopBusyMs;
    },
    refuse(answer) {
      this.shed++;
      if (findRejections.length >= maxQueuedRejections) return false;
      if (findRejections.push(answer) === 1) setImmediate(refuseSome);
      return true;
    },
    idle() {
      return new Promise((resolve) => {
        whenIdle = resolve;
        if (inFlight === 0) resolve();
      });
    },
  };
}

/** Keeps count of the requests that are taken in; whether to take one in is asked at the door. */
export function trackRequests(app: FastifyInstance): void {
  const load = createLoadMonitor(app.config.max_concurrent_requests);
  app.decorate('load', load);

  app.addHook('onRequest', (request, reply, done) => {
    load.inFlight++;
    // Who sends a body slowly takes nobody's place.
    if (!hasBody(request)) load.begin(request);
    // Also when the client goes away before its answer.
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
    // A stream goes at the pace of its reader.
    if (payload instanceof Readable) load.end(request);
    done(null, payload);
  });
}

export const overloaded = () =>
  new Problem('unavailable', 'There is more to do than can be done right now. Try again shortly.', {
    headers: { 'retry-after': '1' },
  });

const hasBody = ({ method, headers }: FastifyRequest) =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
