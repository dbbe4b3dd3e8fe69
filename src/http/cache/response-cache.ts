import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Moment } from '../../core/clock.ts';
import type { TableName } from '../../database/tables.ts';
import { type Versions, versionOf } from '../../database/versions.ts';
import type { Key } from '../../resources/keys/schema.ts';
import type { Access } from '../auth/auth.ts';
import { asBytes, etagWithoutEncoding } from '../response/compression.ts';

/** What an answer was made from: it isFresh for as long as these tables have this version, on this day. */
export type CacheDependencies = { reads: readonly TableName[]; version: number; today: string };

/** An answer as it was sent, but for what differs with each request. */
export type CachedResponse = CacheDependencies & {
  /** What a key needs to be given it. */
  access: Access;
  route: string;
  /** That of the answer before it was compressed. */
  etag: string;
  /** Names and values by turns; those of 304 say nothing of a body. */
  headers: readonly string[];
  headersOf304: readonly string[];
  body: Buffer;
};

/** Answers in memory, at most `maxBytes` of them; what was asked for longest ago goes first. */
export class ResponseCache {
  readonly maxBytes: number;
  bytes = 0;
  hits = 0;
  misses = 0;
  readonly #answers = new Map<string, CachedResponse>();
  readonly #making = new Map<string, PromiseWithResolvers<void>>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get count(): number {
    return this.#answers.size;
  }

  find(name: string): CachedResponse | undefined {
    const answer = this.#answers.get(name);
    if (answer && this.#answers.size > 1) {
      this.#answers.delete(name);
      this.#answers.set(name, answer);
    }
    return answer;
  }

  /** Ends when the answer that somebody is making anew is kept, or will not be; undefined when nobody is. */
  making(name: string): Promise<void> | undefined {
    return this.#making.get(name)?.promise;
  }

  /** Says that somebody makes an answer anew. Gives what to call when they are through with it. */
  make(name: string): () => void {
    const making = Promise.withResolvers<void>();
    this.#making.set(name, making);
    return () => this.#made(name, making);
  }

  keep(name: string, answer: CachedResponse): void {
    this.#forget(name);
    this.#made(name, this.#making.get(name));
    const size = sizeOf(name, answer);
    if (size > this.maxBytes / 4) return;
    this.#answers.set(name, answer);
    this.bytes += size;
    for (const oldest of this.#answers.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.#forget(oldest);
    }
  }

  #made(name: string, making: PromiseWithResolvers<void> | undefined): void {
    making?.resolve();
    if (this.#making.get(name) === making) this.#making.delete(name);
  }

  #forget(name: string): void {
    const answer = this.#answers.get(name);
    if (!answer) return;
    this.#answers.delete(name);
    this.bytes -= sizeOf(name, answer);
  }
}

/** Keeps each answer that says what it was made from. Hooks that change what is sent must come before. */
export function installResponseCache(app: FastifyInstance): void {
  app.decorate('responseCache', new ResponseCache(app.config.cache_mb * 1024 * 1024));
  app.decorateReply('cacheDependencies');
  if (app.responseCache.maxBytes === 0) return;
  app.addHook('onSend', (request, reply, payload, done) => {
    const { cacheDependencies } = reply;
    if (
      cacheDependencies &&
      reply.statusCode === 200 &&
      (typeof payload === 'string' || Buffer.isBuffer(payload))
    ) {
      app.responseCache.misses++;
      const body = asBytes(payload);
      const headers = Object.entries({ ...reply.getHeaders(), 'content-length': body.byteLength })
        .filter(([name]) => !ofEachRequest.test(name))
        .map(([name, value]) => [name, String(value)] as const);
      app.responseCache.keep(cacheKey(request.originalUrl, request, request.actor), {
        ...cacheDependencies,
        access: request.routeOptions.config.access ?? 'any key',
        route: request.routeOptions.url ?? '',
        etag: etagWithoutEncoding(String(reply.getHeader('etag')), reply.getHeader('content-encoding')),
        headers: headers.flat(),
        headersOf304: headers.filter(([name]) => !name.startsWith('content-')).flat(),
        body,
      });
    }
    done(null, payload);
  });
}

const ofEachRequest = /^(x-request-id|ratelimit|ratelimit-policy|access-control-.*|date|connection)$/;

/** Whether an answer is as good as one made now: it was made from data at least as new as `versions`. */
export const isFresh = ({ reads, version, today }: CacheDependencies, versions: Versions, now: Moment) =>
  version >= versionOf(versions, reads) && today === now.today;

/**
 * What tells answers apart: the address, the ways of writing it that the client takes, and what the key may see. An
 * answer that depends on anything else, such as the very second or whose key it is, does not say what it was made from.
 */
export const cacheKey = (url: string, { headers }: Pick<FastifyRequest, 'headers'>, key: Key) =>
  `${url}\n${headers.accept}\n${headers['accept-encoding']}\n${permissionKey(key)}`;

const seen = new WeakMap<Key, string>();
function permissionKey(key: Key): string {
  const known = seen.get(key);
  if (known !== undefined) return known;
  const text = `${key.scopes}\n${key.project_ids}`;
  seen.set(key, text);
  return text;
}

/** Roughly what its bookkeeping takes, so that a great many small answers count, too. */
const overhead = 1000;
const sizeOf = (name: string, { body }: CachedResponse) => body.byteLength + 2 * name.length + overhead;
