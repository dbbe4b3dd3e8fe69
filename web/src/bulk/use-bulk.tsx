import { type ReactNode, useEffect, useState } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Rows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { Filters } from '../components/filters.tsx';
import { lazy } from '../components/lazy.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import type { BulkItem } from './kinds.ts';
import { type Selection, useSelection } from './use-selection.ts';

const AssignDialog = lazy(() => import('./bulk-bar.tsx'), 'AssignDialog');
const BulkBar = lazy(() => import('./bulk-bar.tsx'), 'BulkBar');

/** The selection of a list and the bar with what can be done with it; nothing for a key that cannot write. */
export function useBulk<Row extends BulkItem>(
  kind: ItemList,
  list: Rows<Row>,
  filters: Filters,
  { isReadOnly = false } = {},
): { selection?: Selection<Row>; bar?: ReactNode } {
  const hasScope = useHasScope();
  const { rows } = list;
  const listName = JSON.stringify(filters);
  const { selection, clear, deselect } = useSelection(rows, listName);
  const selectFirst = useSelectFirst(list, listName, selection);
  const [assignedId, setAssignedId] = useState<string>();
  const assigned = rows.filter(({ id }) => id === assignedId);
  // A list of a past day shows former states.
  const canChange = !isReadOnly && hasScope('projects.manage') && !filters.as_of;
  useShortcut('a', () => {
    const focused = document.activeElement?.closest('#main tbody tr');
    const row = rows[Number(focused?.ariaRowIndex) - 2];
    // The row of an issue has a button of its own.
    const hasButton = focused?.querySelector('.assign-button');
    if (!row || hasButton || selection.rows.length > 0 || !canChange || !hasScope('personnel.read'))
      return false;
    setAssignedId(row.id);
    return true;
  });
  if (!canChange) return {};
  if (assigned.length > 0) {
    const close = () => setAssignedId(undefined);
    return {
      selection,
      bar: <AssignDialog kind={kind} items={assigned} onClose={close} />,
    };
  }
  const hasMore = selection.rows.length === rows.length && list.hasNextPage;
  const bar = selection.rows.length > 0 && (
    <BulkBar
      kind={kind}
      items={selection.rows}
      total={hasMore ? list.total : null}
      selectFirst={selectFirst}
      clear={clear}
      deselect={deselect}
    />
  );
  return { selection, bar };
}

/** Returns a function that selects the first rows of a list, and loads those that are not loaded yet. */
function useSelectFirst<Row>(
  { rows, hasNextPage, fetchNextPage }: Rows<Row>,
  listName: string,
  { select }: Selection<Row>,
) {
  const [wanted, setWanted] = useState({ listName, count: 0 });
  const setCount = (count: number) => setWanted({ listName, count });
  // Other filters meanwhile are another list.
  const count = wanted.listName === listName ? wanted.count : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when more rows are wanted or have been loaded
  useEffect(() => {
    if (count === 0) return;
    if (rows.length < count && hasNextPage) {
      void fetchNextPage().then(({ isError }) => isError && setCount(0));
      return;
    }
    select(rows.slice(0, count));
    setCount(0);
  }, [count, rows.length]);
  return setCount;
}
