import { type FieldError, invalidParameter, Problem } from '../core/errors.ts';
import { fold } from '../core/text.ts';

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
  /** For the header of a table: the first lines of the file, one of which it is. */
  firstLines?: readonly Title[];
  /** For the header of a sheet: the sheet, the other sheets of the workbook, and all that are not hidden. */
  sheet?: { name: string; others: string[]; visible: string[] };
  /** Why the row is invalid as a whole; its cells are not used. */
  error?: string;
  /** Why the row is no data, such as a group title; it is not imported. */
  skipped?: string;
  /** What is odd about the row as a whole. */
  warning?: FieldError;
};

/** A line, and the texts of its cells that are not empty. */
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
export type TableRow = {
  line: number;
  cells: readonly unknown[];
  count?: number;
  error?: string;
  warning?: FieldError;
};

/** The lines of a header among the first rows of a table, and the names they give to the columns. */
type Header = { position: number; lines: number; names: readonly string[] };

/** Where the header of a table is, and which of its rows are no data. */
export type TableLayout = {
  /** The line of the header, if it is known. Then `findHeader` is called with the rows from this line on. */
  headerRow?: number | undefined;
  findHeader(rows: readonly TableRow[]): Header;
  /** Why a row is no data, such as a total; undefined for a row of data. */
  whySkipped(names: readonly string[], cells: readonly unknown[]): string | undefined;
};

const maxTitleRows = 20;

/** The first rows of a table, among which the header is, and the rows after it that decide. */
export const firstRows = maxTitleRows + 5;

/**
 * The header is the first row with two names: a single text above it is a title. In a table of one column, the header is
 * the first row.
 */
export const plainLayout: TableLayout = {
  findHeader(rows) {
    // A spreadsheet pads a title with empty cells.
    const isHeader = ({ cells, count }: TableRow) => count === 1 || cells.filter(isFilled).length > 1;
    const position = Math.max(0, rows.slice(0, maxTitleRows + 1).findIndex(isHeader));
    return { position, lines: 1, names: namesIn(rows[position]) };
  },
  whySkipped: () => undefined,
};

export const namesIn = (row: TableRow | undefined) =>
  Array.from(row?.cells ?? [], (cell) => String(cell ?? '').trim());

/** Names the cells of a table, and marks the rows that are no data. */
export function createTable(layout: TableLayout = plainLayout) {
  const { headerRow } = layout;
  let names: readonly string[] | undefined;
  let waiting: TableRow[] = [];
  /** A row with a single cell, which is a group title if the header follows it again. */
  let held: TableRow | undefined;

  const toRow = ({ line, cells, count, error, warning }: TableRow, names: readonly string[]): Row => {
    if (error !== undefined) return { line, names, cells, error };
    const skipped = layout.whySkipped(names, cells);
    if (skipped !== undefined) return { line, names, cells, skipped };
    const unnamed = cells.findIndex((cell, i) => i >= names.length && isFilled(cell));
    if (count !== undefined && count !== names.length)
      return { line, names, cells, error: wrongCount(count, names.length, unnamed === -1) };
    if (unnamed !== -1) return { line, names, cells, error: unnamedColumn(unnamed) };
    return { line, names, cells, ...(warning && { warning }) };
  };

  function flush(names: readonly string[], rows: Row[], skipped?: string): void {
    if (held) rows.push(skipped ? { ...held, names, skipped } : toRow(held, names));
    held = undefined;
  }

  function addRow(row: TableRow, names: readonly string[], rows: Row[]): void {
    if (isHeaderAgain(names, row.cells)) {
      flush(names, rows, 'It is the title of a group of rows.');
      rows.push({ line: row.line, names, cells: row.cells, skipped: 'It repeats the header.' });
      return;
    }
    flush(names, rows);
    if (row.error === undefined && names.length > 1 && row.cells.filter(isFilled).length === 1) held = row;
    else rows.push(toRow(row, names));
  }

  function start(rows: Row[]): void {
    const candidates = headerRow === undefined ? waiting : waiting.filter(({ line }) => line >= headerRow);
    if (headerRow !== undefined && candidates[0]?.line !== headerRow) throw noHeaderRow(headerRow);
    const { position, lines, names: found } = layout.findHeader(candidates);
    const header = candidates[position] as TableRow;
    if (header.error !== undefined)
      throw new Problem('malformed_request', `The header cannot be read. ${header.error}`);
    if ((header.count ?? 0) > maxColumns)
      throw new Problem(
        'malformed_request',
        `The row on line ${header.line} cannot be read: it has more than ${maxColumns} columns.`,
      );
    names = found;
    const at = waiting.indexOf(header);
    const titles = waiting.slice(0, at).map(textsOf);
    const firstLines = waiting.slice(0, maxFirstLines).map(textsOf);
    rows.push({ line: header.line, names, cells: names, isHeader: true, titles, firstLines });
    for (const row of waiting.slice(at + lines)) addRow(row, found, rows);
    waiting = [];
  }

  /** Whether enough rows were read to find the header. */
  const isComplete = () =>
    headerRow === undefined
      ? waiting.length >= firstRows
      : waiting.length >= maxFirstLines && waiting.filter(({ line }) => line >= headerRow).length >= 2;

  return {
    /** Whether a row was read, which may turn out to be the header. */
    hasRows: () => names !== undefined || waiting.length > 0,
    /** The number of columns; undefined before the header is found. */
    width: () => names?.length,
    /** Appends the row to `rows`, unless it is one of the first rows, among which the header is not found yet. */
    add(row: TableRow, rows: Row[]): void {
      if (names) addRow(row, names, rows);
      else {
        waiting.push(row);
        if (isComplete()) start(rows);
      }
    },
    /** Call it after the last row. */
    end(rows: Row[]): void {
      if (waiting.length > 0) start(rows);
      if (names) flush(names, rows);
    },
  };
}

/** The number of lines among which the sender can choose another header. */
const maxFirstLines = firstRows;

const textsOf = ({ line, cells }: TableRow): Title => ({
  line,
  texts: cells.filter(isFilled).map((cell) => String(cell).trim()),
});

/** Longer texts must be equal to count as the name of a column. */
const maxFolded = 500;

/** Whether the cells of a row are the names of their columns. */
const isHeaderAgain = (names: readonly string[], cells: readonly unknown[]) => {
  const filled = cells.flatMap((cell, i) => (isFilled(cell) ? [i] : []));
  const isName = (i: number) => {
    const [cell, name] = [String(cells[i]).trim(), names[i] ?? ''];
    // Folding a long text takes long, and this looks at each row.
    return cell === name || (cell.length + name.length <= maxFolded && fold(cell) === fold(name));
  };
  return (
    filled.length > 1 &&
    2 * filled.length >= names.filter((name) => name !== '').length &&
    filled.every(isName)
  );
};

const noHeaderRow = (line: number) =>
  invalidParameter(
    'header_row',
    `Line ${line} of the file is no row with cells. Name the line with the column names.`,
  );

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

function wrongCount(count: number, width: number, isEmptyBeyond: boolean): string {
  const found = `This row has ${count} ${count === 1 ? 'cell' : 'cells'}, but the header has ${width}.`;
  if (count < width)
    return `${found} If the last cells are empty, add their separators. If a text has a line break, put it in quotes.`;
  return isEmptyBeyond
    ? `${found} Remove the empty cells at its end, and check that each value is below its name.`
    : `${found} Put text with a comma, semicolon or line break in quotes.`;
}
