import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { limits } from '../schemas.ts';

/**
 * How much is going on. What is taken in beyond what can be done waits, and what waits longer than its client does is
 * done for nothing: so it is refused, while that costs little.
 */
export type Load = {
  /** Requests that have come and are not answered to their end. */
  underWay: number;
  /** Those of them that something is done for: not those whose body is still coming, or whose answer is being read. */
  working: number;
  /** Bytes of memory that bodies on their way in may take. */
  bodyBytes: number;
  /** How many were refused. */
  shed: number;
  /** Asked of each request before it is taken in. */
  isOverloaded(): boolean;
  /** Calls `answer` when it is its turn, unless too many wait for theirs: then it says false. */
  refuse(answer: () => void): boolean;
  /** Ends when nothing is under way. */
  idle(): Promise<void>;
};

/**
 * Milliseconds for which requests are taken in one after another, before all else that goes on has its turn. A machine
 * that others keep busy takes some hundred now and then, which is no reason to refuse anyone.
 */
const longestRound = 2000;

/**
 * Refusals sent in one turn of the event loop. Thousands come at once; sent as they come, they would keep what was taken
 * in from ever being done, because that takes several turns.
 */
const refusalsInTurn = 4;

/** One for each connection that may be open: only who sends requests without waiting for answers makes more. */
const mostRefusals = 10_000;

/** All bodies on their way in together. They are small: this is for those who pretend otherwise. */
const mostBodyBytes = 64 * 1024 * 1024;

export function watchLoad(mostWorking: number, now: () => number = () => performance.now()): Load {
  const refusals: (() => void)[] = [];
  let roundBegan: number | undefined;
  let whenIdle = () => {};
  let underWay = 0;

  function beginRound(): number {
    setImmediate(() => {
      roundBegan = undefined;
    });
    return now();
  }

  function refuseSome(): void {
    for (const answer of refusals.splice(0, refusalsInTurn)) answer();
    if (refusals.length > 0) setImmediate(refuseSome);
  }

  return {
    get underWay() {
      return underWay;
    },
    set underWay(count) {
      underWay = count;
      if (count === 0) whenIdle();
    },
    working: 0,
    bodyBytes: 0,
    shed: 0,
    isOverloaded() {
      roundBegan ??= beginRound();
      return this.working >= mostWorking || now() - roundBegan > longestRound;
    },
    refuse(answer) {
      this.shed++;
      if (refusals.length >= mostRefusals) return false;
      if (refusals.push(answer) === 1) setImmediate(refuseSome);
      return true;
    },
    idle() {
      return new Promise((resolve) => {
        whenIdle = resolve;
        if (underWay === 0) resolve();
      });
    },
  };
}

/** Keeps count of the requests that are taken in; whether to take one in is asked at the door. */
export function countRequests(app: FastifyInstance): void {
  const load = watchLoad(app.config.max_requests);
  app.decorate('load', load);

  app.decorateRequest('isWorkedOn', false);
  const work = (request: FastifyRequest, isWorkedOn: boolean) => {
    if (request.isWorkedOn !== isWorkedOn) load.working += isWorkedOn ? 1 : -1;
    request.isWorkedOn = isWorkedOn;
  };

  app.addHook('onRequest', (request, reply, done) => {
    load.underWay++;
    // Who sends a body slowly takes nobody's place.
    if (bodyLength(request) === 0) work(request, true);
    // Also when the client goes away before its answer.
    reply.raw.once('close', () => {
      load.underWay--;
      work(request, false);
    });
    done();
  });
  app.addHook('preValidation', (request, _, done) => {
    work(request, true);
    done();
  });
  app.addHook('onSend', (request, _, payload, done) => {
    // A stream goes at the pace of its reader.
    if (payload instanceof Readable) work(request, false);
    done(null, payload);
  });
}

/** Refuses a body when those on their way in could already fill the memory. Asked only of who has a good key. */
export function limitBodies(app: FastifyInstance): void {
  const { load } = app;
  app.addHook('onRequest', (request, reply, done) => {
    const length = bodyLength(request);
    if (length === 0) return done();
    if (load.bodyBytes + length > mostBodyBytes) return done(overloaded());
    load.bodyBytes += length;
    reply.raw.once('close', () => {
      load.bodyBytes -= length;
    });
    done();
  });
}

/** What a body may take in memory. */
function bodyLength({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? limits.body_bytes;
  return headers['transfer-encoding'] === undefined
    ? Math.min(Number(headers['content-length'] ?? 0), most)
    : most;
}

export const overloaded = () =>
  new Problem('unavailable', 'There is more to do than can be done right now. Try again shortly.', {
    headers: { 'retry-after': '1' },
  });
