import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { plural } from '../format.ts';

export type Column<Row> = {
  name: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** In rem; the column without one takes what is left. */
  width?: number;
  end?: boolean;
  /** Shown only where there is room for it. */
  from?: 'tablet' | 'desktop' | 'wide';
};

type Props<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** All there are, when more than `rows` can be had by `more`. */
  total?: number | null;
  more?: (() => void) | undefined;
};

const rowHeight = 41;

/** A list of any length: only the rows in view are in the page, and more are fetched as the end comes near. */
export function Table<Row>({ label, columns, rows, rowKey, total = rows.length, more }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(body.current?.offsetTop ?? 0), []);
  const isPrinting = usePrinting();
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: offset,
    getItemKey: (index) => rowKey(rows[index] as Row),
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= rows.length - 20) more();
  }, [more, last, rows.length]);

  const first = items[0]?.index ?? 0;
  const shown = isPrinting ? rows.map((_, index) => index) : items.map((item) => item.index);
  const above = isPrinting ? 0 : first * rowHeight;
  const below = isPrinting ? 0 : (rows.length - 1 - last) * rowHeight;
  return (
    <>
      <table
        className="table"
        aria-label={label}
        aria-rowcount={(total ?? -2) + 1}
        onKeyDown={moveBetweenRows}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ name, header, width, end, from }) => (
              <th
                key={name}
                scope="col"
                className={classOf({ end, from })}
                style={width ? { width: `${width}rem` } : undefined}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {above > 0 && <Space height={above} />}
          {shown.map((index) => {
            const row = rows[index] as Row;
            return (
              <tr key={rowKey(row)} aria-rowindex={index + 2}>
                {columns.map(({ name, cell, end, from }) => (
                  <td key={name} className={classOf({ end, from })}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {below > 0 && <Space height={below} />}
        </tbody>
      </table>
      {total !== null && rows.length < total && (
        <p className="print-only">
          {plural(rows.length, 'row')} of {plural(total, 'row')}. Scroll to the end before printing, or
          export, for all.
        </p>
      )}
    </>
  );
}

/** The room of the rows that are out of view. */
const Space = ({ height }: { height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: there is nothing in it to focus
  <tr aria-hidden="true" className="space">
    <td style={{ height }} />
  </tr>
);

const classOf = ({ end, from }: { end?: boolean | undefined; from?: string | undefined }) =>
  [end && 'end', from && `from-${from}`].filter(Boolean).join(' ') || undefined;

/** Arrow keys go from row to row, as Tab does from link to link. */
function moveBetweenRows(event: KeyboardEvent<HTMLTableElement>): void {
  const row = (event.target as HTMLElement).closest('tbody tr');
  if (!row || !(event.target instanceof HTMLAnchorElement)) return;
  const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  const link = next?.querySelector<HTMLElement>('a');
  if (!link) return;
  event.preventDefault();
  link.focus();
}

/** On paper all rows are there, not only those in view. */
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
