import { Problem } from '../errors.ts';
import { decoded } from './decoding.ts';
import { longestRow, mostCells, type Row } from './rows.ts';

/** The rows of a CSV file: RFC 4180, and what spreadsheets write in its place (semicolons, tabs, `sep=`). */
export function* readCsv(file: Uint8Array, charset?: string): Generator<Row[]> {
  let names: string[] | undefined;
  let dialect: Dialect | undefined;
  let line = 1;
  let text = '';
  for (const piece of decoded(file, charset)) {
    text += piece.text;
    dialect ??= dialectOf(text);
    const rows: Row[] = [];
    let at = 0;
    for (;;) {
      const record = recordAt(text, at, dialect, line, piece.isLast);
      if (!record) break;
      const cells = record.cells.map(restored);
      if (names && !isBlank(cells)) rows.push({ line, names, cells, ...cellCount(names, cells) });
      else if (!isBlank(cells) && !isHint(cells)) {
        if (cells.length > mostCells) throw malformed(line, `it names more than ${mostCells} columns`);
        names = cells.map((name) => name.trim());
        rows.push({ line, names, cells: names, isHeader: true });
      }
      at = record.end;
      line += record.lines;
    }
    text = text.slice(at);
    if (text.length > longestRow) throw malformed(line, 'it goes on for more than a mebibyte');
    yield rows;
  }
}

type Dialect = { delimiter: string; newline: string };

type Cells = { cells: string[]; end: number; lines: number };

/** The record that begins at a place of the text; undefined when its end has not been read yet, or nothing is left. */
function recordAt(
  text: string,
  at: number,
  dialect: Dialect,
  line: number,
  isLast: boolean,
): Cells | undefined {
  const newline = text.indexOf(dialect.newline, at);
  if (newline === -1 && (!isLast || at >= text.length)) return undefined;
  const end = newline === -1 ? text.length : newline;
  const record = text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end);
  if (!record.includes('"')) return { cells: record.split(dialect.delimiter), end: end + 1, lines: 1 };
  return quotedRecordAt(text, at, dialect, line, isLast);
}

/** The same for a record with quotes in it, which may go on over several lines. */
function quotedRecordAt(
  text: string,
  start: number,
  { delimiter, newline }: Dialect,
  line: number,
  isLast: boolean,
): Cells | undefined {
  const cells: string[] = [];
  let at = start;
  let lines = 1;
  let lineEnd = placeOf(text, newline, at);
  for (;;) {
    let cell: string;
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close === -1 && isLast) throw malformed(line, 'a quote is opened and never closed');
      // A quote that ends what has been read may be the first of two.
      if (close === -1 || (close === text.length - 1 && !isLast)) return undefined;
      cell = text
        .slice(at + 1, close)
        .replaceAll('""', '"')
        .replaceAll('\r\n', '\n');
      lines += cell.split(newline).length - 1;
      at = close + 1;
    } else {
      // A quote inside a cell that does not begin with one is a character like any other.
      if (lineEnd < at) lineEnd = placeOf(text, newline, at);
      const end = Math.min(placeOf(text, delimiter, at), lineEnd);
      if (end === text.length && !isLast) return undefined;
      cell = text.slice(at, end).replace(/\r$/, '');
      at = end;
    }
    cells.push(cell);
    // What follows a cell decides what it was.
    if (at + 1 >= text.length && !isLast) return undefined;
    if (text[at] === '\r' && text[at + 1] === newline) at++;
    if (at >= text.length) return isLast ? { cells, end: at, lines } : undefined;
    if (text[at] === newline) return { cells, end: at + 1, lines };
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

const cellCount = (names: string[], cells: string[]) =>
  cells.length === names.length
    ? undefined
    : {
        fault: `This row has ${cells.length} cells, but the first line names ${names.length}. A text with a comma, a semicolon or a line break in it must be in quotes.`,
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

/** A text that a spreadsheet would run as a formula gets a quote before it, which makes it a plain text there. */
const harmless = (text: string) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const restored = (text: string) => (text[0] === "'" && /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text);
