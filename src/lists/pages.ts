import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { dayKey } from '../core/clock.ts';
import { createLimiter } from '../core/concurrency.ts';
import { assertConnected, whileConnected } from '../http/request/connected.ts';
import type { Tables } from '../store/tables.ts';
import { dataVersion } from '../store/writes/table-versions.ts';
import { encodeCursor } from './cursor.ts';
import { countRows, type ListRow, listPage, pageSlices, versionedPage } from './list.ts';
import {
  Body,
  countRowsBefore,
  type ListRequest,
  metaOf,
  rowWriter,
  setFormat,
  versionAt,
} from './response.ts';

/** What is known of a page beside its rows. */
type Page = {
  body: PageBody;
  /** The number of rows before the page. */
  position: number;
  dataVersion: number;
  total: number | null;
  meta: Record<string, unknown>;
};

/** A page of this many rows is read by one statement. A longer one may have tens of megabytes and is read in slices. */
const maxRowsAtOnce = 100;

/** One page of more than this length is built at a time, so that many of them take no more memory than one. */
const largePageLength = 1024 * 1024;
const largePages = createLimiter(1);

/** Sends one page of a list, read from one snapshot. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  listRequest: ListRequest,
  limit: number,
) {
  const { list, format, query } = listRequest;
  const page =
    (await readInOneStatement(request, listRequest, limit)) ??
    (await readInSnapshot(request, listRequest, limit));
  if (!list.isTimeDependent)
    reply.cacheDependencies = { reads: list.reads, version: page.dataVersion, day: dayKey(request.moment) };
  setFormat(request, reply, listRequest);
  const { rows, nextKey } = page.body;
  const next_cursor =
    nextKey === undefined
      ? null
      : encodeCursor(query, {
          after: nextKey,
          position: page.position + rows,
          version: versionAt(request, list, page.dataVersion) ?? '',
        });
  if (next_cursor) reply.header('link', `<${nextPageUrl(request, next_cursor)}>; rel="next"`);
  const paging = { limit, next_cursor, has_more: next_cursor !== null, total: page.total };
  page.body.add(format.close(paging, page.meta, rows, list.schema));
  return page.body.send(request, reply);
}

/** Begins with the rows of a page. It gets one row more than the page has if another page follows. */
class PageBody extends Body {
  rows = 0;
  /** The order key of the last row, which the next page continues after. Undefined if this page is the last. */
  nextKey: string | undefined;
  readonly #limit: number;
  readonly #write: (json: string) => string;
  #lastKey = '';

  constructor(listRequest: ListRequest, limit: number, position: number) {
    super(listRequest);
    this.#limit = limit;
    this.#write = rowWriter(listRequest, position);
    this.add(listRequest.format.open(listRequest.list.schema));
  }

  /** Makes room for this many rows of the average length so far. */
  reserveForRows(rows: number): void {
    this.reserve(Math.ceil((1.05 * rows * this.length) / this.rows));
  }

  addRows(rows: readonly ListRow[]): void {
    for (const { json, order_key } of rows) {
      if (this.rows === this.#limit) {
        this.nextKey = this.#lastKey;
        return;
      }
      this.add(this.#write(json));
      this.#lastKey = String(order_key);
      this.rows++;
    }
  }
}

/** Saves the round trips of a transaction. Undefined if the page is empty or needs more than one statement. */
async function readInOneStatement(
  request: FastifyRequest,
  listRequest: ListRequest,
  limit: number,
): Promise<Page | undefined> {
  const { list, cursor, countAll, filters } = listRequest;
  if (limit > maxRowsAtOnce || list.isIndexed === false || list.meta || countAll) return undefined;
  const page = await versionedPage(request.database.db, list, cursor?.after, limit + 1);
  if (!page) return undefined;
  const isRankedPage = list.ranked && cursor;
  // After a change, the number of rows before the page must be counted.
  if (isRankedPage && cursor.version !== versionAt(request, list, page.version)) return undefined;
  const position = isRankedPage ? cursor.position : 0;
  const body = new PageBody(listRequest, limit, position);
  body.addRows(page.rows);
  return { body, position, dataVersion: page.version, total: null, meta: { filters, ...page.counts } };
}

async function readInSnapshot(
  request: FastifyRequest,
  listRequest: ListRequest,
  limit: number,
): Promise<Page> {
  const { list, cursor, countAll } = listRequest;
  const snapshot = await request.database.snapshot(workloadOf(listRequest, limit));
  const { db, end } = whileConnected(request, snapshot);
  try {
    const version = await dataVersion(db, list.reads);
    const position = await countRowsBefore(db, listRequest, versionAt(request, list, version));
    const body = new PageBody(listRequest, limit, position);
    if (limit <= maxRowsAtOnce) body.addRows(await listPage(db, list, cursor?.after, limit + 1));
    else await addSlices(request, db, listRequest, limit, body);
    const total = countAll ? await countRows(db, list) : null;
    const meta = await metaOf(db, listRequest, body.nextKey);
    return { body, position, dataVersion: version, total, meta };
  } finally {
    await end();
  }
}

function workloadOf({ list, countAll }: ListRequest, limit: number) {
  if (limit > maxRowsAtOnce) return 'stream';
  // Counting takes long in a long list, even if an index finds the page.
  return list.isIndexed === false || countAll ? 'slow' : 'quick';
}

/** Builds a page that may be large. It waits for other pages, never for clients, so that no client can hold up others. */
async function addSlices(
  request: FastifyRequest,
  db: Kysely<Tables>,
  { list, cursor }: ListRequest,
  limit: number,
  body: PageBody,
): Promise<void> {
  const slices = pageSlices(db, list, cursor?.after, limit + 1);
  const add = async (maxLength: number) => {
    while (body.length < maxLength) {
      const { value, done } = await slices.next();
      if (done) return true;
      body.addRows(value);
    }
    return false;
  };
  try {
    if (await add(largePageLength)) return;
    await largePages.run(async () => {
      assertConnected(request);
      request.server.slowReaders.assertRoom(request);
      body.reserveForRows(limit);
      await add(Number.POSITIVE_INFINITY);
    });
  } finally {
    await slices.return(undefined);
  }
}

function nextPageUrl(request: FastifyRequest, cursor: string): string {
  const { pathname, searchParams } = new URL(request.url, 'http://any');
  searchParams.set('cursor', cursor);
  return `${request.server.baseUrl}${pathname}?${searchParams}`;
}
