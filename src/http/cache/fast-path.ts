import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Moment } from '../../core/clock.ts';
import { createTurns } from '../../core/concurrency.ts';
import type { Versions } from '../../database/versions.ts';
import type { Actor } from '../../store/access/actors.ts';
import { actorError, hasAccess } from '../auth/auth.ts';
import { isProbe, isServing, type Readiness } from '../ops/health.ts';
import { overloaded, unknownClient } from '../ops/load-shedding.ts';
import { recordResponse, traceFields } from '../ops/logging.ts';
import { requestIdOf } from '../request/request-ids.ts';
import { findMalformation } from '../request/request-sanity.ts';
import { matchIfNoneMatch } from '../response/etag.ts';
import { writeProblem } from '../response/problems.ts';
import { inTurn } from '../server.ts';
import { type CachedResponse, cacheKey, isFresh } from './response-cache.ts';

/** A request that has waited this long is rejected: its client may have given up, and those behind it still wait. */
const maxQueueMs = 2000;

/** Responses are sent for at most this long in one turn of the event loop: many clients may wait for a large one. */
const maxTurnMs = 20;

/**
 * Serves fresh cached responses before routing; every other request goes through Fastify. Both paths use the same
 * functions for keys, access and rate limits. A request that fails such a check goes to Fastify, which sends the error.
 */
export function installFastPath(app: FastifyInstance, readiness: Readiness): void {
  const turns = createTurns(maxTurnMs);
  const idleMs = app.config.session_idle_days * 86_400_000;
  /** Requests without a key have turns of their own, so that no request with a key waits behind them. */
  const turnsWithoutKey = createTurns(maxTurnMs);

  /** Counts a request and returns its client, or rejects it. Every request passes here before it reaches Fastify. */
  function admit(pending: PendingRequest): string | undefined {
    const { request, response, secret } = pending;
    // The client may have disconnected while the request waited for its turn or for the version check.
    if (response.closed) return undefined;
    const client = app.actorCache.recentId(secret) ?? unknownClient;
    if (isProbe(request.url) || app.load.admits(client)) {
      app.load.admit(request, response, client);
      return client;
    }
    reject(pending);
    return undefined;
  }
  function route(pending: PendingRequest): void {
    if (admit(pending) !== undefined) app.routing(pending.request, pending.response);
  }
  function reject({ request, response }: PendingRequest): void {
    if (app.load.sheddingSeconds === 0)
      app.log.warn({ active: app.load.active }, 'The service is overloaded and rejects requests.');
    if (!app.load.reject(() => writeProblem(app, request, response, overloaded()))) request.destroy();
  }

  let arrivals: PendingRequest[] = [];
  app.server.on(
    'request',
    inTurn((request, response) => {
      const start = performance.now();
      if (!isProbe(request.url)) app.tracing?.start(request, response);
      const secret = app.secretOf(request.headers);
      const pending = { request, response, secret: secret ?? '', start };
      // Probes and malformed keys get a response without the database, so that they work while it is unavailable.
      if (isProbe(request.url)) return route(pending);
      const isPlausible = secret !== undefined && app.actorCache.isPlausible(secret);
      // Many clients may ask for a large document at once.
      if (!isPlausible) return turnsWithoutKey.run(() => route(pending));
      if (!isEligible(request) || !isServing(readiness)) return route(pending);
      // Requests that arrive in the same tick share one version check, started after the last of them arrived.
      if (arrivals.push(pending) === 1) {
        const batch = arrivals;
        setImmediate(() => checkVersions().catch((error) => abandon(batch, error)));
      }
    }),
  );

  async function checkVersions(): Promise<void> {
    const batch = arrivals;
    arrivals = [];
    const versions = await readVersions();
    // After a change of the time zone, authentication reads it.
    if (!versions || !app.organizationClock.isCurrent(versions)) {
      batch.forEach(enqueueMiss);
      return;
    }
    const snapshot = snapshotAt(versions);
    for (const pending of batch) turns.run(() => respond(pending, snapshot));
  }

  /** Nobody waits for the check, so an unexpected error would end the process. Clients see that the connection is closed. */
  function abandon(batch: readonly PendingRequest[], error: unknown): void {
    app.log.error(error);
    for (const { request } of batch) request.destroy();
  }

  async function readVersions(): Promise<Versions | undefined> {
    try {
      return await app.database.versions();
    } catch {
      return undefined;
    }
  }

  /**
   * Routes cache misses one per tick, because each may block the event loop for a while, and clients in turn, so that one
   * with many requests does not hold up the others. Queued requests count as active, so that the service sheds load when
   * there are many.
   */
  const queues = new Map<string, PendingRequest[]>();
  function enqueueMiss(pending: PendingRequest): void {
    const client = admit(pending);
    if (client === undefined) return;
    const queue = queues.get(client);
    if (queue) queue.push(pending);
    else if (queues.set(client, [pending]).size === 1) setImmediate(routeNextMiss);
  }
  function routeNextMiss(): void {
    for (const [client, queue] of queues) {
      const next = queue.shift();
      // Behind the other clients.
      queues.delete(client);
      if (queue.length > 0) queues.set(client, queue);
      if (!next || next.response.closed) continue;
      if (performance.now() - next.start > maxQueueMs) reject(next);
      else app.routing(next.request, next.response);
      break;
    }
    if (queues.size > 0) setImmediate(routeNextMiss);
  }

  function snapshotAt(versions: Versions): VersionSnapshot {
    const moment = app.clock();
    return { versions, moment, now: Date.parse(moment.now) };
  }

  function respond(pending: PendingRequest, snapshot: VersionSnapshot, hasWaited = false): void {
    const { request, response, secret } = pending;
    // The client has disconnected, so `close`, which ends a refresh, was emitted before.
    if (response.closed) return;
    const actor = app.actorCache.getCached(secret, snapshot.versions);
    if (!actor) {
      enqueueMiss(pending);
      return;
    }
    const name = cacheKey(request.url ?? '', request, actor);
    const cached = app.responseCache.find(name);
    if (cached && sendCached(cached, pending, actor, snapshot)) return;
    // A body that was never cached may be a stream, which is not, so do not wait for an identical request.
    if (!cached?.body || hasWaited) {
      enqueueMiss(pending);
      return;
    }
    // One request refreshes a stale entry; identical requests wait for it and share the result.
    const inFlight = app.responseCache.inFlight(name);
    if (!inFlight) {
      response.once('close', app.responseCache.startRefresh(name));
      enqueueMiss(pending);
      return;
    }
    // The versions of this request decide whether the refreshed entry includes all earlier writes.
    inFlight
      .then(() => turns.run(() => respond(pending, snapshotAt(snapshot.versions), true)))
      .catch((error) => abandon([pending], error));
  }

  function sendCached(
    cached: CachedResponse,
    { request, response, start }: PendingRequest,
    actor: Actor,
    { versions, moment, now }: VersionSnapshot,
  ): boolean {
    if (!isFresh(cached, versions, moment)) return false;
    const isNotModified = matchIfNoneMatch(request.headers['if-none-match'], cached.etag) !== undefined;
    if (!isNotModified && cached.body === undefined) return false;
    if (actorError(actor, moment, idleMs) !== undefined || !hasAccess(actor, cached.access)) return false;
    let charge = app.actorLimits.charge(actor, now);
    if (!charge.isAllowed) return false;
    if (isNotModified) charge = app.actorLimits.refund(actor, now);
    app.usage.recordUse(actor, moment);
    const request_id = requestIdOf(request.headers);
    const status = isNotModified ? 304 : 200;
    const headers = [...(isNotModified ? cached.headersOf304 : cached.headers), 'x-request-id', request_id];
    for (const [header, value] of Object.entries(charge.headers)) headers.push(header, value);
    response.writeHead(status, headers).end(isNotModified ? undefined : cached.body);
    app.responseCache.hits++;
    const logged = {
      method: 'GET',
      route: cached.route,
      status,
      ms: performance.now() - start,
      key: actor.id,
    };
    recordResponse(app, app.log, logged, () => ({
      request_id,
      address: app.addressOf(request),
      ...traceFields(app, request),
    }));
    app.tracing?.end(request, { ...logged, isCached: true });
    return true;
  }
}

/** A request that waits for the version check. */
type PendingRequest = { request: IncomingMessage; response: ServerResponse; secret: string; start: number };

/** The table versions and the time at a moment after the requests arrived. */
type VersionSnapshot = { versions: Versions; moment: Moment; now: number };

/** Cross-origin requests need CORS headers and are rare, so they go through Fastify. */
const isEligible = (request: IncomingMessage) =>
  request.method === 'GET' && request.headers.origin === undefined && findMalformation(request) === undefined;
