import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { dayKey } from '../core/clock.ts';
import { createTurns } from '../core/concurrency.ts';
import { contentEtag, contentHash, sendWithEtag } from '../http/response/etag.ts';
import type { Tables } from '../store/tables.ts';
import type { Cursor } from './cursor.ts';
import type { Format, FormatName } from './formats.ts';
import { countUpTo, type List, readCounts } from './list.ts';

/** What a client asks for. */
export type ListRequest = {
  list: List;
  format: Format;
  /** Set if the query names the format, as links for downloads do. */
  formatName: FormatName | undefined;
  /** The query that a cursor belongs to. */
  query: unknown;
  cursor: Cursor | undefined;
  countAll: boolean;
  filters: unknown;
};

/**
 * Changes when the data or the day changes. Undefined for a key that is limited to projects: the version would reveal
 * changes in projects that the key cannot read.
 */
export const versionAt = ({ database, moment }: FastifyRequest, { reads }: List, dataVersion: number) =>
  database.isFiltered(reads) ? undefined : `${dataVersion} ${dayKey(moment)}`;

/** The number of rows before the first one in the response. The cursor knows it unless the data has changed. */
export async function countRowsBefore(
  db: Kysely<Tables>,
  { list, cursor }: ListRequest,
  version: string | undefined,
): Promise<number> {
  if (!cursor || !list.ranked) return 0;
  return cursor.version === version ? cursor.position : countUpTo(db, list, cursor.after);
}

/** Adds the rank here, not in SQL, because it is the position in the response. */
export function rowWriter({ list, format }: ListRequest, position: number) {
  let index = 0;
  return (json: string) => {
    const rank = position + index + 1;
    return format.row(list.ranked ? `{"rank":${rank},${json.slice(1)}` : json, index++, list.schema);
  };
}

export const metaOf = async (db: Kysely<Tables>, { list, filters }: ListRequest, lastKey?: string) => ({
  filters,
  ...(await list.meta?.(db, lastKey)),
  ...(await readCounts(db, list)),
});

/** Sets the headers of the format. */
export function setFormat(
  request: FastifyRequest,
  reply: FastifyReply,
  { format, formatName }: ListRequest,
): void {
  reply.type(format.pack ? format.type : `${format.type}; charset=utf-8`);
  if (formatName === undefined || formatName === 'json') return;
  // Makes a browser save the list under its name.
  const name = request.url.split('?')[0]?.split('/').at(-1);
  reply.header('content-disposition', `attachment; filename="${name}.${formatName}"`);
}

/**
 * The body of a response that fits in memory. It is encoded as it arrives, so that no turn of the event loop takes long, and
 * into one buffer, so that it is never in memory twice.
 */
export class Body {
  readonly #listRequest: ListRequest;
  /** Only for a body that is encoded in parts. */
  #hash: ReturnType<typeof contentHash> | undefined;
  #texts: string[] = [];
  #textLength = 0;
  #buffer = Buffer.alloc(0);
  #encodedBytes = 0;

  constructor(listRequest: ListRequest) {
    this.#listRequest = listRequest;
  }

  /** About the number of bytes so far. */
  get length() {
    return this.#encodedBytes + this.#textLength;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#textLength += text.length;
    if (this.#textLength >= chunkLength && !this.#listRequest.format.pack) this.#append(this.#takeText());
  }

  /** Makes room for a body of this many bytes. Without it, room is added when it is needed. */
  reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(bytes);
    this.#buffer.copy(larger, 0, 0, this.#encodedBytes);
    this.#buffer = larger;
  }

  /** Sends the body with an ETag of its content. It is encoded once, for the ETag, compression, cache and socket. */
  async send(request: FastifyRequest, reply: FastifyReply) {
    const { pack } = this.#listRequest.format;
    if (this.length >= chunkLength) await listTurns.available();
    if (!pack && this.#encodedBytes === 0) {
      const bytes = Buffer.from(this.#takeText());
      return sendWithEtag(request, reply, contentEtag(bytes), bytes);
    }
    if (pack) {
      const packed = pack(Readable.from(this.#texts), this.#listRequest.list.schema);
      for await (const bytes of packed) this.#append(bytes);
    } else this.#append(this.#takeText());
    return sendWithEtag(request, reply, this.#hash?.etag() ?? '', this.#takeBytes());
  }

  /** Without much unused room, which the response cache would keep without counting it. */
  #takeBytes(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#encodedBytes);
    return this.#buffer.length > 1.1 * bytes.length ? Buffer.from(bytes) : bytes;
  }

  #takeText(): string {
    const text = this.#texts.join('');
    this.#texts = [];
    this.#textLength = 0;
    return text;
  }

  #append(piece: string | Uint8Array): void {
    const start = this.#encodedBytes;
    const end = start + Buffer.byteLength(piece);
    if (end > this.#buffer.length) this.reserve(Math.max(end, 2 * this.#buffer.length));
    if (typeof piece === 'string') this.#buffer.write(piece, start);
    else this.#buffer.set(piece, start);
    this.#hash ??= contentHash();
    this.#hash.add(this.#buffer.subarray(start, end));
    this.#encodedBytes = end;
  }
}

const chunkLength = 256 * 1024;

/** Encoding and sending a body of some megabytes takes about ten milliseconds, and many clients may wait for one. */
export const listTurns = createTurns(20);
