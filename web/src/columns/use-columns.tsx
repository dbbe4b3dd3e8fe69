import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { ItemList } from '../api/items.ts';
import { browserStorage } from '../api/storage.ts';
import type { Column } from '../components/table.tsx';
import type { ViewList } from '../views/store.ts';
import { ColumnsMenu } from './columns-menu.tsx';

export type ColumnChoice<Row> = {
  /** The columns to show. */
  columns: readonly Column<Row>[];
  /** The chosen columns as in the URL; nothing while the list has its own. */
  value: string | undefined;
  /** In rem. Chosen columns are shown on every screen, so the table may have to scroll. */
  minWidth: number | undefined;
  menu: ReactNode;
};

/** In rem: the room for the column that takes the remaining space, and for the checkboxes and the menu of the rows. */
const flexibleWidth = 14;
const ownWidth = 4.6;

/**
 * The columns that the user has chosen for a list. The choice is in the URL, so that it can be shared and be part of a
 * view. Without one in the URL, the last choice in this browser applies.
 */
export function useColumns<Row>(
  list: ViewList | `project ${ItemList}`,
  all: readonly Column<Row>[],
): ColumnChoice<Row> {
  const storageKey = `muster-columns ${list}`;
  const [params, setParams] = useSearchParams();
  const [remembered, setRemembered] = useState(() => browserStorage.getItem(storageKey));
  const hideable = all.filter(({ isPinned }) => !isPinned);
  const own = hideable.filter(({ isOptional, from }) => !isOptional && (!from || isOnScreen(from)));
  const chosen = chosenOf(all, params.get('columns')) ?? chosenOf(all, remembered);
  const shown = chosen ?? own.map(({ name }) => name);

  const choose = (names: readonly string[]) => {
    const isOwn = own.length === names.length && own.every(({ name }) => names.includes(name));
    const value = isOwn ? null : formatChoice(all, names);
    if (value) browserStorage.setItem(storageKey, value);
    else browserStorage.removeItem(storageKey);
    setRemembered(value);
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        if (value) next.set('columns', value);
        else next.delete('columns');
        return next;
      },
      { replace: true },
    );
  };

  const columns = all
    .filter(({ name, isPinned, isOptional }) => isPinned || (chosen ? chosen.includes(name) : !isOptional))
    .filter(({ isHidden }) => !isHidden)
    .map(({ from, ...column }) => (from && !chosen?.includes(column.name) ? { ...column, from } : column));
  return {
    columns,
    value: chosen && formatChoice(all, chosen),
    minWidth: chosen && columns.reduce((sum, column) => sum + widthOf(column), ownWidth),
    menu: (
      <ColumnsMenu
        options={hideable.filter(({ isHidden }) => !isHidden)}
        shown={shown}
        onChange={choose}
        onReset={chosen && (() => choose(own.map(({ name }) => name)))}
      />
    ),
  };
}

const widthOf = <Row,>({ width = flexibleWidth }: Column<Row>) => width;

/** The widths from which table.css shows columns, so that the menu has a mark only at those that are shown. */
const screens = { tablet: '52rem', laptop: '64rem', desktop: '75rem', large: '88rem', wide: '100rem' };

const isOnScreen = (from: keyof typeof screens) => matchMedia(`(width > ${screens[from]})`).matches;

/** The names of the columns that can be hidden. A value without any known name is ignored. */
function chosenOf<Row>(all: readonly Column<Row>[], value: string | null): string[] | undefined {
  const names = (value ?? '').split(',');
  const known = all.filter(({ name }) => names.includes(name));
  return known.length === 0 ? undefined : known.filter(({ isPinned }) => !isPinned).map(({ name }) => name);
}

/** In the order of the list. It contains a pinned column too, so it is never empty. */
const formatChoice = <Row,>(all: readonly Column<Row>[], names: readonly string[]) =>
  all
    .filter(({ name, isPinned }) => names.includes(name) || (isPinned && name !== 'actions'))
    .map(({ name }) => name)
    .join(',');
