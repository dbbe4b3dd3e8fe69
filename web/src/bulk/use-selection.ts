import { useState } from 'react';

/** What a table needs to show which rows are selected. */
export type Selection<Row> = {
  rows: readonly Row[];
  isSelected: (row: Row) => boolean;
  /** Selects or deselects a row; `extend` does the same with all rows since the last one. */
  toggle: (row: Row, extend: boolean) => void;
  /** Selects a row and another one next to it. */
  select: (rows: readonly Row[]) => void;
  toggleAll: () => void;
  labelOf: (row: Row) => string;
};

/** The service changes at most this many items in one request. */
export const maxItems = 500;

type Item = { id: string; key: string };

type State = { list: string; ids: ReadonlySet<string>; keys: ReadonlyMap<string, string>; last?: string };

/** The selected rows of a list. `list` names its filters: other filters start with nothing selected. */
export function useSelection<Row extends Item>(rows: readonly Row[], list: string) {
  const [state, setState] = useState<State>({ list, ids: new Set(), keys: new Map() });
  if (state.list !== list) setState({ list, ids: new Set(), keys: new Map() });
  const { ids } = state;
  const set = (next: Iterable<string>, last?: string) => {
    const keys = new Map([...state.keys, ...rows.map(({ id, key }) => [id, key] as const)]);
    setState({ list, ids: new Set(next), keys, ...(last !== undefined && { last }) });
  };
  const selected = rows.filter(({ id }) => ids.has(id));
  const present = new Set(selected.map(({ id }) => id));

  const toggle = (row: Row, extend: boolean) => {
    const next = new Set(ids);
    const from = extend ? rows.findIndex(({ id }) => id === state.last) : -1;
    const to = rows.findIndex(({ id }) => id === row.id);
    const range = from === -1 ? [row] : rows.slice(Math.min(from, to), Math.max(from, to) + 1);
    for (const { id } of range) {
      if (ids.has(row.id)) next.delete(id);
      else next.add(id);
    }
    set(next, row.id);
  };

  const selection: Selection<Row> = {
    rows: selected,
    isSelected: ({ id }) => ids.has(id),
    toggle,
    select: (more) => set([...ids, ...more.map(({ id }) => id)], more.at(-1)?.id),
    toggleAll: () => set(selected.length === rows.length ? [] : rows.map(({ id }) => id)),
    labelOf: ({ key }) => `Select ${key}`,
  };
  return {
    selection,
    ids,
    /** The keys of selected rows that have left the list. */
    gone: [...ids].filter((id) => !present.has(id)).map((id) => state.keys.get(id) ?? id),
    clear: () => set([]),
    deselect: (removed: readonly string[]) => set([...ids].filter((id) => !removed.includes(id))),
  };
}
