import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type ItemList, useItem } from '../api/items.ts';
import type { Rows } from '../api/queries.ts';
import { lazy } from '../components/lazy.tsx';
import { Loading } from '../components/loading.tsx';
import type { TableProps } from '../components/table.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import './preview.css';

const Preview = lazy(
  () => import('./preview.tsx'),
  'Preview',
  <aside className="preview-panel no-print" aria-label="Preview">
    <Loading />
  </aside>,
);

type Item = { id: string; key: string; project_key: string; version: number };

/** The row in the preview, and the ids of the rows around it when it was opened, nearest first. */
type Held<Row> = { listName: string; row: Row; before: string[]; after: string[] };

/**
 * The preview of the focused row beside the list. Space opens and closes it, and it follows the focus. Its row keeps its
 * place, also when a change moves it or takes it out of the list, until the focus moves on.
 */
export function usePreview<Row extends Item>(list: ItemList, listName: string, { rows }: Rows<Row>) {
  const [state, setHeld] = useState<Held<Row>>();
  const held = state?.listName === listName ? state : undefined;
  const [focus, setFocus] = useState<TableProps<Row>['focus']>();
  const { data: item } = useItem(list, held?.row.project_key ?? '', held?.row.key ?? null);
  const shown = held ? holdRow(rows, held, item) : rows;
  const current = held ? shown.findIndex(({ id }) => id === held.row.id) : -1;

  const indexOf = (row: Row) => rows.findIndex(({ id }) => id === row.id);
  const show = (row: Row) => {
    const ids = rows.map(({ id }) => id);
    const index = indexOf(row);
    setHeld({ listName, row, before: ids.slice(0, index).reverse(), after: ids.slice(index + 1) });
  };
  const focusRow = (row: Row | undefined) =>
    setFocus(row && { key: row.id, onFocused: () => setFocus(undefined) });
  const step = (by: number) => {
    const next = by === 0 ? undefined : shown[current + by];
    if (next) show(next);
    focusRow(next ?? held?.row);
  };
  const close = () => {
    if (!held) return;
    setHeld(undefined);
    const isListed = indexOf(held.row) !== -1;
    focusRow(isListed ? held.row : rows[Math.min(current, rows.length - 1)]);
  };
  /** Of the last render, also before the effects of the table, which focus a row. */
  const latest = useRef({ shown, held, show, step });
  useLayoutEffect(() => {
    latest.current = { shown, held, show, step };
  });

  useEffect(() => {
    const follow = ({ target }: FocusEvent) => {
      const { shown, held, show } = latest.current;
      const row = (target as Element).closest?.<HTMLElement>('#main tbody tr[data-row]');
      const focused = shown.find(({ id }) => id === row?.dataset.row);
      if (held && focused && focused.id !== held.row.id) show(focused);
    };
    document.addEventListener('focusin', follow);
    return () => document.removeEventListener('focusin', follow);
  }, []);
  useShortcut(' ', () => {
    const link = document.activeElement;
    if (!link?.matches('#main tbody .row-link')) return false;
    if (held) close();
    else {
      const { row: focused } = link.closest('tr')?.dataset ?? {};
      const row = rows.find(({ id }) => id === focused);
      if (row) show(row);
    }
    return true;
  });
  const whileOpen = (act: () => void) => () => {
    if (held) act();
    return held !== undefined;
  };
  const next = whileOpen(() => step(1));
  const previous = whileOpen(() => step(-1));
  useShortcut('Escape', whileOpen(close));
  useShortcut('j', next);
  useShortcut('k', previous);

  const row = shown[current];
  const panel: ReactNode = row && (
    <Preview
      key={row.id}
      list={list}
      item={row}
      onClose={close}
      toRow={() => latest.current.step(0)}
      toNext={() => latest.current.step(1)}
    />
  );
  return { rows: shown, focus, current: held?.row.id, panel };
}

/**
 * Puts a row back to where it was: after the nearest row before it that is still there, or before the one after it. It
 * shows its latest version. When it has left the loaded rows, its rank is not known, and another row may have the old one.
 */
function holdRow<Row extends Item>(
  rows: readonly Row[],
  { row, before, after }: Held<Row>,
  item: Item | undefined,
): Row[] {
  const others = rows.filter(({ id }) => id !== row.id);
  const places = new Map(others.map(({ id }, index) => [id, index]));
  const nearest = (ids: readonly string[]) => places.get(ids.find((id) => places.has(id)) ?? '');
  const place = (nearest(before) ?? (nearest(after) ?? 0) - 1) + 1;
  // What the list computes for its rows, such as the rank, is in the row of the list.
  const listed = rows.find(({ id }) => id === row.id) ?? { ...row, ...('rank' in row && { rank: null }) };
  const isNewer = item?.id === row.id && item.version > listed.version;
  return others.toSpliced(place, 0, isNewer ? { ...listed, ...item } : listed);
}
