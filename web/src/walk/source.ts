import { createContext } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Filters } from '../components/filters.tsx';

/** The list that an item was opened from. Its filters contain the order too. */
export type ListSource = { list: ItemList; filters: Filters };

/** A row that was opened, and its position, where the next row is if this one has left the list. */
export type OpenedRow = { id: string; index: number };

/** What the entries of the browser's history remember: of an item its list, and of a list the row that was opened. */
type Entry = { source?: ListSource; index?: number; opened?: OpenedRow };

export const entryOf = (state: unknown): Entry => (state ?? {}) as Entry;

type Rows = {
  source: ListSource;
  /** By the keys of the items. */
  rows: ReadonlyMap<string, OpenedRow>;
};

/** The list around a row, where the pages of its items lead to the next and the previous one. */
export const SourceContext = createContext<Rows | undefined>(undefined);

/** The row whose page was shown last. It can be another one than the row that was opened. */
let lastShown: { name: string; row: OpenedRow } | undefined;

/** The keys of the rows in the order that they had when the first of them was opened. */
let walk = { name: '', keys: [] as string[] };

const nameOf = ({ list, filters }: ListSource) => JSON.stringify([list, filters]);

/** Remembers in the history entry of a list which row is opened, for the way back. */
export function leaveList(row: OpenedRow | undefined): void {
  lastShown = undefined;
  walk = { name: '', keys: [] };
  if (row) history.replaceState({ ...history.state, opened: row }, '');
}

export function rememberShown(source: ListSource, row: OpenedRow): void {
  lastShown = { name: nameOf(source), row };
}

/** The row that has the focus after a step back to a list; undefined unless the list was left through a row. */
export function findOpenedRow(source: ListSource): OpenedRow | undefined {
  const { opened } = entryOf(history.state);
  return opened && lastShown?.name === nameOf(source) ? lastShown.row : opened;
}

/**
 * The order of a walk through a list. A change can move a row or remove it, and the way must not lead past rows again or
 * skip any, so only rows that are loaded later are added.
 */
export function walkThrough(source: ListSource, keys: readonly string[]): readonly string[] {
  const name = nameOf(source);
  if (walk.name !== name) walk = { name, keys: [...keys] };
  const known = new Set(walk.keys);
  walk.keys.push(...keys.filter((key) => !known.has(key)));
  return walk.keys;
}
