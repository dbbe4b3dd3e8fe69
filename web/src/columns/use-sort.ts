import { useLayoutEffect } from 'react';
import { useSearch } from 'wouter';
import { browserStorage } from '../api/storage.ts';
import type { FilterState } from '../components/filters.tsx';
import type { Sort } from '../components/sort-button.tsx';
import type { Column } from '../components/table.tsx';
import type { ViewList } from '../views/store.ts';

/**
 * The order of a list. It is in the URL, so that it can be shared and be part of a view. A URL with nothing but the path,
 * such as that of the menu, gets the order that was last chosen in this browser, unless the list no longer has it.
 */
export function useSort<Row>(
  list: ViewList,
  { filters, set }: FilterState,
  columns: readonly Column<Row>[],
): Sort {
  const storageKey = `muster-sort ${list}`;
  const search = useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the URL changes
  useLayoutEffect(() => {
    const last = browserStorage.getItem(storageKey);
    const isKnown = columns.some(({ sorts }) => last && sorts?.includes(last));
    if (search === '' && isKnown) set({ sort: last }, { replace: true });
  }, [search]);
  return {
    value: filters.sort,
    onChange: (value) => {
      if (value) browserStorage.setItem(storageKey, value);
      else browserStorage.removeItem(storageKey);
      // A step back to the URL without an order would get the new order too.
      set({ sort: value }, { replace: true });
    },
  };
}
