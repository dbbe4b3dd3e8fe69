import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { dayKey } from '../core/clock.ts';
import type { Tables } from '../database/tables.ts';
import { contentEtag, sendWithEtag } from '../http/response/etag.ts';
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

/** Sends a response that fits in memory, with an ETag of its content. */
export async function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  { format: { pack }, list: { schema } }: ListRequest,
  pieces: readonly string[],
) {
  // Encoded once, for the ETag, the compression, the response cache and the socket.
  const bytes = pack
    ? Buffer.concat(await Array.fromAsync(pack(yieldOnce(pieces.join('')), schema)))
    : encode(pieces);
  return sendWithEtag(request, reply, contentEtag(bytes), bytes);
}

/** Joining pieces first is faster, but takes the memory of all of them once more. */
function encode(pieces: readonly string[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length <= maxJoinedLength) return Buffer.from(pieces.join(''));
  const bytes = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  let end = 0;
  for (const piece of pieces) end += bytes.write(piece, end);
  return bytes;
}

const maxJoinedLength = 1024 * 1024;

async function* yieldOnce(text: string) {
  yield text;
}
