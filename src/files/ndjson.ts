import { Problem } from '../errors.ts';
import { decoded } from './decoding.ts';
import { longestRow, mostCells, type Row } from './rows.ts';

/** The rows of a file with a JSON object a line. A line that is none is a row with a fault. */
export function* readNdjson(file: Uint8Array): Generator<Row[]> {
  let line = 0;
  let rest = '';
  for (const { text, isLast } of decoded(file, 'utf-8')) {
    const lines = (rest + text).split('\n');
    rest = isLast ? '' : (lines.pop() ?? '');
    const rows: Row[] = [];
    for (const content of lines) {
      line++;
      if (content.length > longestRow || rest.length > longestRow) throw tooLong(line);
      if (content.trim() !== '') rows.push({ line, ...objectIn(content) });
    }
    yield rows;
  }
}

function objectIn(content: string): Omit<Row, 'line'> {
  try {
    const object: unknown = JSON.parse(content);
    if (typeof object === 'object' && object !== null && !Array.isArray(object)) {
      const names = Object.keys(object);
      if (names.length > mostCells)
        return { names: [], cells: [], fault: `This object has more than ${mostCells} members.` };
      return { names, cells: Object.values(object) };
    }
    return broken('it is not an object, such as {"name": "Ada"}');
  } catch (error) {
    return broken(error instanceof Error ? error.message : '');
  }
}

const broken = (why: string) => ({ names: [], cells: [], fault: `This line is not a JSON object: ${why}.` });

const tooLong = (line: number) =>
  new Problem(
    'malformed_request',
    `Line ${line} is longer than a mebibyte. Put each row on a line of its own.`,
  );
