import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type { ItemList } from '../api/items.ts';
import type { Rows } from '../api/queries.ts';
import { Button } from '../components/button.tsx';
import type { Filters } from '../components/filters.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import { formatNumber } from '../format.ts';
import { useIssues } from '../issues/queries.ts';
import { useRisks } from '../risks/queries.ts';
import { useTasks } from '../tasks/queries.ts';
import { entryOf, type ListSource, rememberShown, walkThrough } from './source.ts';
import './walk.css';

type Item = { id: string; key: string };
type Props = { list: ItemList; item: Item };

/** Leads to the next and the previous item of the list that the page was opened from. */
export function ItemWalk({ list, item }: Props) {
  const { source, index } = entryOf(useHistoryState());
  if (source?.list !== list || index === undefined) return null;
  return <Walk key={item.key} source={source} index={index} item={item} />;
}

const lists: Record<ItemList, (filters: Filters) => Rows<Item>> = {
  risks: (filters) => useRisks(filters, { hasMovement: false }),
  issues: useIssues,
  tasks: useTasks,
};

/** The rows before and after the current one that are loaded in advance. */
const reach = 5;

/** The button that was pressed. It keeps the focus on the next page. */
let pressed: 'Previous' | 'Next' | undefined;

function Walk({ source, index, item }: { source: ListSource; index: number; item: Item }) {
  const useList = lists[source.list];
  const { rows, total, hasNextPage, isFetching, isError, fetchNextPage, showRows } = useList(source.filters);
  const [, navigate] = useLocation();
  const place = rows.findIndex(({ key }) => key === item.key);
  const isListed = place !== -1;
  const current = isListed ? place : index;
  const { previous, next } = findNeighbors(source, rows, item.key, index);

  // After a reload, or near the end of what is loaded, more rows are needed.
  const isShort = rows.length <= current + reach;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage]);
  // After a change, only the pages around the item are read again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the position has changed
  useEffect(() => {
    showRows(Math.max(0, current - reach), current + reach);
    rememberShown(source, { id: item.id, index: current });
  }, [current]);
  const nav = useRef<HTMLElement>(null);
  const hasRows = rows.length > 0;
  useEffect(() => {
    if (!hasRows || !pressed) return;
    nav.current?.querySelector<HTMLElement>(`[aria-label="${pressed}"]`)?.focus();
    pressed = undefined;
  }, [hasRows]);

  const go = (to: Item | undefined, button?: typeof pressed) => {
    if (!to) return false;
    pressed = button;
    const position = rows.findIndex(({ key }) => key === to.key);
    // A step back leads to the list, however many items were looked at.
    navigate(`/${source.list}/${to.key}`, { replace: true, state: { source, index: position } });
    return true;
  };
  useShortcut('J', () => go(next));
  useShortcut('K', () => go(previous));
  if (!hasRows) return null;
  return (
    <nav ref={nav} className="item-walk no-print" aria-label="List">
      <Button
        plain
        small
        icon="up"
        aria-label="Previous"
        aria-keyshortcuts="Shift+K"
        isDisabled={!previous}
        onPress={() => go(previous, 'Previous')}
      />
      <Button
        plain
        small
        icon="down"
        aria-label="Next"
        aria-keyshortcuts="Shift+J"
        isDisabled={!next}
        onPress={() => go(next, 'Next')}
      />
      <span className="quiet">
        {isListed
          ? `${formatNumber(place + 1)}${total === null ? '' : ` of ${formatNumber(total)}`}`
          : 'No longer in this list'}
      </span>
    </nav>
  );
}

/** The nearest rows before and after an item that are still in the list. */
function findNeighbors(source: ListSource, rows: readonly Item[], key: string, index: number) {
  const order = walkThrough(
    source,
    rows.map((row) => row.key),
  );
  const listed = new Map(rows.map((row) => [row.key, row]));
  const at = order.indexOf(key);
  // The page was loaded again when the item had left the list already.
  if (at === -1) return { previous: rows[index - 1], next: rows[index] };
  const nearest = (keys: readonly string[]) => listed.get(keys.find((one) => listed.has(one)) ?? '');
  return { previous: nearest(order.slice(0, at).reverse()), next: nearest(order.slice(at + 1)) };
}
