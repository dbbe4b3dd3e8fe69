import { createPacer } from '../formats/pace.ts';
import type { Row } from '../formats/rows.ts';
import type { ParsedRow } from './parse-rows.ts';

/** Rows that are written together. */
export type Batch = readonly ParsedRow[];

/** How long a batch may take to be written: where writers take turns, who waits for theirs waits for its end. */
const batchMs = { singleWriter: 8, concurrent: 40 };
const least = 25;
const most = 1000;

/** How many rows a batch has: as many as can be written in a moment, as the parts before have shown. */
export class AdaptiveBatchSize {
  rows = least;

  learn(rows: number, milliseconds: number, writers: keyof typeof batchMs): void {
    const fitting = (rows * batchMs[writers]) / Math.max(milliseconds, 1);
    this.rows = Math.round(Math.min(most, Math.max(least, (this.rows + fitting) / 2)));
  }
}

/** The rows of a file, as they are understood. */
export async function* batchesOfFile(
  file: AsyncIterable<Row[]>,
  read: (row: Row, index: number) => ParsedRow,
  size: AdaptiveBatchSize,
): AsyncGenerator<Batch> {
  const pause = createPacer();
  let index = 0;
  let batch: ParsedRow[] = [];
  for await (const rows of file) {
    for (const row of rows) {
      if (row.isHeader) continue;
      batch.push(read(row, index++));
      await pause();
      if (batch.length < size.rows) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
