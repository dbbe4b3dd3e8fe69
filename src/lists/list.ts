import { setImmediate } from 'node:timers/promises';
import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import type { TObject } from 'typebox';
import { groupsRows } from '../database/sql/batches.ts';
import { jsonRow, optimizeForFirstRows } from '../database/sql/functions.ts';
import { streamLines } from '../database/sql/lines.ts';
import { cached, param, type Statement, statement } from '../database/sql/statement.ts';
import type { TableName, Tables } from '../store/tables.ts';
import { versionExpression } from '../store/writes/table-versions.ts';
import {
  type Bound,
  beyond,
  boundOf,
  foundOrder,
  type Order,
  ordered,
  orderKey,
  type RowsQuery,
  upTo,
} from './keyset.ts';

export type { Order, RowsQuery, Walk } from './keyset.ts';

/** What a resource declares about a list. This folder pages, streams and serializes all lists. */
export type List = {
  schema: TObject;
  /** The JSON text of a row, built by the database: see `rowAsJson`. */
  json: RawBuilder<string>;
  /** The tables the response depends on. */
  reads: readonly TableName[];
  /** The joined tables. The columns, conditions and order are added by this file. */
  from(db: Kysely<Tables>): RowsQuery;
  /** The same where no index has the order: joined so that a covering index is scanned. Absent means `from`. */
  scan?(db: Kysely<Tables>): RowsQuery;
  /** Joins that only `json` needs, so that counting rows and finding a page do without them. */
  joins?(rows: RowsQuery, db: Kysely<Tables>): RowsQuery;
  /** Another way to read what subqueries of `json` read, for whole lists. */
  grouped?: Grouped;
  /** Adds fields that are computed for the rows of a page together. For lists that no index finds. */
  extend?(db: Kysely<Tables>, rows: ListRow[]): Promise<ListRow[]>;
  /** The unique id of a row. */
  id: RawBuilder<string>;
  /** The tie of each order, or its key if it has none, contains the id from this character on. Absent if it does not. */
  idFrom?: number;
  /** The combined condition of the filters. */
  matches: RawBuilder<boolean>;
  order: Order;
  /** Whether most rows match, so that the walks of the order find a page sooner than a scan. */
  walksOrder?: boolean;
  /** Whether an index finds a page, so that the page can be read on the connection for quick reads. Absent means true. */
  isIndexed?: boolean;
  /** Whether the list changes within a day without a change of the data. */
  isTimeDependent?: boolean;
  /** Whether each row contains its rank in the list. */
  ranked?: boolean;
  /** Numbers in `meta`: each is a scalar subquery, so that one statement can read a page with them. */
  counts?(db: Kysely<Tables>): Record<string, Expression<unknown>>;
  /** Other fields of `meta`. `lastKey` is the order key of the last row, if more rows follow. */
  meta?(db: Kysely<Tables>, lastKey?: string): Promise<Record<string, unknown>>;
};

/**
 * Groups the rows of other tables for many rows of a list at once and joins them. On PostgreSQL that can take a third of
 * the time of a subquery for each row; on SQLite such a subquery is cheap. Worth it only where it is measured to be.
 */
type Grouped = {
  /** The JSON text of a row, from the joined tables. */
  json: RawBuilder<string>;
  /** Joins one row for each of these ids. */
  joins(rows: RowsQuery, ids: RowsQuery): RowsQuery;
};

/** `order_key` is the order key of the row; with a tie, the JSON of both. */
export type ListRow = { json: string; order_key: string };

/** The rows after a cursor as lines, each the JSON of a row. */
export const listLines = (db: Kysely<Tables>, list: List, after: string | undefined, sliceRows: number) =>
  list.grouped && groupsRows(db)
    ? groupedLines(db, list, list.grouped, after, sliceRows)
    : streamLines(
        db,
        linesQuery(list, list.json, withJoins(db, list, rowsAfter(db, list, boundAfter(list, after)))),
        sliceRows,
      );

const linesQuery = (list: List, json: RawBuilder<string>, rows: RowsQuery) =>
  ordered(list.order, rows.select(json.as('line')))
    .modifyEnd(optimizeForFirstRows())
    .$castTo<{ line: string }>();

/** Rows of a part of a list. The first part is short, so that the first rows arrive early. */
const firstPartRows = 200;
const maxPartRows = 10_000;

/**
 * Reads a list in parts, each a range of the order, and groups other tables for the rows of that part. A single join would
 * have to group and sort everything before the first row. Without an index for the order, all rows are sorted anyway.
 */
async function* groupedLines(
  db: Kysely<Tables>,
  list: List,
  grouped: Grouped,
  after: string | undefined,
  sliceRows: number,
): AsyncGenerator<{ lines: string }> {
  let start = after;
  for (let size = firstPartRows; ; size = maxPartRows) {
    const isOneRead = list.isIndexed === false || list.order.tie;
    const end = isOneRead ? undefined : await keyOfRow(db, list, start, size);
    const rows = rowsAfter(db, list, boundAfter(list, start));
    const part = end === undefined ? rows : rows.where(upTo(list.order, end));
    const joined = grouped.joins(withJoins(db, list, part), part.select(list.id.as('id')));
    yield* streamLines(db, linesQuery(list, grouped.json, joined), sliceRows);
    if (end === undefined) return;
    start = end;
  }
}

/** The order key of the row with this number after a cursor, if there are as many. */
async function keyOfRow(db: Kysely<Tables>, list: List, after: string | undefined, number: number) {
  const keys = rowsAfter(db, list, boundAfter(list, after)).select(list.order.key.as('order_key'));
  const [row] = await ordered(list.order, keys)
    .limit(1)
    .offset(number - 1)
    .$castTo<{ order_key: string | number }>()
    .execute();
  return row && String(row.order_key);
}

/** The first rows after a cursor, in slices of about `maxSliceLength` characters. */
export async function* pageSlices(
  db: Kysely<Tables>,
  list: List,
  after: string | undefined,
  limit: number,
): AsyncGenerator<ListRow[]> {
  const query = selectPage(db, list, boundAfter(list, after), sql.lit(limit), (rows, order_key) =>
    // JSON text contains no tabs and no line feeds; an order key may.
    rows.select(
      sql<string>`${list.json} || ${sql.lit('\t')} || ${list.order.tie ? order_key : jsonRow([order_key])}`.as(
        'line',
      ),
    ),
  );
  const extended: ListRow[] = [];
  for await (const { lines } of streamLines(db, query.$castTo<{ line: string }>(), limit)) {
    const rows = lines.split('\n').map((line) => parsePageLine(list.order, line));
    if (list.extend) extended.push(...rows);
    else yield rows;
  }
  if (!list.extend) return;
  const rows = await list.extend(db, extended);
  for (let start = 0; start < rows.length; start += 50) {
    yield rows.slice(start, start + 50);
    await setImmediate();
  }
}

function parsePageLine({ tie }: Order, line: string): ListRow {
  const end = line.indexOf('\t');
  const keys = line.slice(end + 1);
  return { json: line.slice(0, end), order_key: tie ? keys : JSON.parse(keys)[0] };
}

/** The first rows after a cursor. */
export async function listPage(db: Kysely<Tables>, list: List, after: string | undefined, limit: number) {
  const page = pageStatement(list, 'page', after, limit, (rows) => rows);
  const { rows } = await page(db, { ...boundAfter(list, after), limit });
  const needed = rows.length > limit ? rows.slice(0, limit) : rows;
  return list.extend ? list.extend(db, needed) : needed;
}

/**
 * A page with the version and the counts of its data, read by one statement and therefore from one snapshot without a
 * transaction, to save round trips. An empty page has no version.
 */
export async function versionedPage(
  db: Kysely<Tables>,
  list: List,
  after: string | undefined,
  limit: number,
) {
  const page = pageStatement(list, 'versioned page', after, limit, (rows, db) => {
    const counts = Object.entries(list.counts?.(db) ?? {});
    return rows.select([
      versionExpression(list.reads).as('version'),
      ...counts.map(([name, count]) => sql<number>`${count}`.as(name)),
    ]);
  });
  const { rows } = await page(db, { ...boundAfter(list, after), limit });
  const [first] = rows as (ListRow & Record<string, number>)[];
  if (!first) return undefined;
  const { json, order_key, version, ...counts } = first;
  return { rows: rows.slice(0, limit), version: Number(version), counts };
}

export async function readCounts(db: Kysely<Tables>, list: List): Promise<Record<string, number>> {
  const counts = Object.entries(list.counts?.(db) ?? {});
  if (counts.length === 0) return {};
  const columns = counts.map(([name, count]) => sql`${count} as ${sql.ref(name)}`);
  const { rows } = await sql<Record<string, number>>`select ${sql.join(columns)}`.execute(db);
  return rows[0] ?? {};
}

/** The statement for a page of this size. It lives as long as its list is cached. */
function pageStatement(
  list: List,
  kind: string,
  after: string | undefined,
  limit: number,
  extend: (rows: RowsQuery, db: Kysely<Tables>) => RowsQuery,
): Statement<ListRow> {
  const size = list.isIndexed === false ? undefined : pageSizes.find((size) => size >= limit);
  const pages = pageStatements.get(list) ?? new Map<string, Statement<ListRow>>();
  pageStatements.set(list, pages);
  const key = `${kind} ${after === undefined ? 'first' : 'later'} ${size}`;
  const page =
    pages.get(key) ??
    statement<ListRow>((db) => {
      const cursor =
        after === undefined ? undefined : { key: param<string>('key'), tie: param<string>('tie') };
      const rowLimit = size === undefined ? param<number>('limit') : sql.lit(size);
      const rows = selectPage(db, list, cursor, rowLimit, (found, order_key) =>
        found.select([list.json.as('json'), order_key.as('order_key')]),
      );
      return extend(rows, db);
    });
  pages.set(key, page);
  return page;
}

const pageStatements = new WeakMap<List, Map<string, Statement<ListRow>>>();

/**
 * Limits with a prepared statement of their own. Other limits read the next larger size and drop the extra rows; limits
 * above the largest are a parameter. A statement for each possible limit would evict all other statements, and with a
 * parameter both engines plan each page again, which takes longer than reading a short page. Each size is a usual limit
 * plus one, because a page reads one extra row to see whether another page follows. A page that no index finds takes
 * longer than its plan, so its limit is always a parameter.
 */
const pageSizes = [2, 6, 11, 21, 26, 51, 101, 201];

/** Without an index for the order, an inner query sorts only ids and keys, and the outer query builds the JSON. */
function selectPage(
  db: Kysely<Tables>,
  list: List,
  after: Bound | undefined,
  limit: RawBuilder<number>,
  select: (rows: RowsQuery, order_key: RawBuilder<string>) => RowsQuery,
): RowsQuery {
  const { order } = list;
  if (list.isIndexed !== false) {
    const rows = select(withJoins(db, list, rowsAfter(db, list, after)), orderKey(order));
    return ordered(order, rows).limit(limit);
  }
  const findKeys = list.walksOrder && order.walks ? walkedKeys : scannedKeys;
  const page = findKeys(db, list, after, limit).as('page');
  const found = foundOrder(order, 'page');
  const id =
    list.idFrom === undefined
      ? sql.ref('page.id')
      : sql`substr(${found.tie ?? found.key}, ${sql.lit(list.idFrom)})`;
  // Before left joins: after them, SQLite would build a record of each row that it finds, not only of those of the page.
  const rows = list.from(db).innerJoin(page, (join) => join.on(sql<boolean>`${id} = ${list.id}`));
  return ordered(found, select(withJoins(db, list, rows), orderKey(found)));
}

/** The ids and keys of a page, found by scanning all rows. */
const scannedKeys = (
  db: Kysely<Tables>,
  list: List,
  after: Bound | undefined,
  limit: RawBuilder<number>,
): RowsQuery =>
  ordered(list.order, selectKeys(list, rowsAfter(db, list, after, list.scan), list.order)).limit(limit);

/** The same, found by following the walks of the order. Each of them finds enough rows for the page. */
function walkedKeys(
  db: Kysely<Tables>,
  list: List,
  after: Bound | undefined,
  limit: RawBuilder<number>,
): RowsQuery {
  const { joins: _, ...unjoined } = list.order;
  const parts = (list.order.walks ?? []).map(({ rows, key, isTied = false, isJoined = false }, i) => {
    const order = { ...(isJoined ? unjoined : list.order), key };
    const keys = selectKeys(list, rowsAfter(db, { ...list, order }, after, rows), order);
    const found = (isTied && order.tie ? keys.orderBy(order.tie) : ordered(order, keys)).limit(limit);
    return sql`select * from (${found}) as ${sql.ref(`walk_${i}`)}`;
  });
  const found = sql`(${sql.join(parts, sql` union all `)})`.as('found');
  return ordered(foundOrder(list.order, 'found'), db.selectFrom(found).selectAll() as RowsQuery).limit(limit);
}

const selectKeys = (list: List, rows: RowsQuery, { key, tie }: Order) =>
  rows.select([
    ...(list.idFrom === undefined ? [list.id.as('id')] : []),
    key.as('order_key'),
    ...(tie ? [tie.as('order_tie')] : []),
  ]);

/** Returns the same list object for the same key, so that its statements are built once. */
export const memoizedList = (key: unknown, create: () => List): List =>
  cached(`list ${JSON.stringify(key)}`, create);

export const countRows = (db: Kysely<Tables>, list: List): Promise<number> =>
  count(rowsAfter(db, list, undefined, list.scan));

/** The number of rows up to and including the cursor. */
export const countUpTo = (db: Kysely<Tables>, list: List, cursor: string): Promise<number> => {
  const bound = boundAfter(list, cursor) ?? { key: '', tie: '' };
  return count(
    (list.scan ?? list.from)(db)
      .where(list.matches)
      .where(sql<boolean>`not (${beyond(list.order, bound)})`),
  );
};

export async function count(rows: RowsQuery): Promise<number> {
  const { n } = await rows.select(sql<number>`count(*)`.as('n')).executeTakeFirstOrThrow();
  return n;
}

function rowsAfter(
  db: Kysely<Tables>,
  list: List,
  after: Bound | undefined,
  from: List['from'] = list.from,
): RowsQuery {
  const { joins = (rows: RowsQuery) => rows } = list.order;
  const rows = joins(from(db).where(list.matches));
  return after === undefined ? rows : rows.where(beyond(list.order, after));
}

const boundAfter = ({ order }: List, after: string | undefined) =>
  after === undefined ? undefined : boundOf(order, after);

/** All rows, without the conditions and the order of the list. */
export const jsonRows = (db: Kysely<Tables>, list: List) =>
  withJoins(db, list, list.from(db)).select(list.json.as('json')).$castTo<{ json: string }>();

const withJoins = (db: Kysely<Tables>, list: List, rows: RowsQuery) => list.joins?.(rows, db) ?? rows;
