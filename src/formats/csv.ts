import { Problem } from '../core/errors.ts';
import { decoded } from './decoding.ts';
import { countBlankRows, maxColumns, maxRowLength, type Row } from './rows.ts';

/** The rows of a CSV file: RFC 4180, and what spreadsheets write in its place (semicolons, tabs, `sep=`). */
export function* readCsv(file: Uint8Array, charset?: string): Generator<Row[]> {
  const countBlankRow = countBlankRows();
  let names: string[] | undefined;
  let dialect: Dialect | undefined;
  let line = 1;
  let text = '';
  let progress: Progress = { searched: 0 };
  for (const piece of decoded(file, charset)) {
    text += piece.text;
    dialect ??= dialectOf(text);
    const rows: Row[] = [];
    let at = 0;
    for (;;) {
      const record = recordAt(text, at, dialect, line, piece.isLast, progress);
      if (!record) break;
      if (isBlank(record.cells)) countBlankRow();
      else if (names)
        rows.push({ line, names, cells: record.cells.map(restored), ...cellCount(names, record) });
      else if (!isHint(record.cells)) {
        if (record.count > maxColumns) throw malformed(line, `it names more than ${maxColumns} columns`);
        names = record.cells.map((name) => restored(name).trim());
        rows.push({ line, names, cells: names, isHeader: true });
      }
      at = record.end;
      line += record.lines;
      progress = { searched: 0 };
    }
    text = text.slice(at);
    if (text.length > maxRowLength) throw malformed(line, 'it goes on for more than a mebibyte');
    yield rows;
  }
}

type Dialect = { delimiter: string; newline: string };

/** `count` is how many cells there are; `cells` holds no more of them than a row may have, and one. */
type Record = { cells: string[]; count: number; end: number; lines: number };

/**
 * How far a record has been read that goes on in the next piece of the file, so that no character is read again for
 * each piece. Places are counted from the start of the record.
 */
type Progress = {
  /** Up to here there is no newline. */
  searched: number;
  quoted?: { cells: string[]; count: number; at: number; lines: number; closeFrom: number };
};

/** The record that begins at a place of the text; undefined when its end has not been read yet, or nothing is left. */
function recordAt(
  text: string,
  at: number,
  dialect: Dialect,
  line: number,
  isLast: boolean,
  progress: Progress,
): Record | undefined {
  if (progress.quoted) return quotedRecordAt(text, at, dialect, line, isLast, progress);
  const newline = text.indexOf(dialect.newline, at + progress.searched);
  if (newline === -1 && (!isLast || at >= text.length)) {
    // Not only when the whole row is there: it may have as many cells as characters.
    if (text.includes('"', at + progress.searched))
      return quotedRecordAt(text, at, dialect, line, isLast, progress);
    progress.searched = text.length - at;
    return undefined;
  }
  if (newline === at) return blankLine(at);
  const end = newline === -1 ? text.length : newline;
  const record = text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end);
  if (record.includes('"')) return quotedRecordAt(text, at, dialect, line, isLast, progress);
  const cells = record.split(dialect.delimiter, maxColumns + 1);
  const count = cells.length > maxColumns ? countOf(dialect.delimiter, record) + 1 : cells.length;
  return { cells, count, end: end + 1, lines: 1 };
}

const noText = [''];
const blankLine = (at: number): Record => ({ cells: noText, count: 1, end: at + 1, lines: 1 });

/** The same for a record with quotes in it, which may go on over several lines. */
function quotedRecordAt(
  text: string,
  start: number,
  { delimiter, newline }: Dialect,
  line: number,
  isLast: boolean,
  progress: Progress,
): Record | undefined {
  progress.quoted ??= { cells: [], count: 0, at: 0, lines: 1, closeFrom: 1 };
  const { quoted } = progress;
  const { cells } = quoted;
  let at = start + quoted.at;
  let lineEnd = placeOf(text, newline, at);
  for (;;) {
    let cell: string;
    let lines = 0;
    quoted.at = at - start;
    if (text[at] === '"') {
      const close = closingQuote(text, start + Math.max(quoted.closeFrom, quoted.at + 1));
      quoted.closeFrom = (close === -1 ? text.length : close) - start;
      if (close === -1 && isLast) throw malformed(line, 'a quote is opened and never closed');
      // A quote that ends what has been read may be the first of two.
      if (close === -1 || (close === text.length - 1 && !isLast)) return undefined;
      cell = text
        .slice(at + 1, close)
        .replaceAll('""', '"')
        .replaceAll('\r\n', '\n');
      lines = countOf(newline, cell);
      at = close + 1;
    } else {
      // A quote inside a cell that does not begin with one is a character like any other.
      if (lineEnd < at) lineEnd = placeOf(text, newline, at);
      const end = Math.min(placeOf(text, delimiter, at), lineEnd);
      if (end === text.length && !isLast) return undefined;
      cell = text.slice(at, end).replace(/\r$/, '');
      at = end;
    }
    // What follows a cell decides what it was.
    if (at + 1 >= text.length && !isLast) return undefined;
    quoted.count++;
    quoted.lines += lines;
    if (quoted.count <= maxColumns + 1) cells.push(cell);
    if (text[at] === '\r' && text[at + 1] === newline) at++;
    const { count, lines: all } = quoted;
    if (at >= text.length) return isLast ? { cells, count, end: at, lines: all } : undefined;
    if (text[at] === newline) return { cells, count, end: at + 1, lines: all };
    if (text[at] !== delimiter) throw malformed(line, 'text follows a closing quote');
    at++;
  }
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function placeOf(text: string, character: string, from: number): number {
  const place = text.indexOf(character, from);
  return place === -1 ? text.length : place;
}

function countOf(character: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++;
  return count;
}

/** What the first line is separated by: the most frequent of the usual characters outside of quotes. */
function dialectOf(text: string): Dialect {
  const newline = text.includes('\n') || !text.includes('\r') ? '\n' : '\r';
  const [first = ''] = text.replace(/"[^"]*"/g, '').split(newline, 1);
  const [, hinted] = /^sep=(.)\r?$/.exec(first) ?? [];
  const count = (character: string) => first.split(character).length;
  const [delimiter = ','] = [',', ';', '\t', '|'].sort((a, b) => count(b) - count(a));
  return { delimiter: hinted ?? delimiter, newline };
}

/** Excel's own first line, which says what separates the cells. */
const isHint = ([first = '']: string[]) => first.startsWith('sep=');

const isBlank = (cells: string[]) => cells.every((cell) => cell === '');

const cellCount = (names: string[], { count }: Record) =>
  count === names.length
    ? undefined
    : {
        error: `This row has ${count} cells, but the first line names ${names.length}. A text with a comma, a semicolon or a line break in it must be in quotes.`,
      };

const malformed = (line: number, what: string) =>
  new Problem('malformed_request', `The row that begins on line ${line} cannot be read: ${what}.`);

/** One line of a CSV file. */
export const csvLine = (cells: readonly (string | number | boolean | null)[]) =>
  `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? harmless(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A text that a spreadsheet would run as a formula gets a quote before it, which makes it a plain text there. Some
 * spreadsheets also run formulas that begin with the full-width forms of `=`, `+`, `-` and `@`.
 */
const harmless = (text: string) => (/^'*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text);

const restored = (text: string) =>
  text[0] === "'" && /^'+[=+\-@\t\r＝＋－＠]/.test(text) ? text.slice(1) : text;
