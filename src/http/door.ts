import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Clock, Moment } from '../clock.ts';
import type { Versions } from '../database/versions.ts';
import type { Key } from '../keys/schema.ts';
import { keyFault, opens, secretOf } from './access.ts';
import { namedTag } from './conditions.ts';
import { framingFault } from './framing.ts';
import { isProbe, type Readiness } from './health.ts';
import { holds, type Kept, nameOf } from './kept.ts';
import { overloaded } from './load.ts';
import { noteAnswer } from './logging.ts';
import { writeProblem } from './problems.ts';
import { requestIdOf, traceIdOf } from './request-ids.ts';

/**
 * Answers what is kept and still holds before anything is routed; all else goes the ordinary way. What is decided here
 * is decided by the same functions as there; what they refuse is refused there, in words.
 */
export function openDoor(app: FastifyInstance, clock: Clock, readiness: Readiness): void {
  const [route] = app.server.listeners('request') as [RequestListener];
  app.server.removeListener('request', route);
  const isRefused = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!app.load.isOverloaded() || isProbe(request.url)) return false;
    if (!app.load.refuse(() => writeProblem(app, request, response, overloaded()))) request.destroy();
    return true;
  };

  let callers: Caller[] = [];
  app.server.on('request', (request, response) => {
    const start = performance.now();
    const secret = secretOf(request.headers);
    // A probe and a mistyped key get their response even while the database is away: they do not wait for it.
    const canWait = secret !== undefined && app.keyring.isPlausible(secret) && !isProbe(request.url);
    if (!canWait || !isPlain(request) || readiness.state !== 'ready') {
      return isRefused(request, response) ? undefined : route(request, response);
    }
    // All who come in one turn of the event loop are served by one look at the data, taken after they came.
    if (callers.push({ request, response, secret, start }) === 1) setImmediate(look);
    return undefined;
  });

  async function look(): Promise<void> {
    const waiting = callers;
    callers = [];
    let seen: Sight;
    try {
      seen = sight(await app.database.versions());
    } catch {
      waiting.forEach(inTurn);
      return;
    }
    for (const caller of waiting) answer(caller, seen);
  }

  /**
   * The ordinary way. What is made anew may hold the event loop for a while: after each one others are let in. Who waits
   * here counts among those worked on, and is refused when there are too many.
   */
  const toMake: Caller[] = [];
  function inTurn(caller: Caller): void {
    // Whose connection has ended meanwhile is neither answered nor waited for.
    if (caller.response.destroyed || isRefused(caller.request, caller.response)) return;
    app.load.begin(caller);
    app.load.underWay++;
    if (toMake.push(caller) === 1) setImmediate(makeNext);
  }
  function makeNext(): void {
    const next = toMake.shift();
    if (next) {
      app.load.end(next);
      if (!next.response.destroyed) route(next.request, next.response);
      // After `route`, which counts the request again: the count must not pass through 0 while there is work.
      app.load.underWay--;
    }
    if (toMake.length > 0) setImmediate(makeNext);
  }

  function sight(versions: Versions): Sight {
    const moment = clock();
    return { versions, moment, now: Date.parse(moment.now) };
  }

  function answer(caller: Caller, seen: Sight): unknown {
    const { request, response, secret } = caller;
    const key = app.keyring.known(secret, seen.versions);
    if (!key) return inTurn(caller);
    const name = nameOf(request.url ?? '', request, key);
    const kept = app.keptAnswers.find(name);
    // What has never been kept may be of a kind that is not: nobody waits for it.
    if (!kept) return inTurn(caller);
    if (send(kept, caller, key, seen)) return undefined;
    // Many who ask for the same when it has changed are answered with one.
    const making = app.keptAnswers.making(name);
    if (!making) {
      response.once('close', app.keptAnswers.make(name));
      return inTurn(caller);
    }
    return making.then(() => {
      // Whatever was written before this request came is in what was made: its version tells.
      const made = app.keptAnswers.find(name);
      if (!made || !send(made, caller, key, sight(seen.versions))) inTurn(caller);
    });
  }

  function send(
    kept: Kept,
    { request, response, start }: Caller,
    key: Key,
    { versions, moment, now }: Sight,
  ): boolean {
    if (!holds(kept, versions, moment)) return false;
    if (keyFault(key, moment) !== undefined || !opens(key, kept.access)) return false;
    let charge = app.keyLimits.charge(key, now);
    if (!charge.isAllowed) return false;
    const isKnown = namedTag(request.headers['if-none-match'], kept.etag) !== undefined;
    if (isKnown) charge = app.keyLimits.refund(key, now);
    app.keyUsage.noteUse(key, moment);
    const request_id = requestIdOf(request.headers);
    const status = isKnown ? 304 : 200;
    const headers = [...(isKnown ? kept.headersOf304 : kept.headers), 'x-request-id', request_id];
    for (const [header, value] of Object.entries(charge.headers)) headers.push(header, value);
    response.writeHead(status, headers).end(isKnown ? undefined : kept.body);
    app.keptAnswers.hits++;
    const answer = { method: 'GET', route: kept.route, status, ms: performance.now() - start, key: key.id };
    noteAnswer(app, app.log, answer, () => ({ request_id, trace_id: traceIdOf(request.headers) }));
    return true;
  }
}

/** Who waits at the door. */
type Caller = { request: IncomingMessage; response: ServerResponse; secret: string; start: number };

/** How things stood at a moment after they came. */
type Sight = { versions: Versions; moment: Moment; now: number };

/** Pages of other sites are told more, and rarely ask: theirs is the ordinary way. */
const isPlain = (request: IncomingMessage) =>
  request.method === 'GET' && request.headers.origin === undefined && framingFault(request) === undefined;
