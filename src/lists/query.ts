import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { limits, OneOf, optional, Strict } from '../core/schemas.ts';
import { formatNames } from './formats.ts';

const paging = {
  limit: Type.Integer({
    minimum: 1,
    maximum: limits.page_rows,
    description: 'Rows per page. Without it the response contains the whole list.',
  }),
  cursor: Type.String({
    minLength: 1,
    // A name of 200 characters can be 6,600 bytes long when it is folded.
    maxLength: 12_000,
    description: '`page.next_cursor` of the previous page. Valid only with the same filters and sort.',
  }),
  count: Type.Boolean({
    description: 'Count all rows and return the number as `page.total`. A whole list is always counted.',
  }),
  format: OneOf(formatNames, { description: 'Overrides `Accept`, for links and browsers.' }),
  bom: Type.Boolean({ description: 'Start CSV with a byte order mark, by which Excel recognizes UTF-8.' }),
  columns: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    minItems: 1,
    maxItems: 100,
    description:
      'The columns of CSV or XLSX, in this order, each optionally with a name: `key,title=Risk,owner_name=Owner`. By default ' +
      'all fields.',
  }),
  words: Type.Boolean({
    description:
      'Write the values of CSV or XLSX in words: `In progress`, `Yes`. Such a file is for reading; an import may not ' +
      'understand all of it.',
  }),
};

/** The query parameters of a list: its filters and the common paging parameters. */
export const ListQuery = <F extends TProperties>(filters: F) => Strict(optional({ ...filters, ...paging }));

/** The same for a list with several sort orders; the first is the default. */
export const SortableListQuery = <F extends TProperties>(filters: F, sorts: readonly string[]) =>
  ListQuery({
    ...filters,
    sort: OneOf(sorts, { default: String(sorts[0]), description: describeSorts(sorts) }),
  });

const describeSorts = (sorts: readonly string[]) =>
  [
    sorts.some((sort) => sort.startsWith('-')) && '`-` sorts in descending order.',
    sorts.includes('relevance') &&
      '`relevance` needs `q`: the exact key comes first, then keys that start with it, then names (of risks, issues and ' +
        'tasks: titles) that start with it.',
  ]
    .filter(Boolean)
    .join(' ');

/** The filter values that a route passes to its query. */
export type Filters<F extends TProperties> = Partial<Static<TObject<F>>>;

export type Paging = Filters<typeof paging>;

/** Separates paging parameters from filters. The filters are returned as `meta.filters`. */
export function splitQuery<Q extends Paging & { sort?: string }>(query: Q) {
  const { limit, cursor, count, format, bom, columns, words, sort, ...filters } = query;
  const table = { bom, columns, words };
  return { paging: { limit, cursor, count: count ?? false }, format, table, sort, filters };
}
