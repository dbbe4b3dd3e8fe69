import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type EncodingChoice, preferredEncoding } from '../../core/accept.ts';
import { Problem } from '../../core/errors.ts';

/** The supported encodings, the best ratio of savings to cost first (measured on responses of this service). */
export const encodings = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

/** Smaller responses are cheaper to send than to compress. */
const minBytes = 4 * 1024;
/** Up to this size, compressing takes no longer than handing the bytes to another thread. */
const maxSyncBytes = 16 * 1024;

/** Results are cached, because clients send few different values of `Accept-Encoding`. */
const choices = new LRUCache<string, EncodingChoice<Encoding>>({
  max: 100,
  memoMethod: (header) => preferredEncoding(header, encodings),
});

const chooseEncoding = ({ headers }: FastifyRequest) =>
  choices.memo(headers['accept-encoding']?.toString() ?? '');

export const asBytes = (payload: string | Buffer): Buffer =>
  typeof payload === 'string' ? Buffer.from(payload) : payload;

/** Compresses bytes. Large inputs are compressed in another thread, to keep the event loop free. */
export async function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  const { now, inThread, options } = compressors[encoding];
  return bytes.length <= maxSyncBytes ? now(bytes, options) : inThread(bytes, options);
}

/** Flushes after each chunk, so that the reader of a long list sees rows early. */
export const compressStream = (source: Readable, encoding: Encoding): Transform =>
  // `pipeline` passes errors between both streams; the caller that sends the result handles them.
  pipeline(source, compressors[encoding].stream(), () => {});

const { constants } = zlib;
const gzip = { level: 4 };
const br = { params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 } };
const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const compressors = {
  zstd: {
    options: zstd,
    now: zlib.zstdCompressSync,
    inThread: promisify<zlib.InputType, object, Buffer>(zlib.zstdCompress),
    stream: () => zlib.createZstdCompress({ ...zstd, flush: constants.ZSTD_e_flush }),
  },
  br: {
    options: br,
    now: zlib.brotliCompressSync,
    inThread: promisify<zlib.InputType, object, Buffer>(zlib.brotliCompress),
    stream: () => zlib.createBrotliCompress({ ...br, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    options: gzip,
    now: zlib.gzipSync,
    inThread: promisify<zlib.InputType, object, Buffer>(zlib.gzip),
    stream: () => zlib.createGzip({ ...gzip, flush: constants.Z_SYNC_FLUSH }),
  },
};

/** A response in another encoding has different bytes, so it needs a different ETag. */
export const etagForEncoding = (tag: string, encoding: Encoding) => `${tag.slice(0, -1)}-${encoding}"`;

export const etagWithoutEncoding = (tag: string, encoding: unknown) =>
  typeof encoding === 'string' ? `${tag.slice(0, -encoding.length - 2)}"` : tag;

/** Compresses responses in an encoding the client accepts, if they are large enough. */
export function compressResponses(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _, done) => {
    const { encoding, acceptsIdentity } = chooseEncoding(request);
    done(encoding === undefined && !acceptsIdentity ? noAcceptableEncoding() : undefined);
  });

  // Public responses are few and constant, so their compressed bytes are cached: repeated requests cost little.
  const publicResponses = new Map<string, Promise<Buffer>>();

  app.addHook('onSend', (request, reply, payload, done) => {
    // The files of the console were compressed when they were built.
    if (reply.hasHeader('content-encoding')) return done(null, payload);
    const { encoding, acceptsIdentity } = chooseEncoding(request);
    const isWorthIt = encoding !== undefined && isCompressible(payload, reply.getHeader('content-type'));
    if (encoding === undefined || (acceptsIdentity && !isWorthIt) || !payload) return done(null, payload);

    const tag = reply.getHeader('etag');
    reply.header('content-encoding', encoding).removeHeader('content-length');
    if (typeof tag === 'string') reply.header('etag', etagForEncoding(tag, encoding));
    if (payload instanceof Readable) return done(null, compressStream(payload, encoding));

    const bytes = () => compress(asBytes(payload as string | Buffer), encoding);
    const key = `${tag} ${encoding}`;
    const isPublic = typeof tag === 'string' && request.actor === undefined;
    const compressed = (isPublic && publicResponses.get(key)) || bytes();
    if (isPublic) publicResponses.set(key, compressed);
    compressed.then(
      (buffer) => done(null, buffer),
      (error) => done(error),
    );
  });
}

const isCompressible = (payload: unknown, type: unknown) =>
  (payload instanceof Readable ||
    ((typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= minBytes)) &&
  /^text\/|json|javascript|xml/.test(String(type));

const noAcceptableEncoding = () =>
  new Problem(
    'not_acceptable',
    `No encoding in \`Accept-Encoding\` is available. Accept identity or one of ${encodings.join(', ')}.`,
    { extra: { available: ['identity', ...encodings] } },
  );
