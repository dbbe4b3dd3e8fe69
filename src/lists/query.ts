import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { limits, OneOf, optional, Strict } from '../core/schemas.ts';
import { formatNames } from './formats.ts';

const paging = {
  limit: Type.Integer({
    minimum: 1,
    maximum: limits.page_rows,
    description: 'Rows in a page. Without it the answer is the whole list.',
  }),
  cursor: Type.String({
    minLength: 1,
    maxLength: 8000,
    description: '`page.next_cursor` of the page before. It works only with the same filters and sort.',
  }),
  count: Type.Boolean({
    description: 'Also count all rows into `page.total`. A whole list is always counted.',
  }),
  format: OneOf(formatNames, { description: 'Instead of `Accept`: for a link or a browser.' }),
};

/** The query parameters of a list: its filters, and what all lists take. */
export const ListQuery = <F extends TProperties>(filters: F) => Strict(optional({ ...filters, ...paging }));

/** The same for a list that can be ordered in several ways; the first is the default. */
export const SortableListQuery = <F extends TProperties>(filters: F, sorts: readonly string[]) =>
  ListQuery({
    ...filters,
    sort: OneOf(sorts, { ...(sorts[0] && { default: sorts[0] }), description: '`-` is from high to low.' }),
  });

/** The values of a list's filters, as a route hands them to its query. */
export type Filters<F extends TProperties> = Partial<Static<TObject<F>>>;

export type Paging = Filters<typeof paging>;

/** Splits a query into how to page and what to filter by; the latter is echoed as `meta.filters`. */
export function splitQuery<Q extends Paging & { sort?: string }>(query: Q) {
  const { limit, cursor, count, format, sort, ...filters } = query;
  return { paging: { limit, cursor, count: count ?? false }, format, sort, filters };
}
