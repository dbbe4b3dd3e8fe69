import { useLayoutEffect } from 'react';
import type { FilterState } from '../components/filters.tsx';
import type { Sort } from '../components/table.tsx';
import type { ViewList } from '../views/store.ts';

/**
 * The order of a list. It is in the URL, so that it can be shared and be part of a view. A link with nothing but the path,
 * such as that of the menu, opens the list in the order that was last chosen in this browser.
 */
export function useSort(list: ViewList, { filters, set }: FilterState): Sort {
  const storageKey = `muster-sort ${list}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the page opens, not when a user clears the filters
  useLayoutEffect(() => {
    const last = localStorage.getItem(storageKey);
    if (last && location.search === '') set({ sort: last }, { replace: true });
  }, []);
  return {
    value: filters.sort,
    onChange: (value) => {
      if (value) localStorage.setItem(storageKey, value);
      else localStorage.removeItem(storageKey);
      set({ sort: value });
    },
  };
}
