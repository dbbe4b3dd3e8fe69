import { Problem } from '../core/errors.ts';
import { createPacer } from './pace.ts';
import { maxFileCells, type Row } from './rows.ts';

/** The largest accepted workbook takes half of this time. */
const maxReadMs = 60_000;

/** Reads the rows of a file without blocking the event loop. Rejects a file with too many cells or too slow to read. */
export async function* boundedRows(file: AsyncIterable<Row[]> | Iterable<Row[]>): AsyncGenerator<Row[]> {
  const pause = createPacer();
  let cells = 0;
  let readMs = 0;
  let start = performance.now();
  for await (const rows of file) {
    for (const row of rows) cells += row.cells.length;
    if (cells > maxFileCells) throw tooLarge(`has more than ${maxFileCells} cells`);
    await pause();
    readMs += performance.now() - start;
    if (readMs > maxReadMs) throw tooLarge(`takes more than ${maxReadMs / 1000} seconds to read`);
    yield rows;
    start = performance.now();
  }
}

const tooLarge = (what: string) =>
  new Problem('too_large', `The file ${what}. Nothing was imported. Split the file.`);
