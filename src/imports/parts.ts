import { createPacer } from '../files/pace.ts';
import type { Row } from '../files/rows.ts';
import type { Draft } from './drafts.ts';

/** Rows that are written together. */
export type Part = readonly Draft[];

/** How long a part may take to be written: where writers take turns, who waits for theirs waits for its end. */
const partMilliseconds = { inTurns: 8, sideBySide: 40 };
const least = 25;
const most = 1000;

/** How many rows a part has: as many as can be written in a moment, as the parts before have shown. */
export class PartSize {
  rows = least;

  learn(rows: number, milliseconds: number, way: keyof typeof partMilliseconds): void {
    const fitting = (rows * partMilliseconds[way]) / Math.max(milliseconds, 1);
    this.rows = Math.round(Math.min(most, Math.max(least, (this.rows + fitting) / 2)));
  }
}

/** The rows of a file, as they are understood. */
export async function* partsOfFile(
  file: AsyncIterable<Row[]>,
  read: (row: Row, index: number) => Draft,
  size: PartSize,
): AsyncGenerator<Part> {
  const pause = createPacer();
  let index = 0;
  let part: Draft[] = [];
  for await (const rows of file) {
    for (const row of rows) {
      if (row.isHeader) continue;
      part.push(read(row, index++));
      await pause();
      if (part.length < size.rows) continue;
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}
