import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import type { Selection } from '../bulk/use-selection.ts';
import { formatNumber, pluralize } from '../format.ts';
import { directionOf, type Sort, type SortableColumn, SortButton } from './sort-button.tsx';
import { TableFrame } from './table-frame.tsx';
import { useIsPhone } from './use-is-phone.ts';

export type Column<Row> = SortableColumn & {
  name: string;
  /** What the menu of columns calls it, if not like the header. */
  label?: string;
  /** Always shown. */
  isPinned?: boolean;
  /** Hidden until the user chooses it. */
  isOptional?: boolean;
  /** Has nothing to show now, so it is not offered either. Whether the user has chosen it is kept. */
  isHidden?: boolean;
  cell: (row: Row) => ReactNode;
  /** The field that can be edited in the cell; `rating` stands for the probability and the impact of a risk. */
  edits?: string;
  /** In rem. The column without a width takes the remaining space. */
  width?: number;
  end?: boolean;
  /** Below the title on a phone, which has no room for the column. */
  onPhone?: boolean | ((row: Row) => ReactNode);
  /** The smallest screen that shows the column. */
  from?: 'tablet' | 'laptop' | 'desktop' | 'large' | 'wide';
};

const widthOf = ({ width }: Pick<Column<never>, 'width'>) =>
  width ? ({ '--width': `${width}rem` } as CSSProperties) : undefined;

export type TableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** The number of all rows, when `loadMore` can load more of them. */
  total?: number | null;
  /** Whether there are more rows than these, which is known before their number is. */
  hasMore?: boolean;
  sort?: Sort | undefined;
  /** In rem. On a narrower screen the table scrolls sideways. */
  minWidth?: number | undefined;
  /** Adds a column of checkboxes. */
  selection?: Selection<Row> | undefined;
  /** The key of the row that gets the focus when it is there. */
  focus?: { key: string; onFocused: () => void } | undefined;
  /** Renders what edits a cell, after its value. */
  editCell?: ((row: Row, column: Column<Row>) => ReactNode) | undefined;
  /** The key of the row that is shown beside the table. */
  current?: string | undefined;
  /** The rows are those of other filters, so none of them can be selected. */
  isUpdating?: boolean;
  /** Called with the indexes of the first and the last row in the DOM. */
  onVisible?: ((first: number, last: number) => void) | undefined;
  loadMore?: (() => void) | undefined;
};

/** Of most rows, as in table.css. A title that takes more lines makes its row higher. */
const rowHeights = { phone: 57, phoneWithDetails: 81, other: 41 };

/** A virtualized table: only the visible rows are in the DOM, and scrolling near the end loads more. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  total = rows.length,
  hasMore = false,
  sort,
  minWidth,
  selection,
  focus,
  current,
  editCell,
  isUpdating = false,
  onVisible,
  loadMore,
}: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(body.current?.offsetTop ?? 0), []);
  const isPrinting = usePrinting();
  const isPhone = useIsPhone();
  const details = isPhone && !isPrinting ? columns.filter(({ onPhone, from }) => onPhone && from) : [];
  const rowHeight = rowHeights[details.length > 0 ? 'phoneWithDetails' : isPhone ? 'phone' : 'other'];
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: offset,
    getItemKey: (index) => rowKey(rows[index] as Row),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtualizer keeps the heights that it has computed
  useLayoutEffect(() => virtualizer.measure(), [rowHeight]);
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (loadMore && last >= rows.length - 20) loadMore();
  }, [loadMore, last, rows.length]);

  useEffect(() => {
    const index = focus ? rows.findIndex((row) => rowKey(row) === focus.key) : -1;
    if (!focus || index === -1) return;
    const link = body.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${index + 2}"] .row-link`);
    if (!link) return virtualizer.scrollToIndex(index, { align: 'center' });
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
    focus.onFocused();
  });

  const first = items[0]?.index ?? 0;
  useEffect(() => onVisible?.(first, last), [onVisible, first, last]);
  const visible = isPrinting ? rows.map((_, index) => index) : items.map((item) => item.index);
  const above = isPrinting ? 0 : (items[0]?.start ?? offset) - offset;
  const below = isPrinting ? 0 : virtualizer.getTotalSize() + offset - (items.at(-1)?.end ?? offset);
  return (
    <TableFrame label={label} minWidth={minWidth}>
      <table
        className={details.length > 0 ? 'table with-details' : 'table'}
        style={minWidth && !isPrinting ? { minWidth: `${minWidth}rem` } : undefined}
        aria-label={label}
        aria-rowcount={(total ?? -2) + 1}
        onKeyDown={(event) => moveBetweenRows(event, rows, isUpdating ? undefined : selection)}
      >
        <thead>
          <tr aria-rowindex={1}>
            {selection && (
              <th scope="col" className="select no-print">
                <SelectAll selection={selection} rows={rows} isDisabled={isUpdating} />
              </th>
            )}
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={classOf(column)}
                style={widthOf(column)}
                aria-sort={sort && directionOf(column, sort)}
              >
                {sort && column.sorts ? (
                  <SortButton column={column} sort={sort} isPrinted={isPrinting} />
                ) : (
                  <Header column={column} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {above > 0 && <Spacer height={above} />}
          {visible.map((index) => {
            const row = rows[index] as Row;
            return (
              <tr
                key={rowKey(row)}
                ref={isPrinting ? undefined : virtualizer.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
                data-row={rowKey(row)}
                aria-current={rowKey(row) === current || undefined}
                className={selection?.isSelected(row) ? 'selected' : undefined}
              >
                {selection && (
                  <td className="select no-print">
                    <Checkbox
                      label={selection.labelOf(row)}
                      isChecked={selection.isSelected(row)}
                      isDisabled={isUpdating}
                      onToggle={(extend) => selection.toggle(row, extend)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.name} className={classOf(column)} data-edits={column.edits}>
                    {column.cell(row)}
                    {column.edits && editCell?.(row, column)}
                    {column.name === 'title' && details.length > 0 && (
                      <Details>
                        {details.map((detail) => [detail.name, detailOf(detail, row)] as const)}
                      </Details>
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
          {below > 0 && <Spacer height={below} />}
        </tbody>
      </table>
      {(total === null ? hasMore : rows.length < total) && (
        <p className="print-only">
          {total === null
            ? `The first ${pluralize(rows.length, 'row')}; there are more.`
            : `${formatNumber(rows.length)} of ${pluralize(total, 'row')}.`}{' '}
          Export the list to get all rows.
        </p>
      )}
    </TableFrame>
  );
}

const detailOf = <Row,>({ onPhone, cell }: Column<Row>, row: Row) =>
  typeof onPhone === 'function' ? onPhone(row) : cell(row);

/** The columns that a phone has no room for, in a line below the title. */
const Details = ({ children }: { children: readonly (readonly [name: string, cell: ReactNode])[] }) => (
  <span className="phone-line">{children.map(([name, cell]) => cell && <span key={name}>{cell}</span>)}</span>
);

/** The buttons of the rows need no visible heading. */
const Header = <Row,>({ column: { name, header } }: { column: Column<Row> }) =>
  isOfButtons(name) ? <span className="visually-hidden">{header}</span> : header;

type CellButtonProps = { label: string; onClick: () => void; children: ReactNode };

/** A button that covers its cell. */
export const CellButton = ({ label, onClick, children }: CellButtonProps) => (
  <button type="button" className="cell-name" aria-label={label} title={label} onClick={onClick}>
    {children}
  </button>
);

/** Takes the height of the rows outside the view. */
export const Spacer = ({ height }: { height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it contains nothing focusable
  <tr aria-hidden="true" className="spacer">
    <td style={{ height }} />
  </tr>
);

const isOfButtons = (name: string) => name === 'actions' || name === 'menu';

/** Buttons are no part of a printout. */
const classOf = ({ name, end, from }: { name: string; end?: boolean; from?: string }) =>
  [isOfButtons(name) && 'no-print', end && 'end', from && `from-${from}`].filter(Boolean).join(' ') ||
  undefined;

type CheckboxProps = {
  label: string;
  isChecked: boolean;
  isMixed?: boolean;
  isDisabled: boolean;
  /** `extend` if the Shift key was down. */
  onToggle: (extend: boolean) => void;
};

/** A checkbox that fills its cell, so that it is easy to hit. */
const Checkbox = ({ label, isChecked, isMixed = false, isDisabled, onToggle }: CheckboxProps) => (
  <label className="above-row">
    <input
      type="checkbox"
      aria-label={label}
      checked={isChecked}
      // Keeps the focus, unlike `disabled`.
      aria-disabled={isDisabled || undefined}
      ref={(input) => {
        if (input) input.indeterminate = isMixed;
      }}
      onChange={({ nativeEvent }) => !isDisabled && onToggle((nativeEvent as MouseEvent).shiftKey)}
    />
  </label>
);

type SelectAllProps<Row> = { selection: Selection<Row>; rows: readonly Row[]; isDisabled: boolean };

/** Selects all rows that are loaded. */
const SelectAll = <Row,>({ selection, rows, isDisabled }: SelectAllProps<Row>) => {
  const isChecked = selection.rows.length === rows.length;
  return (
    <Checkbox
      label="Select all loaded rows"
      isChecked={isChecked}
      isMixed={!isChecked && selection.rows.length > 0}
      isDisabled={isDisabled}
      onToggle={selection.toggleAll}
    />
  );
};

const cellControls = 'a, .cell-edit, .assign-button';

/**
 * The up and down arrow keys move the focus between the links, the checkboxes or the cells of the rows. With Shift they
 * select the rows on the way. The left and right arrow keys move it between the cells of a row that can be edited.
 */
function moveBetweenRows<Row>(
  event: KeyboardEvent<HTMLTableElement>,
  rows: readonly Row[],
  selection: Selection<Row> | undefined,
): void {
  const { target, key, shiftKey } = event;
  if (!(target instanceof HTMLElement)) return;
  const row = target.closest('tbody tr');
  const isCheckbox = target instanceof HTMLInputElement && target.type === 'checkbox';
  if (!row || !(isCheckbox || target.matches(cellControls))) return;
  if (key === 'ArrowRight' || key === 'ArrowLeft') moveInRow(event, row, target);
  const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[key];
  const column = target.closest('td')?.cellIndex ?? 0;
  const cell = next instanceof HTMLTableRowElement ? next.cells[column] : undefined;
  const control = cell?.querySelector<HTMLElement>(isCheckbox ? 'input' : cellControls);
  if (!next || !control) return;
  event.preventDefault();
  const passed = [row, next].flatMap(({ ariaRowIndex }) => rows[Number(ariaRowIndex) - 2] ?? []);
  if (shiftKey) selection?.select(passed);
  control.focus();
}

function moveInRow(event: KeyboardEvent, row: Element, from: HTMLElement): void {
  const controls = [...row.querySelectorAll<HTMLElement>(cellControls)].filter((one) =>
    one.checkVisibility(),
  );
  const to = controls[controls.indexOf(from) + (event.key === 'ArrowRight' ? 1 : -1)];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

/** A printout contains all loaded rows, not only the visible ones. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}
