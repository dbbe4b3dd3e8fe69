import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Clock, Moment } from '../../core/clock.ts';
import type { Versions } from '../../database/versions.ts';
import type { Key } from '../../resources/keys/schema.ts';
import { bearerToken, hasAccess, keyError } from '../auth/auth.ts';
import { isProbe, type Readiness } from '../ops/health.ts';
import { overloaded } from '../ops/load-shedding.ts';
import { recordResponse } from '../ops/logging.ts';
import { requestIdOf, traceIdOf } from '../request/request-ids.ts';
import { findMalformation } from '../request/request-sanity.ts';
import { matchIfNoneMatch } from '../response/etag.ts';
import { writeProblem } from '../response/problems.ts';
import { type CachedResponse, cacheKey, isFresh } from './response-cache.ts';

/**
 * Answers what is cached and still isFresh before anything is routed; all else goes the ordinary way. What is decided here
 * is decided by the same functions as there; what they refuse is refused there, in words.
 */
export function installFastPath(app: FastifyInstance, clock: Clock, readiness: Readiness): void {
  const [route] = app.server.listeners('request') as [RequestListener];
  app.server.removeListener('request', route);
  const rejectIfOverloaded = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!app.load.isOverloaded() || isProbe(request.url)) return false;
    if (!app.load.refuse(() => writeProblem(app, request, response, overloaded()))) request.destroy();
    return true;
  };

  let arrivals: PendingRequest[] = [];
  app.server.on('request', (request, response) => {
    const start = performance.now();
    const secret = bearerToken(request.headers);
    // A probe and a mistyped key get their response even while the database is away: they do not wait for it.
    const canWait = secret !== undefined && app.keyCache.isPlausible(secret) && !isProbe(request.url);
    if (!canWait || !isEligible(request) || readiness.state !== 'ready') {
      return rejectIfOverloaded(request, response) ? undefined : route(request, response);
    }
    // All who come in one turn of the event loop are served by one checkVersions at the data, taken after they came.
    if (arrivals.push({ request, response, secret, start }) === 1) setImmediate(checkVersions);
    return undefined;
  });

  async function checkVersions(): Promise<void> {
    const waiting = arrivals;
    arrivals = [];
    let seen: VersionSnapshot;
    try {
      seen = snapshotAt(await app.database.versions());
    } catch {
      waiting.forEach(enqueueMiss);
      return;
    }
    for (const pending of waiting) answer(pending, seen);
  }

  /**
   * The ordinary way. What is made anew may hold the event loop for a while: after each one others are let in. Who waits
   * here counts among those worked on, and is refused when there are too many.
   */
  const missQueue: PendingRequest[] = [];
  function enqueueMiss(pending: PendingRequest): void {
    // Whose connection has ended meanwhile is neither answered nor waited for.
    if (pending.response.destroyed || rejectIfOverloaded(pending.request, pending.response)) return;
    app.load.begin(pending);
    app.load.inFlight++;
    if (missQueue.push(pending) === 1) setImmediate(routeNextMiss);
  }
  function routeNextMiss(): void {
    const next = missQueue.shift();
    if (next) {
      app.load.end(next);
      if (!next.response.destroyed) route(next.request, next.response);
      // After `route`, which counts the request again: the count must not pass through 0 while there is work.
      app.load.inFlight--;
    }
    if (missQueue.length > 0) setImmediate(routeNextMiss);
  }

  function snapshotAt(versions: Versions): VersionSnapshot {
    const moment = clock();
    return { versions, moment, now: Date.parse(moment.now) };
  }

  function answer(pending: PendingRequest, seen: VersionSnapshot): unknown {
    const { request, response, secret } = pending;
    const key = app.keyCache.known(secret, seen.versions);
    if (!key) return enqueueMiss(pending);
    const name = cacheKey(request.url ?? '', request, key);
    const cached = app.responseCache.find(name);
    // What has never been cached may be of a kind that is not: nobody waits for it.
    if (!cached) return enqueueMiss(pending);
    if (send(cached, pending, key, seen)) return undefined;
    // Many who ask for the same when it has changed are answered with one.
    const making = app.responseCache.making(name);
    if (!making) {
      response.once('close', app.responseCache.make(name));
      return enqueueMiss(pending);
    }
    return making.then(() => {
      // Whatever was written before this request came is in what was made: its version tells.
      const made = app.responseCache.find(name);
      if (!made || !send(made, pending, key, snapshotAt(seen.versions))) enqueueMiss(pending);
    });
  }

  function send(
    cached: CachedResponse,
    { request, response, start }: PendingRequest,
    key: Key,
    { versions, moment, now }: VersionSnapshot,
  ): boolean {
    if (!isFresh(cached, versions, moment)) return false;
    if (keyError(key, moment) !== undefined || !hasAccess(key, cached.access)) return false;
    let charge = app.keyLimits.charge(key, now);
    if (!charge.isAllowed) return false;
    const isKnown = matchIfNoneMatch(request.headers['if-none-match'], cached.etag) !== undefined;
    if (isKnown) charge = app.keyLimits.refund(key, now);
    app.keyUsage.recordUse(key, moment);
    const request_id = requestIdOf(request.headers);
    const status = isKnown ? 304 : 200;
    const headers = [...(isKnown ? cached.headersOf304 : cached.headers), 'x-request-id', request_id];
    for (const [header, value] of Object.entries(charge.headers)) headers.push(header, value);
    response.writeHead(status, headers).end(isKnown ? undefined : cached.body);
    app.responseCache.hits++;
    const answer = { method: 'GET', route: cached.route, status, ms: performance.now() - start, key: key.id };
    recordResponse(app, app.log, answer, () => ({ request_id, trace_id: traceIdOf(request.headers) }));
    return true;
  }
}

/** Who waits at the door. */
type PendingRequest = { request: IncomingMessage; response: ServerResponse; secret: string; start: number };

/** How things stood at a moment after they came. */
type VersionSnapshot = { versions: Versions; moment: Moment; now: number };

/** Pages of other sites are told more, and rarely ask: theirs is the ordinary way. */
const isEligible = (request: IncomingMessage) =>
  request.method === 'GET' && request.headers.origin === undefined && findMalformation(request) === undefined;
