import { Problem } from '../core/errors.ts';

/** One raw row of a file. The columns (`columns.ts`) decide what its cells mean. */
export type Row = {
  /** The line on which the row starts. */
  line: number;
  /** The names of its cells. All rows of a table share one array. */
  names: readonly string[];
  /** Texts, or the JSON or spreadsheet values that the format supports. */
  cells: readonly unknown[];
  /** Whether it is the header of a table. */
  isHeader?: true;
  /** For the header of a sheet: the sheet, and the other sheets of the workbook that are not hidden. */
  sheet?: { name: string; others: string[] };
  /** Why the row is invalid as a whole; its cells are not used. */
  error?: string;
};

/** The limit of other request bodies. A longer row most likely has an unclosed quote. */
export const maxRowLength = 1024 * 1024;

/** Resources have a few dozen columns. */
export const maxColumns = 1000;

/** The maximum number of imported rows with 50 columns each. */
export const maxFileCells = 5_000_000;

/** The number of rows of a sheet. Blank rows are skipped, but reading them takes time. */
const maxBlankRows = 1_048_576;

/** Returns a counter of blank rows, which rejects a file with too many. */
export function countBlankRows(): () => void {
  let count = 0;
  return () => {
    if (++count > maxBlankRows) throw new Problem('too_large', tooManyBlankRows);
  };
}

const tooManyBlankRows = `The file has more than ${maxBlankRows} blank rows. Nothing was imported. Delete the blank rows.`;

/** A row of a table before its columns are named. `count` is its number of cells, if the format requires that of all rows. */
type TableRow = { line: number; cells: readonly unknown[]; count?: number; error?: string };

const maxTitleRows = 20;

/**
 * Names the cells of a table. The header is the first row with two names: a single text above it is a title. In a table
 * of one column, the header is the first row.
 */
export function createTable() {
  let names: readonly string[] | undefined;
  let waiting: TableRow[] = [];

  const toRow = ({ line, cells, count, error }: TableRow, names: readonly string[]): Row => {
    if (error !== undefined) return { line, names, cells, error };
    return count === undefined || count === names.length
      ? { line, names, cells }
      : { line, names, cells, error: wrongCount(count, names.length) };
  };

  function start(position: number, rows: Row[]): void {
    const { line, cells, error } = waiting[position] as TableRow;
    if (error !== undefined) throw new Problem('malformed_request', `The header cannot be read. ${error}`);
    const header = Array.from(cells, (cell) => String(cell ?? '').trim());
    names = header;
    rows.push({ line, names, cells: names, isHeader: true });
    for (const row of waiting.slice(position + 1)) rows.push(toRow(row, header));
    waiting = [];
  }

  return {
    /** Whether a row was read, which may turn out to be the header. */
    hasRows: () => names !== undefined || waiting.length > 0,
    /** The number of columns; undefined before the header is found. */
    width: () => names?.length,
    /** Appends the row to `rows`, unless it is a title or may be one. */
    add(row: TableRow, rows: Row[]): void {
      if (names) rows.push(toRow(row, names));
      else {
        waiting.push(row);
        // A spreadsheet pads a title with empty cells.
        if (row.count === 1 || row.cells.filter((cell) => cell !== '' && cell !== undefined).length > 1)
          start(waiting.length - 1, rows);
        else if (waiting.length > maxTitleRows) start(0, rows);
      }
    },
    /** Call it after the last row. */
    end(rows: Row[]): void {
      if (waiting.length > 0) start(0, rows);
    },
  };
}

const wrongCount = (count: number, width: number) =>
  `This row has ${count} cells, but the header has ${width}. Put text with a comma, semicolon or line break in quotes.`;
