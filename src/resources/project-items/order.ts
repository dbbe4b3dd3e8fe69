import { type Kysely, sql } from 'kysely';
import { containsText, firstTwoLines, notIndexed, secondLine } from '../../database/sql/functions.ts';
import { hasText } from '../../lists/filters.ts';
import type { List, Order, RowsQuery, Walk } from '../../lists/list.ts';
import {
  byKey,
  byRelevance,
  byText,
  type Direction,
  hasWord,
  missing,
  positionIn,
  startsWith,
} from '../../lists/orders.ts';
import type { Tables } from '../../store/tables.ts';

type ItemTable = 'risks' | 'issues' | 'tasks';

/** The key of the default order of each list. It ends with the id, so it is unique. Equal items are in this order. */
const ranks = {
  risks: { column: 'rank_key', idFrom: 25 },
  issues: { column: 'rank_key', idFrom: 23 },
  tasks: { column: 'due_key', idFrom: 11 },
} as const;

export const rankOf = (table: ItemTable) => sql.ref<string>(`${table}.${ranks[table].column}`);

/** Filters whose rows an index finds, so that no other row is read. */
export const isNarrow = (filters: object) =>
  [...people, ...items, ...changes].some((name) => name in filters);

/** Whether the rows belong to one item, or have one external id: their index does not contain whether they are open. */
const isOfOneItem = (filters: object) => items.some((name) => name in filters);

/** Whether all rows are read in the order they are stored, because no index has the descriptions. */
const readsTable = (filters: { search?: string | undefined }) =>
  filters.search === 'all' && !('project' in filters) && !isNarrow(filters);

/** Whether rows are found without the index of open or active items. */
export const ignoresStatusIndex = (filters: object) => isOfOneItem(filters) || readsTable(filters);

const people = ['owner_user_id', 'owner_group_id', 'assignee_user_id'];
const items = ['risk_id', 'issue_id', 'external_id'];
const changes = ['change'];

/** How a list of items finds its rows. `isBroad` if most items match. */
export const findItems = (
  table: ItemTable,
  filters: object,
  isBroad: boolean,
): Pick<List, 'id' | 'idFrom' | 'scan' | 'walksOrder'> => {
  const id = sql.ref<string>(`${table}.id`);
  if (isNarrow(filters)) return { id };
  const { idFrom } = ranks[table];
  const { status, archived, ...rest } = filters as Record<string, unknown>;
  return {
    id,
    idFrom,
    scan: scanOf(table, filters),
    walksOrder: isBroad && archived !== 'true' && Object.keys(rest).length === 0,
  };
};

/**
 * Reads the items of all projects, project by project, in an index that has the columns of all filters and orders: SQLite
 * follows the order of a cross join.
 */
export const scanOf =
  (table: ItemTable, filters: object = {}) =>
  (db: Kysely<Tables>): RowsQuery => {
    const isInProject = sql<boolean>`${sql.ref(`${table}.project_id`)} = projects.id`;
    return readsTable(filters)
      ? (db.selectFrom(table) as RowsQuery).crossJoin('projects').where(isInProject)
      : (db.selectFrom('projects') as RowsQuery).crossJoin(table).where(isInProject);
  };

/** The orders by the fields that all items have. */
export const commonOrders = (table: ItemTable, statuses: readonly string[]): Record<string, Order> => {
  const tie = rankOf(table);
  return {
    ...byKey('title', tie, foldedTitle(table), { indexedLength: 40 }),
    ...byKey('status', tie, positionIn(`${table}.status`, statuses)),
    ...byKey('project_name', tie, sql.ref('projects.name_key')),
    ...byKey('updated_at', tie, sql.ref(`${table}.updated_at`)),
  };
};

/** The columns of an item that name a person or a group, and the table with the names. */
const named = {
  assignee_user_id: { table: 'people', id: 'user_id', key: 'roster_key' },
  owner_user_id: { table: 'people', id: 'user_id', key: 'roster_key' },
  owner_group_id: { table: 'groups', id: 'id', key: 'name_key' },
} as const;

/**
 * The orders by the name of the person or group in one of these columns. A list in which most items match walks the people
 * in the order of their names; otherwise the name of each item is looked up. It is not joined, because counting rows must
 * do without joins.
 */
export const byName = <Name extends string>(
  name: Name,
  table: ItemTable,
  columns: readonly (keyof typeof named)[],
) => {
  const names = columns.map((column) => {
    const { table: people, id, key } = named[column];
    return sql`(select ${sql.ref(`${people}.${key}`)} from ${sql.table(people)}
      where ${sql.ref(`${people}.${id}`)} = ${sql.ref(`${table}.${column}`)})`;
  });
  const first = names.length === 1 ? sql<string>`${names[0]}` : sql<string>`coalesce(${sql.join(names)})`;
  return byText(name, rankOf(table), first, (direction) => ({ walks: walksOf(table, columns, direction) }));
};

/** The items of each person and group, by name, and the items without one. */
function walksOf(table: ItemTable, columns: readonly (keyof typeof named)[], direction: Direction): Walk[] {
  const project = sql<boolean>`projects.id = ${sql.ref(`${table}.project_id`)}`;
  const walks = columns.map((column): Walk => {
    const { table: people, id, key } = named[column];
    return {
      rows: (db) =>
        (db.selectFrom(people) as RowsQuery)
          .crossJoin(table)
          .crossJoin('projects')
          .where(sql<boolean>`${sql.ref(`${table}.${column}`)} = ${sql.ref(`${people}.${id}`)}`)
          .where(project),
      key: sql.ref(`${people}.${key}`),
    };
  });
  const isNameless = columns.map((column) => sql`${sql.ref(`${table}.${column}`)} is null`);
  const nameless: Walk = {
    rows: (db) => scanOf(table)(db).where(sql<boolean>`${sql.join(isNameless, sql` and `)}`),
    isTied: true,
    key: sql`cast(${sql.lit(missing[direction])} as text)`,
  };
  return [...walks, nameless];
}

/** The sort orders of a list of items. The first is the default. */
export const sortsOf = (orders: Record<string, Order>) => [...Object.keys(orders), 'relevance'];

/** One of the orders, or the relevance for `q`, in which equally good matches are in the default order. */
export function itemOrder(
  table: ItemTable,
  orders: Record<string, Order>,
  sort: string,
  filters: { q?: string; search?: string },
): Order {
  const order = sort === 'relevance' ? itemsByRelevance(table, filters.q) : (orders[sort] as Order);
  return readsTable(filters) ? { ...order, key: sql`${notIndexed(order.key)}` } : order;
}

/**
 * The item with this key, then keys that start with the text, titles that start with it, titles with a word that starts
 * with it, titles that contain it, then descriptions.
 */
function itemsByRelevance(table: ItemTable, q: string | undefined): Order {
  const searched = foldedHeading(table);
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
    rankOf(table),
  );
}

/** The searched text is the folded key, title and description, each on a line. An index has the first two. */
const searchText = (table: ItemTable) => sql.ref<string>(`${table}.search_folded`);
const foldedHeading = (table: ItemTable) => firstTwoLines(searchText(table));
const foldedTitle = (table: ItemTable) => sql<string>`${secondLine(searchText(table))}`;

/** For `q`: whether the key or title contains the text, or with `search=all` the description. */
export const itemHasText = (table: ItemTable, search: 'titles' | 'all' = 'titles') =>
  search === 'all' ? hasText(searchText(table), containsText) : hasText(foldedHeading(table));
