import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { dayKey, type Moment } from '../../core/clock.ts';
import { currentPerson } from '../../core/schemas.ts';
import { type Versions, versionOf } from '../../database/versions.ts';
import type { Actor } from '../../store/access/actors.ts';
import type { TableName } from '../../store/tables.ts';
import type { Access } from '../auth/auth.ts';
import { asBytes, etagWithoutEncoding } from '../response/compression.ts';
import { matchIfNoneMatch } from '../response/etag.ts';

/** A response is fresh as long as the tables it reads have this version, on this day (`dayKey`). */
export type CacheDependencies = { reads: readonly TableName[]; version: number; day: string };

/** A response as it was sent, without the headers that differ between requests. */
export type CachedResponse = CacheDependencies & {
  /** The permission that is needed to get it. */
  access: Access;
  route: string;
  /** The ETag of the uncompressed response; without a body, the ETag that the client sent. */
  etag: string;
  /** Alternating names and values. The headers of a 304 leave out those that describe a body. */
  headers: readonly string[];
  headersOf304: readonly string[];
  /** Undefined if the response is streamed, or if the service has only sent a 304. */
  body: Buffer | undefined;
};

/** The total length of the cache keys of the latest requests: some thousand usual ones, or a few with very long headers. */
const maxRequestedLength = 500_000;

/** Responses in memory, at most `maxBytes`; the least recently used are evicted first. */
export class ResponseCache {
  readonly maxBytes: number;
  hits = 0;
  misses = 0;
  readonly #responses: LRUCache<string, CachedResponse>;
  readonly #requested = new LRUCache<string, true>({
    maxSize: maxRequestedLength,
    sizeCalculation: (_, name) => name.length,
  });
  readonly #refreshes = new Map<string, PromiseWithResolvers<void>>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#responses = new LRUCache({
      // 0 would mean no limit.
      maxSize: maxBytes || 1,
      maxEntrySize: Math.ceil(maxBytes / 4) || 1,
      sizeCalculation: sizeOf,
    });
  }

  get count(): number {
    return this.#responses.size;
  }

  get bytes(): number {
    return this.#responses.calculatedSize;
  }

  find(name: string): CachedResponse | undefined {
    return this.#responses.get(name);
  }

  /** Resolves when the in-flight refresh settles; undefined if there is none. */
  inFlight(name: string): Promise<void> | undefined {
    return this.#refreshes.get(name)?.promise;
  }

  /** Marks a refresh as in flight. Returns the function that settles it. */
  startRefresh(name: string): () => void {
    const refresh = Promise.withResolvers<void>();
    this.#refreshes.set(name, refresh);
    return () => this.#settle(name, refresh);
  }

  /** Whether the response is cached or was requested before. A query that is sent once would only evict others. */
  isRepeated(name: string): boolean {
    if (this.#responses.has(name) || this.#requested.has(name)) return true;
    this.#requested.set(name, true);
    return false;
  }

  store(name: string, response: CachedResponse): void {
    this.#responses.set(name, response);
    this.#settle(name, this.#refreshes.get(name));
  }

  /** For a response that can no longer be cached: no request may wait until its client has received it. */
  remove(name: string): void {
    this.#responses.delete(name);
    this.#settle(name, this.#refreshes.get(name));
  }

  #settle(name: string, refresh: PromiseWithResolvers<void> | undefined): void {
    refresh?.resolve();
    if (this.#refreshes.get(name) === refresh) this.#refreshes.delete(name);
  }
}

/** Caches each repeated response that declares its dependencies. Hooks that change the payload must be registered before. */
export function installResponseCache(app: FastifyInstance): void {
  app.decorate('responseCache', new ResponseCache(Math.floor(app.config.cache_mb * 1024 * 1024)));
  app.decorateReply('cacheDependencies');
  if (app.responseCache.maxBytes === 0) return;
  app.addHook('onSend', (request, reply, payload, done) => {
    const { statusCode, cacheDependencies } = reply;
    const isBuffered = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!cacheDependencies || !(statusCode === 200 || statusCode === 304) || dependsOnPerson(request))
      return done(null, payload);
    app.responseCache.misses++;
    const name = cacheKey(request.originalUrl, request, request.actor);
    if (statusCode === 304) storeNotModified(reply, name, cacheDependencies);
    else if (!isBuffered) storeStreamed(reply, name, cacheDependencies);
    else if (app.responseCache.isRepeated(name)) storeFull(reply, name, cacheDependencies, asBytes(payload));
    return done(null, payload);
  });

  function storeFull(reply: FastifyReply, name: string, dependencies: CacheDependencies, body: Buffer): void {
    const headers = sharedHeaders({ ...reply.getHeaders(), 'content-length': body.byteLength });
    const entry = { ...withoutBody(reply, dependencies), headers: headers.flat(), body };
    app.responseCache.store(name, entry);
  }

  /** A stream is too long to be cached, but its ETag is: clients that have it already get a 304. */
  function storeStreamed(reply: FastifyReply, name: string, dependencies: CacheDependencies): void {
    const isStored = app.responseCache.isRepeated(name) && reply.hasHeader('etag');
    if (isStored) app.responseCache.store(name, withoutBody(reply, dependencies));
    else app.responseCache.remove(name);
  }

  /** A client that revalidates its copy may never get the body, but each of its requests is a repeated one. */
  function storeNotModified(reply: FastifyReply, name: string, dependencies: CacheDependencies): void {
    const etag = String(reply.getHeader('etag'));
    const cached = app.responseCache.find(name);
    const isSame = cached !== undefined && matchIfNoneMatch(etag, cached.etag) !== undefined;
    const headersOf304 = sharedHeaders(reply.getHeaders()).flat();
    const entry = isSame ? cached : { ...routeOf(reply), etag, headers: [], headersOf304, body: undefined };
    app.responseCache.store(name, { ...entry, ...dependencies });
  }
}

const withoutBody = (reply: FastifyReply, dependencies: CacheDependencies): CachedResponse => ({
  ...dependencies,
  ...routeOf(reply),
  etag: etagWithoutEncoding(String(reply.getHeader('etag')), reply.getHeader('content-encoding')),
  headers: [],
  headersOf304: sharedHeaders(reply.getHeaders())
    .filter(([name]) => !name.startsWith('content-'))
    .flat(),
  body: undefined,
});

const routeOf = ({ request: { routeOptions } }: FastifyReply) => ({
  access: routeOptions.config.access ?? 'any',
  route: routeOptions.url ?? '',
});

const sharedHeaders = (headers: ReturnType<FastifyReply['getHeaders']>) =>
  Object.entries(headers)
    .filter(([name]) => !perRequestHeaders.test(name))
    .map(([name, value]) => [name, String(value)] as const);

const perRequestHeaders = /^(x-request-id|ratelimit|ratelimit-policy|access-control-.*|date|connection)$/;

/** Whether a filter asks for the current person, so that the same URL has another response for somebody else. */
export const dependsOnPerson = ({ query }: Pick<FastifyRequest, 'query'>): boolean =>
  Object.values(query as object).some(
    (value) => value === currentPerson || (Array.isArray(value) && value.includes(currentPerson)),
  );

/** A cached response is as good as a new one if its data is at least as new as `versions`. */
export const isFresh = ({ reads, version, day }: CacheDependencies, versions: Versions, now: Moment) =>
  version >= versionOf(versions, reads) && day === dayKey(now);

/**
 * The cache key: URL, accepted formats and encodings, and what the key or person may do. A response that
 * depends on anything else, such as the exact time or who asks, declares no dependencies and is not cached.
 */
export const cacheKey = (url: string, { headers }: Pick<FastifyRequest, 'headers'>, actor: Actor) =>
  `${url}\n${headers.accept}\n${headers['accept-encoding']}\n${permissionKey(actor)}`;

const permissionKeys = new WeakMap<Actor, string>();
function permissionKey(actor: Actor): string {
  const cached = permissionKeys.get(actor);
  if (cached !== undefined) return cached;
  const text = `${actor.scopes}\n${actor.project_ids}`;
  permissionKeys.set(actor, text);
  return text;
}

/** The approximate memory of an entry besides its body and key, so that many small entries count too. */
const overheadBytes = 1000;
const sizeOf = ({ body }: CachedResponse, name: string) =>
  (body?.byteLength ?? 0) + 2 * name.length + overheadBytes;
