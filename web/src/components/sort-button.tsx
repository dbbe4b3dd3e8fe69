/** The order in the URL, and how to change it. */
export type Sort = { value: string | undefined; onChange: (value: string | null) => void };

export type SortableColumn = {
  header: string;
  /** The orders that the header switches between; `-` is descending, and '' is the order of the list itself. */
  sorts?: readonly string[];
  /** Whether the values fall where the field that they are sorted by rises, like the age with the day an issue was raised. */
  isReversed?: boolean;
};

type Props = {
  column: SortableColumn;
  sort: Sort;
  /** On paper it is text: browsers do not repeat buttons at the top of the next page. */
  isPrinted: boolean;
};

export function directionOf({ sorts = [], isReversed = false }: SortableColumn, { value = '' }: Sort) {
  if (!sorts.includes(value)) return undefined;
  return value.startsWith('-') === isReversed ? 'ascending' : 'descending';
}

/** A header that sorts the table by its column. */
export function SortButton({ column, sort, isPrinted }: Props) {
  const { sorts = [], header } = column;
  const direction = directionOf(column, sort);
  // After the last order, the list returns to its own.
  const next = sorts[sorts.indexOf(sort.value ?? '') + 1] ?? null;
  const isOnlyOrder = direction !== undefined && sorts.length === 1;
  const mark = direction && (direction === 'ascending' ? '↑' : '↓');
  if (isPrinted) return mark ? `${header}\u00a0${mark}` : header;
  return (
    <button
      type="button"
      className="sort"
      aria-disabled={isOnlyOrder || undefined}
      onClick={() => isOnlyOrder || sort.onChange(next)}
    >
      {header}
      <span aria-hidden="true">{mark}</span>
    </button>
  );
}
