import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { type EncodingChoice, preferredEncoding } from '../../core/accept.ts';
import { Problem } from '../../core/errors.ts';

/** The codings there are, the cheapest for what it saves first (measured on the answers of this service). */
export const encodings = ['zstd', 'br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

/** Below this, sending is cheaper than compressing. */
const fewBytes = 4 * 1024;
/** Up to this, compressing takes no longer than handing it to another thread. */
const quickBytes = 16 * 1024;

const maxRememberedHeaders = 100;
const choices = new Map<string, EncodingChoice<Encoding>>();

/** Reads `Accept-Encoding`, once for each of the few values that clients send. */
function chooseEncoding(header = ''): EncodingChoice<Encoding> {
  const remembered = choices.get(header);
  if (remembered) return remembered;
  const choice = preferredEncoding(header, encodings);
  if (choices.size >= maxRememberedHeaders) choices.clear();
  choices.set(header, choice);
  return choice;
}

export const asBytes = (payload: string | Buffer): Buffer =>
  typeof payload === 'string' ? Buffer.from(payload) : payload;

/** The bytes in a coding; what would hold up others is done in another thread. */
export async function compress(bytes: Buffer, coding: Encoding): Promise<Buffer> {
  const { now, inThread, options } = compressors[coding];
  return bytes.length <= quickBytes ? now(bytes, options) : inThread(bytes, options);
}

/** Each piece is sent on as it comes, so that whoever reads a long list is not kept waiting. */
export const compressStream = (source: Readable, coding: Encoding): Transform =>
  // An error of either end ends the other; whoever sends the stream is told.
  pipeline(source, compressors[coding].stream(), () => {});

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

/** An answer in another coding is other bytes, and has another tag. */
export const etagForEncoding = (tag: string, coding: Encoding) => `${tag.slice(0, -1)}-${coding}"`;

export const etagWithoutEncoding = (tag: string, coding: unknown) =>
  typeof coding === 'string' ? `${tag.slice(0, -coding.length - 2)}"` : tag;

/** Compresses what the client can read compressed, where it pays. */
export function compressResponses(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _, done) => {
    const { encoding, acceptsIdentity } = chooseEncoding(request.headers['accept-encoding']?.toString());
    done(encoding === undefined && !acceptsIdentity ? noCoding() : undefined);
  });

  // Public answers are few and always the same: whoever asks for them often shall not cost much.
  const publicResponses = new Map<string, Promise<Buffer>>();

  app.addHook('onSend', (request, reply, payload, done) => {
    // The files of the console were compressed when they were built.
    if (reply.hasHeader('content-encoding')) return done(null, payload);
    const { encoding, acceptsIdentity } = chooseEncoding(request.headers['accept-encoding']?.toString());
    const worthwhile = encoding !== undefined && isWorthwhile(payload, reply.getHeader('content-type'));
    if (encoding === undefined || (acceptsIdentity && !worthwhile) || !payload) return done(null, payload);

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

const isWorthwhile = (payload: unknown, type: unknown) =>
  (payload instanceof Readable ||
    ((typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= fewBytes)) &&
  /^text\/|json|javascript|xml/.test(String(type));

const noCoding = () =>
  new Problem(
    'not_acceptable',
    `No coding of the answer is acceptable to you. Accept identity or one of ${encodings.join(', ')}.`,
    { extra: { available: ['identity', ...encodings] } },
  );
