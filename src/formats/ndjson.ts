import { Problem } from '../core/errors.ts';
import { withLineFeeds } from '../core/text.ts';
import { decoded } from './decoding.ts';
import { readJson } from './json.ts';
import { countBlankRows, maxColumns, maxRowLength, type Row } from './rows.ts';

/** Reads a file with one JSON object per line. Any other line becomes a row with an error. */
export function* readNdjson(file: Uint8Array): Generator<Row[]> {
  const countBlankRow = countBlankRows();
  let line = 0;
  /** The start of a line that continues in the next piece. */
  let unfinished = '';
  for (const { text, isLast } of decoded(file, 'utf-8')) {
    const lines = text.split('\n');
    lines[0] = unfinished + lines[0];
    unfinished = isLast ? '' : (lines.pop() ?? '');
    const rows: Row[] = [];
    for (const content of lines) {
      line++;
      if (content.length > maxRowLength) throw tooLong(line);
      if (content.trim() === '') countBlankRow();
      else rows.push({ line, ...objectIn(content) });
    }
    if (unfinished.length > maxRowLength) throw tooLong(line + 1);
    yield rows;
  }
}

function objectIn(content: string): Omit<Row, 'line'> {
  try {
    const object = readJson(content);
    if (typeof object === 'object' && object !== null && !Array.isArray(object)) {
      const names = Object.keys(object);
      if (names.length > maxColumns)
        return { names: [], cells: [], error: `This object has more than ${maxColumns} members.` };
      const cells = Object.values(object);
      return {
        names,
        cells: /\\r|\\u000d/i.test(content) ? cells.map((cell) => withBreaks(cell, 2)) : cells,
      };
    }
    return invalidLine('it is not an object, such as {"name": "Ada"}');
  } catch (error) {
    return invalidLine(error instanceof Error ? error.message : '');
  }
}

/** A value with line feeds as line breaks, in lists and maps too. */
function withBreaks(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withLineFeeds(value);
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withBreaks(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withBreaks(item, depth - 1)]));
}

const invalidLine = (why: string) => ({
  names: [],
  cells: [],
  error: `This line is not a JSON object: ${why}.`,
});

const tooLong = (line: number) =>
  new Problem('malformed_request', `Line ${line} is longer than 1 MiB. Put each row on its own line.`);
