import { type FieldError, Problem } from '../core/errors.ts';
import { withLineFeeds } from '../core/text.ts';
import { escapeFormula, unescapeFormula, unescapeFormulas } from './cells.ts';
import { countCharacter, decoded } from './decoding.ts';
import { countBlankRows, createTable, maxColumns, maxRowLength, type Row, type TableLayout } from './rows.ts';

/**
 * Reads a CSV file: RFC 4180 and the variants that spreadsheets write (semicolons, tabs, `sep=`). Each of LF, CRLF and CR is
 * a line break, also beside one another.
 */
export function* readCsv(file: Uint8Array, charset?: string, layout?: TableLayout): Generator<Row[]> {
  const countBlankRow = countBlankRows();
  const table = createTable(layout);
  let delimiter: string | undefined;
  let removeQuotes: ((text: string) => string) | undefined;
  let line = 1;
  let text = '';
  let progress: Progress = { searched: 0 };
  let carriageReturn = '';
  for (const piece of decoded(file, charset)) {
    const next = carriageReturn + piece.text;
    // A line feed may follow in the next piece.
    carriageReturn = next.endsWith('\r') && !piece.isLast ? '\r' : '';
    text += withLineFeeds(next.slice(0, next.length - carriageReturn.length));
    delimiter ??= detectDelimiter(text);
    const rows: Row[] = [];
    let at = 0;
    for (;;) {
      const record = recordAt(text, at, delimiter, line, piece.isLast, progress);
      if (!record) break;
      if (isBlank(record.cells)) countBlankRow();
      else if (table.hasRows() || !isDelimiterHint(record.cells)) {
        const { cells, count } = record;
        const warning = swallowedRows(record, delimiter);
        removeQuotes ??= isOwnHeader(cells) ? unescapeFormulas : unescapeFormula;
        table.add(
          { line, cells: cells.map(readText(removeQuotes)), count, ...(warning && { warning }) },
          rows,
        );
      }
      at = record.end;
      line += record.lines;
      progress = { searched: 0 };
    }
    text = text.slice(at);
    if (text.length > maxRowLength) throw malformed(line, 'it is longer than 1 MiB');
    if (piece.isLast) table.end(rows);
    yield rows;
  }
}

/** Programs write `="00123"` so that spreadsheets keep the zeros. */
const readText = (removeQuotes: (text: string) => string) => (cell: string) =>
  removeQuotes(cell.startsWith('="') ? cell.replace(/^="([^"]*)"$/, '$1') : cell);

/** The columns that all exports of Muster have, and no other file. */
const isOwnHeader = (names: readonly string[]) =>
  ['version', 'created_at', 'updated_at'].every((name) => names.includes(name));

/** A warning about a cell whose lines look like rows: after a stray quote, a cell goes on to the next one. */
function swallowedRows({ cells, count, lines }: Record, delimiter: string): FieldError | undefined {
  if (lines === 1 || count < 2) return undefined;
  for (const cell of cells) {
    // The first line can be the end of a text, and the last one the start of a row.
    const [, ...others] = cell.split('\n');
    const within = others.length > 1 ? others.slice(0, -1) : others;
    if (within.length === 0 || within.some((text) => countCharacter(delimiter, text) !== count - 1)) continue;
    const detail = `A cell of this row contains ${within.length === 1 ? 'a line' : `${within.length} lines`} with as many cells as a row. If a quote is missing or too much, correct it and import the file again.`;
    return { code: 'rows_in_cell', detail };
  }
  return undefined;
}

/** `count` is the number of cells in the record; `cells` holds at most `maxColumns + 1` of them. */
type Record = { cells: string[]; count: number; end: number; lines: number };

/**
 * The parse state of a record that continues in the next piece of the file, so that no character is parsed twice.
 * Positions count from the start of the record.
 */
type Progress = {
  /** There is no newline before this position. */
  searched: number;
  quoted?: { cells: string[]; count: number; at: number; lines: number; closeFrom: number };
};

/** The record that starts at this position; undefined if its end is not read yet or no text is left. */
function recordAt(
  text: string,
  at: number,
  delimiter: string,
  line: number,
  isLast: boolean,
  progress: Progress,
): Record | undefined {
  if (progress.quoted) return quotedRecordAt(text, at, delimiter, line, isLast, progress);
  const newline = text.indexOf('\n', at + progress.searched);
  if (newline === -1 && (!isLast || at >= text.length)) {
    // Starts before the row is complete, because a row can have as many cells as characters.
    if (text.includes('"', at + progress.searched))
      return quotedRecordAt(text, at, delimiter, line, isLast, progress);
    progress.searched = text.length - at;
    return undefined;
  }
  if (newline === at) return blankLine(at);
  const end = newline === -1 ? text.length : newline;
  const record = text.slice(at, end);
  if (record.includes('"')) return quotedRecordAt(text, at, delimiter, line, isLast, progress);
  const cells = record.split(delimiter, maxColumns + 1);
  const count = cells.length > maxColumns ? countCharacter(delimiter, record) + 1 : cells.length;
  return { cells, count, end: end + 1, lines: 1 };
}

const noText = [''];
const blankLine = (at: number): Record => ({ cells: noText, count: 1, end: at + 1, lines: 1 });

/** The same for a record with quotes, which can span several lines. */
function quotedRecordAt(
  text: string,
  start: number,
  delimiter: string,
  line: number,
  isLast: boolean,
  progress: Progress,
): Record | undefined {
  progress.quoted ??= { cells: [], count: 0, at: 0, lines: 1, closeFrom: 1 };
  const { quoted } = progress;
  const { cells } = quoted;
  let at = start + quoted.at;
  let lineEnd = indexOrEnd(text, '\n', at);
  for (;;) {
    let cell: string;
    let lines = 0;
    quoted.at = at - start;
    if (text[at] === '"') {
      const close = closingQuote(text, start + Math.max(quoted.closeFrom, quoted.at + 1));
      quoted.closeFrom = (close === -1 ? text.length : close) - start;
      if (close === -1 && isLast) throw malformed(line, 'a quote is never closed');
      // A quote at the end of the piece can be the first of an escaped pair.
      if (close === -1 || (close === text.length - 1 && !isLast)) return undefined;
      cell = text.slice(at + 1, close).replaceAll('""', '"');
      lines = countCharacter('\n', cell);
      at = close + 1;
    } else {
      // In an unquoted cell, a quote is an ordinary character.
      if (lineEnd < at) lineEnd = indexOrEnd(text, '\n', at);
      const end = Math.min(indexOrEnd(text, delimiter, at), lineEnd);
      if (end === text.length && !isLast) return undefined;
      cell = text.slice(at, end);
      at = end;
    }
    // The next two characters decide how the cell ends.
    if (at + 1 >= text.length && !isLast) return undefined;
    quoted.count++;
    quoted.lines += lines;
    if (quoted.count <= maxColumns + 1) cells.push(cell);
    const { count, lines: all } = quoted;
    if (at >= text.length) return isLast ? { cells, count, end: at, lines: all } : undefined;
    if (text[at] === '\n') return { cells, count, end: at + 1, lines: all };
    if (text[at] !== delimiter) throw malformed(line, 'text follows a closing quote');
    at++;
  }
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from);
  return index === -1 ? text.length : index;
}

/**
 * The delimiter is the usual character that most of the first lines have the same number of times, outside of quotes: a
 * title above the header can have commas too.
 */
function detectDelimiter(text: string): string {
  const lines = text
    .replace(/"[^"]*"/g, '')
    .split('\n', 20)
    .filter((line) => line.trim() !== '');
  const [, hinted] = /^sep=(.)$/.exec(lines[0] ?? '') ?? [];
  /** How often the character is in a line, and the number of lines in which it is that often. */
  const usual = (character: string) => {
    const counts = Map.groupBy(lines, (line) => countCharacter(character, line));
    const [[count, some] = [0, []]] = [...counts]
      .filter(([count]) => count > 0)
      .sort(([a, x], [b, y]) => y.length - x.length || b - a);
    return { character, count, lines: some.length };
  };
  const [best] = [',', ';', '\t', '|'].map(usual).sort((a, b) => b.lines - a.lines || b.count - a.count);
  return hinted ?? best?.character ?? ',';
}

/** Excel can write a first line that names the delimiter. */
const isDelimiterHint = ([first, ...rest]: string[]) => first === 'sep=' && rest.every((cell) => cell === '');

const isBlank = (cells: string[]) => cells.every((cell) => cell === '');

const malformed = (line: number, what: string) =>
  new Problem('malformed_request', `The row on line ${line} cannot be read: ${what}.`);

export const csvLine = (cells: readonly (string | number | boolean | null)[]) =>
  `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? escapeFormula(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
