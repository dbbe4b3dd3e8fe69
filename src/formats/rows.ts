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
  /** For the header of a table: the lines above it, which are not imported. */
  titles?: readonly Title[];
  /** For the header of a sheet: the sheet, and the other sheets of the workbook. */
  sheet?: { name: string; others: string[] };
  /** Why the row is invalid as a whole; its cells are not used. */
  error?: string;
};

/** A line above the header, and the texts of its cells that are not empty. */
export type Title = { line: number; texts: readonly string[] };

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
    if (count !== undefined && count !== names.length)
      return { line, names, cells, error: wrongCount(count, names.length) };
    const unnamed = cells.findIndex((cell, i) => i >= names.length && isFilled(cell));
    return { line, names, cells, ...(unnamed !== -1 && { error: unnamedColumn(unnamed) }) };
  };

  function start(position: number, rows: Row[]): void {
    const { line, cells, error } = waiting[position] as TableRow;
    if (error !== undefined) throw new Problem('malformed_request', `The header cannot be read. ${error}`);
    const header = Array.from(cells, (cell) => String(cell ?? '').trim());
    names = header;
    const titles = waiting.slice(0, position).map(({ line, cells }) => ({
      line,
      texts: cells.filter(isFilled).map((cell) => String(cell).trim()),
    }));
    rows.push({ line, names, cells: names, isHeader: true, titles });
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
        if (row.count === 1 || row.cells.filter(isFilled).length > 1) start(waiting.length - 1, rows);
        else if (waiting.length > maxTitleRows) start(0, rows);
      }
    },
    /** Call it after the last row. */
    end(rows: Row[]): void {
      if (waiting.length > 0) start(0, rows);
    },
  };
}

/** A cell with white space only counts as empty. */
export const isFilled = (cell: unknown) =>
  cell !== undefined && cell !== null && (typeof cell !== 'string' || cell.trim() !== '');

/** `A` is the column 0, `AB` the column 27. */
export const columnName = (column: number): string =>
  (column >= 26 ? columnName(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));

/** `A1` is 0, `AB1` is 27; undefined without letters. */
export function columnNumber(reference: string | undefined): number | undefined {
  let number = 0;
  for (let at = 0; reference !== undefined && at < 3; at++) {
    const letter = reference.charCodeAt(at) - 64;
    if (!(letter >= 1 && letter <= 26)) break;
    number = number * 26 + letter;
  }
  return number === 0 ? undefined : number - 1;
}

export const unnamedColumn = (column: number) =>
  `Column ${columnName(column)} has a value in this row, but no name in the header. Name the column, or clear the cell.`;

const wrongCount = (count: number, width: number) =>
  `This row has ${count} cells, but the header has ${width}. Put text with a comma, semicolon or line break in quotes.`;
