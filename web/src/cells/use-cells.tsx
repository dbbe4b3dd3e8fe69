import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Rows } from '../api/queries.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { tabStorage } from '../api/storage.ts';
import { DialogLoading } from '../components/dialog.tsx';
import type { Filters } from '../components/filters.tsx';
import { Icon } from '../components/icon.tsx';
import { lazy } from '../components/lazy.tsx';
import type { Column, TableProps } from '../components/table.tsx';
import { cellKey } from './cell-key.ts';
import './cells.css';

const CellEditor = lazy(() => import('./cell-editor.tsx'), 'CellEditor');

const PasteDialog = lazy(() => import('./paste-dialog.tsx'), 'PasteDialog');

type Item = { id: string; key: string; title: string; version: number };
type Pasted = { id: string; field: string; header: string; values: string[] };
/** With the rows from the cell on, as they were at that moment. */
type Held<Row> = Pasted & { rows: readonly Row[] };
type Open = { id: string; field: string };

/**
 * The buttons and the inputs that edit the cells of a list; nothing for a key that cannot write. Arrow keys reach the
 * buttons, so that Tab does not stop at each cell.
 */
export function useCells<Row extends Item>(
  list: ItemList,
  filters: Filters,
  { rows, keepFresh, isFresh }: Pick<Rows<Row>, 'rows' | 'keepFresh' | 'isFresh'>,
  { isReadOnly = false } = {},
): { editCell?: TableProps<Row>['editCell']; dialog?: ReactNode } {
  const hasScope = useHasScope();
  const me = useMe();
  const [open, setOpen] = useState<Open>();
  const [, setClosed] = useState(0);
  const isFocusDue = useRef<Open>(undefined);
  // A list of a past day shows former states.
  const canEdit = !isReadOnly && !filters.as_of && hasScope('projects.manage');
  const [pasted, setPasted] = useState<Held<Row>>();
  // Here rather than in a row, which can leave the list while its dialog is open.
  const [rated, setRated] = useState<Row>();
  usePaste(canEdit, (next) => {
    const start = rows.findIndex(({ id }) => id === next.id);
    if (start === -1) return;
    // The focus returns to the cell when the dialog is closed.
    isFocusDue.current = open;
    tabStorage.removeItem(cellKey(me, next.id, next.field));
    setOpen(undefined);
    setPasted({ ...next, rows: rows.slice(start, start + next.values.length) });
  });
  const pastedIds = new Set(pasted?.rows.map(({ id }) => id));
  useEffect(() => keepFresh('paste', pastedIds));
  if (!canEdit) return {};
  const latest = new Map(rows.map((row) => [row.id, row]));
  // Rows far below may have changed without being read again.
  const dialog = pasted ? (
    isFresh(pastedIds) ? (
      <PasteDialog
        list={list}
        field={pasted.field}
        header={pasted.header}
        values={pasted.values}
        rows={pasted.rows.map((row) => latest.get(row.id) ?? row)}
        onClose={() => setPasted(undefined)}
      />
    ) : (
      <DialogLoading onClose={() => setPasted(undefined)} />
    )
  ) : (
    rated && (
      <CellEditor
        list={list}
        item={latest.get(rated.id) ?? rated}
        field="rating"
        onClose={() => setRated(undefined)}
      />
    )
  );
  const editCell = (row: Row, { header, edits = '' }: Column<Row>): ReactNode => {
    const isPerson = edits.endsWith('_user_id');
    // The row of an issue has a button that assigns it.
    if ((isPerson && !hasScope('personnel.read')) || (list === 'issues' && edits === 'assignee_user_id'))
      return null;
    const cell = { id: row.id, field: edits };
    const isIn = (one: Open | undefined) => one?.id === row.id && one.field === edits;
    const isOpen = isIn(open) || tabStorage.getItem(cellKey(me, row.id, edits)) !== null;
    const close = (isFocusInside: boolean) => {
      isFocusDue.current = isFocusInside ? cell : undefined;
      // A cell with a change that was scrolled away can be open beside another one.
      setOpen((current) => (isIn(current) ? undefined : current));
      setClosed((count) => count + 1);
    };
    if (isOpen) return <CellEditor list={list} item={row} field={edits} onClose={close} />;
    return (
      <button
        type="button"
        className="cell-edit no-print"
        tabIndex={-1}
        data-field={edits}
        aria-label={`Edit ${header.toLowerCase()} of ${row.key}`}
        ref={(button) => {
          const due = isFocusDue.current;
          if (!button || due?.id !== row.id || due.field !== edits) return;
          isFocusDue.current = undefined;
          button.focus({ preventScroll: true });
        }}
        onClick={() => (edits === 'rating' ? setRated(row) : setOpen(cell))}
      >
        <Icon name="edit" />
      </button>
    );
  };
  return { editCell, dialog };
}

/** Reports a column of values that is pasted into a cell. A single value that is pasted into an input is left to the input. */
function usePaste(isEnabled: boolean, onPaste: (pasted: Pasted) => void): void {
  const act = useRef(onPaste);
  useEffect(() => {
    act.current = onPaste;
  });
  useEffect(() => {
    if (!isEnabled) return;
    const listen = (event: ClipboardEvent) => {
      const focused = document.activeElement;
      const cell = focused?.closest<HTMLTableCellElement>('#main tbody td');
      const row = cell?.closest('tr')?.dataset.row;
      const field = cell?.dataset.edits;
      const lines = (event.clipboardData?.getData('text/plain') ?? '').replace(/\r?\n$/, '').split(/\r?\n/);
      const isInput = focused?.matches('input, textarea, select');
      if (!row || !field || focused?.matches('a') || (isInput && lines.length === 1)) return;
      event.preventDefault();
      // A rating can be in two columns.
      const values = lines.map((line) => (field === 'rating' ? line : (line.split('\t')[0] ?? '')));
      const header = cell.closest('table')?.querySelectorAll('thead th')[cell.cellIndex]?.textContent ?? '';
      act.current({ id: row, field, header: header.replace(/[↑↓]$/, ''), values });
    };
    document.addEventListener('paste', listen);
    return () => document.removeEventListener('paste', listen);
  });
}
