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

/** Rows read before others are let through, and characters gathered before they are sent. */
const sliceRows = 200;
const pieceLength = 32 * 1024;
/** An answer up to this length is sent in one, with a tag of its content; a longer one streams. */
const wholeLength = 256 * 1024;

/** One request for a list, and what it is answered from. */
type ListRequest = {
  list: List;
  format: Format;
  db: Kysely<Tables>;
  /** Differs when the list may: by the changes of the tables behind it (`dataVersion`) and the day. Or none is told. */
  version: string | undefined;
  /** What a cursor is bound to. */
  query: unknown;
  cursor: Cursor | undefined;
  countAll: boolean;
  filters: unknown;
};

/** Answers a request for a list from one moment's view: all of it, streamed, or a page. */
export async function sendList(request: FastifyRequest, reply: FastifyReply, whole: List) {
  const isLimited = request.database.isFiltered(whole.reads);
  // No index leads straight to the rows that are seen.
  const list = isLimited ? { ...whole, isIndexed: false } : whole;
  const { paging, format: wanted, sort, filters } = splitQuery(request.query as Paging & { sort?: string });
  const format = chooseFormat(request.headers.accept, wanted);
  const query = [request.url.split('?')[0], Object.entries(filters).sort(byName), sort];
  const cursor = paging.cursor === undefined ? undefined : decodeCursor(query, paging.cursor);

  const pace = paging.limit === undefined ? 'stream' : list.isIndexed === false ? 'slow' : 'quick';
  const snapshot = await request.database.snapshot(pace);
  const openedAt = performance.now();
  let endsWithStream = false;
  try {
    const { db } = snapshot;
    const { reads } = list;
    const { today } = request.moment;
    const dataNow = await dataVersion(db, reads);
    // It would tell when something changes that is not seen.
    const version = isLimited ? undefined : `${dataNow} ${today}`;
    const versionTag = version && `"${fingerprint([program, version, query, paging, format.type])}"`;
    const known = versionTag && matchRequestEtag(request, versionTag);
    if (known !== undefined) return await sendNotModified(reply, known);

    if (!list.isTimeDependent) reply.cacheDependencies = { reads, version: dataNow, today };
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
    if (wanted !== undefined && wanted !== 'json')
      reply.header('content-disposition', download(request, wanted));
    if (paging.limit !== undefined) {
      const { text, next } = await readPage(listRequest, paging.limit);
      if (next) reply.header('link', `<${nextPage(request, next)}>; rel="next"`);
      return await sendWhole(request, reply, format, text);
    }

    const pieces = readWhole(listRequest);
    const { text, isAll } = await bufferUpTo(pieces, wholeLength);
    if (isAll) return await sendWhole(request, reply, format, text);

    if (versionTag) reply.header('etag', versionTag);
    if (request.method === 'HEAD') {
      await pieces.return();
      // A stream has no length, as the list itself would have none.
      return await reply.send(Readable.from([]));
    }
    const onEndError = (error: unknown) => request.log.error(error);
    const source = { start: text, rest: pieces, snapshot, openedAt, onEndError };
    const stream = streamList(request.server.listSpool, source, format.pack);
    endsWithStream = true;
    return await reply.send(stream);
  } finally {
    if (!endsWithStream) await snapshot.end();
  }
}

/** A whole list as bytes, for those who have no request to answer. */
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
  // One reader, who has listRequest for it: nobody else needs the room.
  const spool = createSpool({ maxBytes: Number.POSITIVE_INFINITY });
  return streamList(spool, { start: '', rest, snapshot, openedAt }, format.pack);
}

/** Answers with something counted over a list, from one moment's view, where it keeps nobody waiting. */
export async function sendSummary(
  request: FastifyRequest,
  reply: FastifyReply,
  reads: readonly TableName[],
  summarize: (db: Kysely<Tables>) => Promise<unknown>,
) {
  const snapshot = await request.database.snapshot('slow');
  try {
    const version = await dataVersion(snapshot.db, reads);
    // Of what was counted under a limit, only the content is a tag that tells nothing else.
    const tag = request.database.isFiltered(reads)
      ? undefined
      : `"${fingerprint([program, version, request.moment.today, request.url])}"`;
    const known = tag && matchRequestEtag(request, tag);
    if (known !== undefined) return await sendNotModified(reply, known);
    reply.cacheDependencies = { reads, version, today: request.moment.today };
    const answer = { data: await summarize(snapshot.db), meta: { filters: request.query } };
    if (tag === undefined) return await sendWithContentEtag(request, reply, answer);
    return await reply.header('etag', tag).send(answer);
  } finally {
    await snapshot.end();
  }
}

async function readPage(listRequest: ListRequest, limit: number) {
  const { list, format, db, cursor, query, version } = listRequest;
  const position = await positionAfter(listRequest);
  const rows = await listPage(db, list, cursor?.after, limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next =
    last && rows.length > limit
      ? encodeCursor(query, {
          after: last.order_key,
          position: position + shown.length,
          version: version ?? '',
        })
      : null;
  const total = listRequest.countAll ? await countRows(db, list) : null;
  const write = rowWriter(listRequest, position);
  const text =
    format.open(list.schema) +
    shown.map(({ json }) => write(json)).join('') +
    format.close({ limit, next_cursor: next, has_more: next !== null, total }, await metaOf(listRequest));
  return { text, next };
}

async function* readWhole(
  listRequest: ListRequest,
  onProgress?: (rows: number) => void,
): AsyncGenerator<string, void> {
  const { list, format, db, cursor } = listRequest;
  const position = await positionAfter(listRequest);
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
    format.close({ limit: null, next_cursor: null, has_more: false, total }, await metaOf(listRequest));
}

/** How many rows come before the first one shown: what the cursor says, unless rows have been written since. */
async function positionAfter({ db, list, cursor, version }: ListRequest): Promise<number> {
  if (!cursor || !list.ranked) return 0;
  return cursor.version === version ? cursor.position : countUpTo(db, list, cursor.after);
}

/** The rank is set here, not by the database, because it is the position in what is sent. */
function rowWriter({ list, format }: ListRequest, position: number) {
  let place = 0;
  return (json: string) => {
    const rank = position + place + 1;
    return format.row(list.ranked ? `{"rank":${rank},${json.slice(1)}` : json, place++, list.schema);
  };
}

/** Rows that come as lines. JSON has no line ends of its own. */
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

const metaOf = async ({ list, db, filters }: ListRequest) => ({ filters, ...(await list.meta?.(db)) });

function nextPage(request: FastifyRequest, cursor: string): string {
  const { pathname, searchParams } = new URL(request.url, 'http://any');
  searchParams.set('cursor', cursor);
  return `${request.server.baseUrl}${pathname}?${searchParams}`;
}

async function sendWhole(request: FastifyRequest, reply: FastifyReply, { pack }: Format, text: string) {
  // Made into bytes once, for the tag, the compression, what is kept and what is sent.
  const bytes = pack ? Buffer.concat(await Array.fromAsync(pack(only(text)))) : Buffer.from(text);
  return sendWithEtag(request, reply, contentEtag(bytes), bytes);
}

/** A browser saves it under the name of the list. */
const download = (request: FastifyRequest, extension: string) =>
  `attachment; filename="${request.url.split('?')[0]?.split('/').at(-1)}.${extension}"`;

async function rejectTooManyRows(
  { format, db, list }: ListRequest,
  limit: number | undefined,
): Promise<void> {
  if (limit !== undefined || format.maxRows === undefined) return;
  const rows = await countRows(db, list);
  if (rows <= format.maxRows) return;
  throw notAcceptable(`A sheet holds ${format.maxRows} rows, and this list has ${rows}. Take it as CSV.`);
}

/** The first pieces, up to about `length` characters, and whether there are no others. */
async function bufferUpTo(pieces: AsyncGenerator<string, void>, length: number) {
  let text = '';
  while (text.length < length) {
    const piece = await pieces.next();
    if (piece.done) return { text, isAll: true };
    text += piece.value;
  }
  return { text, isAll: false };
}

async function* only(text: string) {
  yield text;
}
