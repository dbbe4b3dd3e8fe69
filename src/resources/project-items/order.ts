import { sql } from 'kysely';
import { containsText, secondLine } from '../../database/sql/functions.ts';
import type { Order } from '../../lists/list.ts';
import { byFixedText, byText, positionIn } from '../../lists/orders.ts';
import { byRelevance, hasWord, startsWith } from '../../lists/relevance.ts';

type ItemTable = 'risks' | 'issues' | 'tasks';

/** The orders by the fields that all items have. */
export const commonOrders = (table: ItemTable, statuses: readonly string[]): Record<string, Order> => {
  const id = sql.ref<string>(`${table}.id`);
  return {
    ...byText('title', id, foldedTitle(table)),
    ...byFixedText('status', id, positionIn(`${table}.status`, statuses)),
    ...byText('project_name', id, sql.ref('projects.name_folded')),
    ...byFixedText('updated_at', id, sql.ref(`${table}.updated_at`)),
  };
};

/** The name of a person beside an item. It is not joined, because counting rows must do without joins. */
export const personName = (user_id: string) =>
  sql<string | null>`(select name_folded from people where people.user_id = ${sql.ref(user_id)})`;

export const ownerName = (table: 'risks' | 'issues') =>
  sql<string | null>`coalesce(${personName(`${table}.owner_user_id`)},
    (select name_folded from groups where groups.id = ${sql.ref(`${table}.owner_group_id`)}))`;

/** The sort orders of a list of items. The first is the default. */
export const sortsOf = (orders: Record<string, Order>) => [...Object.keys(orders), 'relevance'];

/** One of the orders, or the relevance for `q`, in which equally good matches are in the default order. */
export function itemOrder(
  table: ItemTable,
  orders: Record<string, Order>,
  sort: string,
  q: string | undefined,
): Order {
  const [byDefault] = Object.values(orders);
  return (sort === 'relevance' ? itemsByRelevance(table, q, byDefault as Order) : orders[sort]) as Order;
}

/**
 * The item with this key, then keys that start with the text, titles that start with it, titles with a word that starts
 * with it, titles that contain it, then descriptions.
 */
function itemsByRelevance(table: ItemTable, q: string | undefined, { key }: Order): Order {
  const searched = sql.ref<string>(`${table}.search_folded`);
  const title = foldedTitle(table);
  return byRelevance(
    q,
    (text) => [
      startsWith(searched, `${text}\n`),
      startsWith(searched, text),
      startsWith(title, text),
      hasWord(title, text),
      containsText(title, text),
    ],
    key,
  );
}

/** The searched text is the folded key, title and description, each on a line. */
const foldedTitle = (table: ItemTable) => sql<string>`${secondLine(sql.ref(`${table}.search_folded`))}`;
