import { type ReactNode, useEffect, useState } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Rows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { useAction } from '../components/action-button.tsx';
import type { Filters } from '../components/filters.tsx';
import { lazy } from '../components/lazy.tsx';
import type { Column } from '../components/table.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import type { BulkItem } from './kinds.ts';
import { type RowAction, RowMenu } from './row-menu.tsx';
import { maxItems, type Selection, useSelection } from './use-selection.ts';

const AssignDialog = lazy(() => import('./bulk-bar.tsx'), 'AssignDialog');
const BulkBar = lazy(() => import('./bulk-bar.tsx'), 'BulkBar');

const none: ReadonlySet<string> = new Set();

/** The selection of a list and the bar with what can be done with it; nothing for a key that cannot write. */
export function useBulk<Row extends BulkItem>(
  kind: ItemList,
  list: Rows<Row>,
  filters: Filters,
  { action, isReadOnly = false }: { action: RowAction<Row>; isReadOnly?: boolean | undefined },
): { selection?: Selection<Row>; bar?: ReactNode; menu?: Column<Row> } {
  const hasScope = useHasScope();
  const { rows } = list;
  const listName = JSON.stringify(filters);
  const { selection, ids, gone, clear, deselect } = useSelection(rows, listName);
  const selectFirst = useSelectFirst(list, listName, selection);
  const keptIds = ids.size > maxItems ? none : ids;
  useEffect(() => list.keepFresh('selection', keptIds));
  const [assigned, setAssigned] = useState<Row>();
  const [acted, setActed] = useState<Row>();
  const { run } = useAction();
  const canAssign = hasScope('personnel.read');
  // A list of a past day shows former states.
  const canChange = !isReadOnly && hasScope('projects.manage') && !filters.as_of;
  useShortcut('a', () => {
    const focused = document.activeElement?.closest('#main tbody tr');
    const row = rows[Number(focused?.ariaRowIndex) - 2];
    // The row of an issue has a button of its own.
    const hasButton = focused?.querySelector('.assign-button');
    if (!row || hasButton || selection.rows.length > 0 || !canChange || !canAssign) return false;
    setAssigned(row);
    return true;
  });
  if (!canChange) return {};
  const menu: Column<Row> = {
    name: 'menu',
    header: 'Actions',
    width: 2.6,
    end: true,
    cell: (row) => (
      <RowMenu
        item={row}
        actions={[
          ...(action.isOffered?.(row) === false
            ? []
            : [
                {
                  label: action.label,
                  run: () => (action.act ? void run(() => action.act(row)) : setActed(row)),
                },
              ]),
          ...(canAssign ? [{ label: 'Assign…', run: () => setAssigned(row) }] : []),
        ]}
      />
    ),
  };
  if (acted && action.dialog) {
    // After a conflict the dialog goes on with this one.
    const latest = rows.find(({ id }) => id === acted.id) ?? acted;
    return { selection, menu, bar: action.dialog(latest, () => setActed(undefined)) };
  }
  if (assigned) {
    const close = () => setAssigned(undefined);
    return {
      selection,
      menu,
      bar: <AssignDialog kind={kind} items={[assigned]} onClose={close} />,
    };
  }
  const hasMore = selection.rows.length === rows.length && list.hasNextPage;
  const bar = ids.size > 0 && (
    <BulkBar
      kind={kind}
      items={selection.rows}
      gone={gone}
      isReading={!list.isFresh(keptIds)}
      total={hasMore ? list.total : null}
      selectFirst={selectFirst}
      clear={clear}
      deselect={deselect}
    />
  );
  return { selection, menu, bar };
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
