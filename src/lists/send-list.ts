import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { dayKey } from '../core/clock.ts';
import { version as program } from '../core/version.ts';
import type { Snapshot } from '../database/open.ts';
import { countLines } from '../database/sql/lines.ts';
import { dependsOnPerson } from '../http/cache/response-cache.ts';
import { whileConnected } from '../http/request/connected.ts';
import { matchRequestEtag, sendNotModified } from '../http/response/etag.ts';
import { sendWithContentEtag } from '../http/response/resource.ts';
import type { TableName, Tables } from '../store/tables.ts';
import { dataVersion } from '../store/writes/table-versions.ts';
import { decodeCursor, fingerprint } from './cursor.ts';
import { chooseFormat, type FormatName, notAcceptable } from './formats.ts';
import { countRows, type List, listLines } from './list.ts';
import { sendPage } from './pages.ts';
import { type Paging, splitQuery } from './query.ts';
import {
  Body,
  countRowsBefore,
  type ListRequest,
  listTurns,
  metaOf,
  rowWriter,
  setFormat,
  versionAt,
} from './response.ts';
import { createSpool, streamList } from './spool.ts';

/** Rows to read before the event loop runs other work, and characters to collect before sending. */
const sliceRows = 200;
const pieceLength = 32 * 1024;
/** A response up to this length is sent at once, with an ETag of its content. A longer one is streamed. */
const maxBufferedLength = 256 * 1024;

/** Sends a list from one snapshot: a page, or the whole list, streamed if it is long. */
export async function sendList(request: FastifyRequest, reply: FastifyReply, whole: List) {
  // No index covers the project scope, and a walk would pass the rows of all other projects.
  const list = request.database.isFiltered(whole.reads)
    ? { ...whole, isIndexed: false, walksOrder: false }
    : whole;
  const {
    paging,
    format: formatName,
    table,
    sort,
    filters,
  } = splitQuery(request.query as Paging & { sort?: string });
  const query: unknown[] = [request.url.split('?')[0], Object.entries(filters).sort(byName), sort];
  if (dependsOnPerson(request)) query.push(request.actor.user_id);
  // Cursors of 0.2.0 had other keys in these orders.
  if (list.order.tie || sort === '-score') query.push('tie');
  const listRequest: ListRequest = {
    list,
    format: chooseFormat(request.headers.accept, formatName, list.schema, table),
    formatName,
    query,
    cursor: paging.cursor === undefined ? undefined : decodeCursor(query, paging.cursor, list.order),
    countAll: paging.count,
    filters,
  };
  if (paging.limit !== undefined) return sendPage(request, reply, listRequest, paging.limit);
  return sendWhole(request, reply, listRequest);
}

async function sendWhole(request: FastifyRequest, reply: FastifyReply, listRequest: ListRequest) {
  const { list, format, query, cursor, countAll } = listRequest;
  const snapshot = await request.database.snapshot('stream');
  const openedAt = performance.now();
  let endsWithStream = false;
  try {
    const { db } = snapshot;
    const { reads } = list;
    const currentVersion = await dataVersion(db, reads);
    const version = versionAt(request, list, currentVersion);
    const versionTag =
      version === undefined || list.isTimeDependent
        ? undefined
        : `"${fingerprint([program, version, request.server.baseUrl, request.actor.scopes, query, cursor, countAll, format.type, format.variant])}"`;
    const matchedTag = versionTag && matchRequestEtag(request, versionTag);
    if (!list.isTimeDependent)
      reply.cacheDependencies = { reads, version: currentVersion, day: dayKey(request.moment) };
    if (matchedTag !== undefined) return await sendNotModified(reply, matchedTag);
    await rejectTooManyRows(db, listRequest);
    setFormat(request, reply, listRequest);
    const pieces = readWhole(db, listRequest, version);
    const { text, isAll } = await bufferUpTo(pieces, maxBufferedLength);
    if (isAll) {
      const body = new Body(listRequest);
      body.add(text);
      return await body.send(request, reply);
    }

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
  const format = chooseFormat(undefined, name, list.schema);
  const listRequest: ListRequest = {
    list,
    format,
    formatName: name,
    query: '',
    cursor: undefined,
    countAll: false,
    filters: {},
  };
  await rejectTooManyRows(snapshot.db, listRequest);
  const rest = readWhole(snapshot.db, listRequest, undefined, onProgress);
  // An export has a single reader, so its temporary file is not limited.
  const spool = { ...createSpool(), maxBytes: Number.POSITIVE_INFINITY };
  return streamList(spool, { start: '', rest, snapshot, openedAt }, packOf(listRequest));
}

/** Sends a summary of a list from one snapshot, by default on a connection for slow reads. */
export async function sendSummary<Opened extends Snapshot>(
  request: FastifyRequest,
  reply: FastifyReply,
  { reads, filters = request.query, open }: SummarySource<Opened>,
  summarize: (snapshot: Opened) => Promise<unknown>,
) {
  const opened = await (open?.() ?? (request.database.snapshot('slow') as Promise<Opened>));
  const snapshot = whileConnected(request, opened);
  try {
    const version = await dataVersion(snapshot.db, reads);
    const day = dayKey(request.moment);
    // For a key that is limited to projects, only an ETag of the content reveals nothing about other projects.
    const tag = request.database.isFiltered(reads)
      ? undefined
      : `"${fingerprint([program, version, day, request.server.baseUrl, request.url, dependsOnPerson(request) && request.actor.user_id])}"`;
    const matchedTag = tag && matchRequestEtag(request, tag);
    reply.cacheDependencies = { reads, version, day };
    if (matchedTag !== undefined) return await sendNotModified(reply, matchedTag);
    const body = { data: await summarize(snapshot), meta: { filters } };
    if (tag === undefined) return await sendWithContentEtag(request, reply, body);
    return await reply.header('etag', tag).send(body);
  } finally {
    await snapshot.end();
  }
}

type SummarySource<Opened extends Snapshot> = {
  reads: readonly TableName[];
  /** Returned in `meta`. */
  filters?: unknown;
  open?: (() => Promise<Opened>) | undefined;
};

async function* readWhole(
  db: Kysely<Tables>,
  listRequest: ListRequest,
  version: string | undefined,
  onProgress?: (rows: number) => void,
): AsyncGenerator<string, void> {
  const { list, format, cursor } = listRequest;
  const position = await countRowsBefore(db, listRequest, version);
  const write = linesWriter(listRequest, position);
  let text = format.open(list.schema);
  let rows = 0;
  for await (const { lines } of listLines(db, list, cursor?.after, sliceRows)) {
    await listTurns.available();
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
      await metaOf(db, listRequest),
      rows,
      list.schema,
    );
}

/** Writes rows that arrive as lines. JSON text contains no raw line breaks. */
function linesWriter(listRequest: ListRequest, position: number) {
  const { list, format } = listRequest;
  if (format.rows && !list.ranked) return format.rows;
  const write = rowWriter(listRequest, position);
  return (lines: string) => lines.split('\n').map(write).join('');
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

const packOf = ({ format: { pack }, list: { schema } }: ListRequest) =>
  pack && ((text: AsyncIterable<string>) => pack(text, schema));

async function rejectTooManyRows(db: Kysely<Tables>, { format, list }: ListRequest): Promise<void> {
  if (format.maxRows === undefined) return;
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
