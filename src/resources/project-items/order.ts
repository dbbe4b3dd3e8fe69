import { sql } from 'kysely';
import { containsText } from '../../database/sql/functions.ts';
import type { Order } from '../../lists/list.ts';
import { byRelevance, hasWord, startsWith } from '../../lists/relevance.ts';

/** The sort orders of a list of items. The first is the default. */
export const sortsOf = (orders: Record<string, Order>) => [...Object.keys(orders), 'relevance'];

/** One of the orders, or the relevance for `q`, in which equally good matches are in the default order. */
export function itemOrder(
  table: 'risks' | 'issues' | 'tasks',
  orders: Record<string, Order>,
  sort: string,
  q: string | undefined,
): Order {
  const [byDefault] = Object.values(orders);
  return (sort === 'relevance' ? itemsByRelevance(table, q, byDefault as Order) : orders[sort]) as Order;
}

/**
 * The key, then keys that start with the text, titles that start with it, titles with a word that starts with it, titles that contain
 * it, then descriptions. The searched text is the folded key, title and description, each on a line; folding hardly changes
 * the length of a title.
 */
function itemsByRelevance(table: string, q: string | undefined, { key }: Order): Order {
  const column = (name: string) => sql.ref<string>(`${table}.${name}`);
  const title = sql<string>`substr(${column('search_folded')}, length(${column('key')}) + 2, length(${column('title')}))`;
  return byRelevance(
    q,
    (text) => [
      startsWith(column('search_folded'), `${text}\n`),
      startsWith(column('search_folded'), text),
      startsWith(title, text),
      hasWord(title, text),
      containsText(title, text),
    ],
    key,
  );
}
