import type { FastifyReply, FastifyRequest } from 'fastify';
import { dayKey } from '../core/clock.ts';
import { dataVersion } from '../database/writes/table-versions.ts';
import { encodeCursor } from './cursor.ts';
import { countRows, type ListRow, listPage, versionedPage } from './list.ts';
import {
  countRowsBefore,
  type ListRequest,
  metaOf,
  rowWriter,
  sendText,
  setFormat,
  versionAt,
} from './response.ts';

type Page = {
  /** The rows of the page, and one more if another page follows. */
  rows: ListRow[];
  /** The number of rows before the page. */
  position: number;
  dataVersion: number;
  total: number | null;
  meta: Record<string, unknown>;
};

/** A page of this many rows is small enough to be built before it is known whether its client reads. */
const maxUncheckedRows = 50;

/** Sends one page of a list, read from one snapshot. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  listRequest: ListRequest,
  limit: number,
) {
  const { list, format, query } = listRequest;
  if (limit > maxUncheckedRows) request.server.slowReaders.assertRoom(request);
  const page =
    (await readInOneStatement(request, listRequest, limit)) ??
    (await readInSnapshot(request, listRequest, limit));
  if (!list.isTimeDependent)
    reply.cacheDependencies = { reads: list.reads, version: page.dataVersion, day: dayKey(request.moment) };
  setFormat(request, reply, listRequest);

  const shown = page.rows.slice(0, limit);
  const last = page.rows.length > limit ? shown.at(-1) : undefined;
  const next_cursor = last
    ? encodeCursor(query, {
        after: String(last.order_key),
        position: page.position + shown.length,
        version: versionAt(request, list, page.dataVersion) ?? '',
      })
    : null;
  if (next_cursor) reply.header('link', `<${nextPageUrl(request, next_cursor)}>; rel="next"`);
  const write = rowWriter(listRequest, page.position);
  const pieces = [
    format.open(list.schema),
    ...shown.map(({ json }) => write(json)),
    format.close(
      { limit, next_cursor, has_more: next_cursor !== null, total: page.total },
      page.meta,
      shown.length,
      list.schema,
    ),
  ];
  return sendText(request, reply, listRequest, pieces);
}

/** Saves the round trips of a transaction. Undefined if the page is empty or needs more than one statement. */
async function readInOneStatement(
  request: FastifyRequest,
  { list, cursor, countAll, filters }: ListRequest,
  limit: number,
): Promise<Page | undefined> {
  if (list.isIndexed === false || list.meta || countAll) return undefined;
  const page = await versionedPage(request.database.db, list, cursor?.after, limit + 1);
  if (!page) return undefined;
  const { rows, version: dataVersion, counts } = page;
  const meta = { filters, ...counts };
  if (!cursor || !list.ranked) return { rows, position: 0, dataVersion, total: null, meta };
  // After a change, the number of rows before the page must be counted.
  if (cursor.version !== versionAt(request, list, dataVersion)) return undefined;
  return { rows, position: cursor.position, dataVersion, total: null, meta };
}

async function readInSnapshot(
  request: FastifyRequest,
  listRequest: ListRequest,
  limit: number,
): Promise<Page> {
  const { list, cursor, countAll } = listRequest;
  // Counting takes long in a long list, even if an index finds the page.
  const isQuick = list.isIndexed !== false && !countAll;
  const { db, end } = await request.database.snapshot(isQuick ? 'quick' : 'slow');
  try {
    const version = await dataVersion(db, list.reads);
    const position = await countRowsBefore(db, listRequest, versionAt(request, list, version));
    const rows = await listPage(db, list, cursor?.after, limit + 1);
    const total = countAll ? await countRows(db, list) : null;
    const lastKey = rows.length > limit ? rows[limit - 1]?.order_key : undefined;
    const meta = await metaOf(db, listRequest, lastKey === undefined ? undefined : String(lastKey));
    return { rows, position, dataVersion: version, total, meta };
  } finally {
    await end();
  }
}

function nextPageUrl(request: FastifyRequest, cursor: string): string {
  const { pathname, searchParams } = new URL(request.url, 'http://any');
  searchParams.set('cursor', cursor);
  return `${request.server.baseUrl}${pathname}?${searchParams}`;
}
