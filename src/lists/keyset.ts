import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { hasForbiddenCharacters } from '../core/text.ts';
import { indexedStart, jsonRow } from '../database/sql/functions.ts';
import type { Tables } from '../store/tables.ts';

// biome-ignore lint/suspicious/noExplicitAny: lists join different tables; only `json` and `order` are selected
export type RowsQuery = SelectQueryBuilder<any, any, any>;

/**
 * Rows are in the order of `key`, and those with an equal key in the ascending order of `tie`. Together they are unique for
 * each row, so a cursor is those of the last row (keyset pagination). `isNumber` if the key is a number, which the engines
 * compare with the text of a cursor.
 */
export type Order = {
  key: RawBuilder<string>;
  tie?: RawBuilder<string>;
  descending?: boolean;
  isNumber?: boolean;
  /** An index has this many first characters of the key, because a whole key may be too long for it. */
  indexedLength?: number;
  /** Joins that only the key needs. */
  joins?(rows: RowsQuery): RowsQuery;
  /** How to find the first rows of a list in which most rows match: see `Walk`. */
  walks?: readonly Walk[];
};

/**
 * A part of the rows of a list, found in the order of another table, such as the risks of people by the name of the person.
 * The walks of an order find all rows, each of them once. `isTied` if all of its rows have the same key, `isJoined` if its
 * key does without the joins of the order.
 */
export type Walk = {
  rows(db: Kysely<Tables>): RowsQuery;
  key: RawBuilder<string>;
  isTied?: boolean;
  isJoined?: boolean;
};

/** Where a page continues: the key and the tie of the row before it. */
export type Bound = { key: string | RawBuilder<string>; tie: string | RawBuilder<string> };

/** The bound that the order key of a row stands for. Undefined if a client made it up. */
export function boundOf(order: Order, orderKey: string): { key: string; tie: string } | undefined {
  const parts: unknown = order.tie ? parseJson(orderKey) : [orderKey, ''];
  const [key, tie] = Array.isArray(parts) ? parts : [];
  const isValid = [key, tie].every((part) => typeof part === 'string' && !hasForbiddenCharacters(part));
  return isValid ? { key, tie } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sorts rows in an order. */
export function ordered({ key, tie, descending, indexedLength }: Order, rows: RowsQuery): RowsQuery {
  const direction = descending ? 'desc' : 'asc';
  const start = indexedLength === undefined ? rows : rows.orderBy(startOf(key, indexedLength), direction);
  const byKey = start.orderBy(key, direction);
  return tie ? byKey.orderBy(tie) : byKey;
}

/** Whether a row comes after a bound. */
export function beyond({ key, tie, descending, indexedLength }: Order, after: Bound): RawBuilder<boolean> {
  const than = descending ? sql`<` : sql`>`;
  const isBeyond = sql<boolean>`${key} ${than} ${after.key}`;
  if (!tie) return isBeyond;
  const isTied = sql<boolean>`(${key} = ${after.key} and ${tie} > ${after.tie})`;
  // The first condition is a range of an index.
  const [start, from] =
    indexedLength === undefined
      ? [key, sql`${after.key}`]
      : [startOf(key, indexedLength), startOf(sql`cast(${after.key} as text)`, indexedLength)];
  return sql<boolean>`(${start} ${than}= ${from} and (${isBeyond} or ${isTied}))`;
}

/** Whether a row is not beyond the row with this key, in an order without ties. */
export const upTo = ({ key, descending }: Order, end: string) =>
  descending ? sql<boolean>`${key} >= ${end}` : sql<boolean>`${key} <= ${end}`;

const startOf = (key: RawBuilder<unknown>, length: number) => sql<string>`${indexedStart(key, length)}`;

/** The same order by the selected keys. */
export const foundOrder = ({ tie, descending = false }: Order, table: string): Order => ({
  key: sql.ref(`${table}.order_key`),
  ...(tie && { tie: sql.ref(`${table}.order_tie`) }),
  descending,
});

export const orderKey = ({ key, tie }: Order): RawBuilder<string> =>
  tie ? sql<string>`${jsonRow([key, tie])}` : key;
