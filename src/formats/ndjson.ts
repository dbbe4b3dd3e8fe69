import { Problem } from '../core/errors.ts';
import { decoded } from './decoding.ts';
import { readJson } from './json.ts';
import { countBlankRows, maxColumns, maxRowLength, type Row } from './rows.ts';

/** The rows of a file with a JSON object a line. A line that is none is a row with an error. */
export function* readNdjson(file: Uint8Array): Generator<Row[]> {
  const countBlankRow = countBlankRows();
  let line = 0;
  /** The start of a line that goes on in the next piece. */
  let begun = '';
  for (const { text, isLast } of decoded(file, 'utf-8')) {
    const lines = text.split('\n');
    lines[0] = begun + lines[0];
    begun = isLast ? '' : (lines.pop() ?? '');
    const rows: Row[] = [];
    for (const content of lines) {
      line++;
      if (content.length > maxRowLength) throw tooLong(line);
      if (content.trim() === '') countBlankRow();
      else rows.push({ line, ...objectIn(content) });
    }
    if (begun.length > maxRowLength) throw tooLong(line + 1);
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
      return { names, cells: Object.values(object) };
    }
    return broken('it is not an object, such as {"name": "Ada"}');
  } catch (error) {
    return broken(error instanceof Error ? error.message : '');
  }
}

const broken = (why: string) => ({ names: [], cells: [], error: `This line is not a JSON object: ${why}.` });

const tooLong = (line: number) =>
  new Problem(
    'malformed_request',
    `Line ${line} is longer than a mebibyte. Put each row on a line of its own.`,
  );
