import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { version as program } from '../core/version.ts';
import type { Snapshot } from '../database/open.ts';
import type { TableName, Tables } from '../database/tables.ts';
import { dataVersion } from '../database/writes/table-versions.ts';
import { contentEtag, matchRequestEtag, sendNotModified, sendWithEtag } from '../http/response/etag.ts';
import { sendWithContentEtag } from '../http/response/resource.ts';
import { type Cursor, decodeCursor, encodeCursor, fingerprint } from './cursor.ts';
import { chooseFormat, type Format, type FormatName, notAcceptable } from './formats.ts';
import { countRows, countUpTo, type List, listLines, listPage } from './list.ts';
import { type Paging, splitQuery } from './query.ts';
import { createSpool, streamList } from './spool.ts';

/** Rows to read before the event loop runs other work, and characters to collect before sending. */
const sliceRows = 200;
const pieceLength = 32 * 1024;
/** A response up to this length is sent at once, with an ETag of its content. A longer one is streamed. */
const maxBufferedLength = 256 * 1024;

/** A request for a list and the snapshot it reads from. */
type ListRequest = {
  list: List;
  format: Format;
  db: Kysely<Tables>;
  /** Changes when the data (`dataVersion`) or the day changes. Undefined for a key that is limited to projects. */
  version: string | undefined;
  /** The query that a cursor belongs to. */
  query: unknown;
  cursor: Cursor | undefined;
  countAll: boolean;
  filters: unknown;
};

/** Sends a list from one snapshot: a page, or the whole list, streamed if it is long. */
export async function sendList(request: FastifyRequest, reply: FastifyReply, whole: List) {
  const isLimited = request.database.isFiltered(whole.reads);
  // No index covers the project scope.
  const list = isLimited ? { ...whole, isIndexed: false } : whole;
  const {
    paging,
    format: formatName,
    sort,
    filters,
  } = splitQuery(request.query as Paging & { sort?: string });
  const format = chooseFormat(request.headers.accept, formatName);
  const query = [request.url.split('?')[0], Object.entries(filters).sort(byName), sort];
  const cursor = paging.cursor === undefined ? undefined : decodeCursor(query, paging.cursor);

  const workload = paging.limit === undefined ? 'stream' : list.isIndexed === false ? 'slow' : 'quick';
  const snapshot = await request.database.snapshot(workload);
  const openedAt = performance.now();
  let endsWithStream = false;
  try {
    const { db } = snapshot;
    const { reads } = list;
    const { today } = request.moment;
    const currentVersion = await dataVersion(db, reads);
    // The version would reveal changes in projects that the key cannot read.
    const version = isLimited ? undefined : `${currentVersion} ${today}`;
    const versionTag = version && `"${fingerprint([program, version, query, paging, format.type])}"`;
    const matchedTag = versionTag && matchRequestEtag(request, versionTag);
    if (matchedTag !== undefined) return await sendNotModified(reply, matchedTag);

    if (!list.isTimeDependent) reply.cacheDependencies = { reads, version: currentVersion, today };
    const listRequest: ListRequest = {
      list,
      format,
      db,
      version,
      query,
      cursor,
      countAll: paging.count,
      filters,
    };
    await rejectTooManyRows(listRequest, paging.limit);
    reply.type(format.pack ? format.type : `${format.type}; charset=utf-8`);
    if (formatName !== undefined && formatName !== 'json')
      reply.header('content-disposition', attachmentHeader(request, formatName));
    if (paging.limit !== undefined) {
      const { text, next } = await readPage(listRequest, paging.limit);
      if (next) reply.header('link', `<${nextPageUrl(request, next)}>; rel="next"`);
      return await sendWhole(request, reply, listRequest, text);
    }

    const pieces = readWhole(listRequest);
    const { text, isAll } = await bufferUpTo(pieces, maxBufferedLength);
    if (isAll) return await sendWhole(request, reply, listRequest, text);

    if (versionTag) reply.header('etag', versionTag);
    if (request.method === 'HEAD') {
      await pieces.return();
      // A stream, so that HEAD has no Content-Length, like GET.
      return await reply.send(Readable.from([]));
    }
    const onEndError = (error: unknown) => request.log.error(error);
    const source = { start: text, rest: pieces, snapshot, openedAt, onEndError };
    const stream = streamList(request.server.listSpool, source, packOf(listRequest));
    endsWithStream = true;
    return await reply.send(stream);
  } finally {
    if (!endsWithStream) await snapshot.end();
  }
}

/** A whole list as a byte stream, without an HTTP request. */
export async function exportList(
  snapshot: Snapshot,
  list: List,
  name: FormatName,
  onProgress: (rows: number) => void,
): Promise<Readable> {
  const openedAt = performance.now();
  const format = chooseFormat(undefined, name);
  const { db } = snapshot;
  const listRequest = {
    list,
    format,
    db,
    version: '',
    query: '',
    cursor: undefined,
    countAll: false,
    filters: {},
  };
  await rejectTooManyRows(listRequest, undefined);
  const rest = readWhole(listRequest, onProgress);
  // An export has a single reader, so its temporary file is not limited.
  const spool = createSpool({ maxBytes: Number.POSITIVE_INFINITY });
  return streamList(spool, { start: '', rest, snapshot, openedAt }, packOf(listRequest));
}

/** Sends a summary of a list from one snapshot, on a connection for slow reads. */
export async function sendSummary(
  request: FastifyRequest,
  reply: FastifyReply,
  reads: readonly TableName[],
  summarize: (db: Kysely<Tables>) => Promise<unknown>,
) {
  const snapshot = await request.database.snapshot('slow');
  try {
    const version = await dataVersion(snapshot.db, reads);
    // For a key that is limited to projects, only an ETag of the content reveals nothing about other projects.
    const tag = request.database.isFiltered(reads)
      ? undefined
      : `"${fingerprint([program, version, request.moment.today, request.url])}"`;
    const matchedTag = tag && matchRequestEtag(request, tag);
    if (matchedTag !== undefined) return await sendNotModified(reply, matchedTag);
    reply.cacheDependencies = { reads, version, today: request.moment.today };
    const body = { data: await summarize(snapshot.db), meta: { filters: request.query } };
    if (tag === undefined) return await sendWithContentEtag(request, reply, body);
    return await reply.header('etag', tag).send(body);
  } finally {
    await snapshot.end();
  }
}

async function readPage(listRequest: ListRequest, limit: number) {
  const { list, format, db, cursor, query, version } = listRequest;
  const position = await countRowsBefore(listRequest);
  const rows = await listPage(db, list, cursor?.after, limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const end = { position: position + shown.length, version: version ?? '' };
  const next =
    last && rows.length > limit ? encodeCursor(query, { after: String(last.order_key), ...end }) : null;
  const total = listRequest.countAll ? await countRows(db, list) : null;
  const write = rowWriter(listRequest, position);
  const text =
    format.open(list.schema) +
    shown.map(({ json }) => write(json)).join('') +
    format.close(
      { limit, next_cursor: next, has_more: next !== null, total },
      await metaOf(listRequest, next === null ? undefined : String(last?.order_key)),
      shown.length,
      list.schema,
    );
  return { text, next };
}

async function* readWhole(
  listRequest: ListRequest,
  onProgress?: (rows: number) => void,
): AsyncGenerator<string, void> {
  const { list, format, db, cursor } = listRequest;
  const position = await countRowsBefore(listRequest);
  const write = linesWriter(listRequest, position);
  let text = format.open(list.schema);
  let rows = 0;
  for await (const { lines } of listLines(db, list, cursor?.after).stream(sliceRows)) {
    text += write(lines, rows === 0);
    rows += countLines(lines);
    if (text.length < pieceLength) continue;
    yield text;
    text = '';
    onProgress?.(rows);
  }
  onProgress?.(rows);
  const total = cursor === undefined ? rows : listRequest.countAll ? await countRows(db, list) : null;
  yield text +
    format.close(
      { limit: null, next_cursor: null, has_more: false, total },
      await metaOf(listRequest),
      rows,
      list.schema,
    );
}

/** The number of rows before the first one in the response. The cursor knows it unless the data has changed. */
async function countRowsBefore({ db, list, cursor, version }: ListRequest): Promise<number> {
  if (!cursor || !list.ranked) return 0;
  return cursor.version === version ? cursor.position : countUpTo(db, list, cursor.after);
}

/** Adds the rank here, not in SQL, because it is the position in the response. */
function rowWriter({ list, format }: ListRequest, position: number) {
  let index = 0;
  return (json: string) => {
    const rank = position + index + 1;
    return format.row(list.ranked ? `{"rank":${rank},${json.slice(1)}` : json, index++, list.schema);
  };
}

/** Writes rows that arrive as lines. JSON text contains no raw line breaks. */
function linesWriter(listRequest: ListRequest, position: number) {
  const { list, format } = listRequest;
  if (format.rows && !list.ranked) return format.rows;
  const write = rowWriter(listRequest, position);
  return (lines: string) => lines.split('\n').map(write).join('');
}

function countLines(lines: string): number {
  let count = 1;
  for (let end = lines.indexOf('\n'); end !== -1; end = lines.indexOf('\n', end + 1)) count++;
  return count;
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

const metaOf = async ({ list, db, filters }: ListRequest, lastKey?: string) => ({
  filters,
  ...(await list.meta?.(db, lastKey)),
});

function nextPageUrl(request: FastifyRequest, cursor: string): string {
  const { pathname, searchParams } = new URL(request.url, 'http://any');
  searchParams.set('cursor', cursor);
  return `${request.server.baseUrl}${pathname}?${searchParams}`;
}

async function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  { format: { pack }, list: { schema } }: ListRequest,
  text: string,
) {
  // Encoded once, for the ETag, the compression, the response cache and the socket.
  const bytes = pack
    ? Buffer.concat(await Array.fromAsync(pack(yieldOnce(text), schema)))
    : Buffer.from(text);
  return sendWithEtag(request, reply, contentEtag(bytes), bytes);
}

const packOf = ({ format: { pack }, list: { schema } }: ListRequest) =>
  pack && ((text: AsyncIterable<string>) => pack(text, schema));

/** Makes a browser save the list under its name. */
const attachmentHeader = (request: FastifyRequest, extension: string) =>
  `attachment; filename="${request.url.split('?')[0]?.split('/').at(-1)}.${extension}"`;

async function rejectTooManyRows(
  { format, db, list }: ListRequest,
  limit: number | undefined,
): Promise<void> {
  if (limit !== undefined || format.maxRows === undefined) return;
  const rows = await countRows(db, list);
  if (rows <= format.maxRows) return;
  throw notAcceptable(
    `This list has ${rows} rows, but a sheet holds at most ${format.maxRows}. Use CSV instead.`,
  );
}

/** Reads pieces up to about `length` characters. `isAll` is true if nothing is left. */
async function bufferUpTo(pieces: AsyncGenerator<string, void>, length: number) {
  let text = '';
  while (text.length < length) {
    const piece = await pieces.next();
    if (piece.done) return { text, isAll: true };
    text += piece.value;
  }
  return { text, isAll: false };
}

async function* yieldOnce(text: string) {
  yield text;
}
