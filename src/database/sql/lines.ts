import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

type Line = { line: string };

/**
 * With `joinsLines`, a connection may return the rows of a slice as one row that contains all lines, separated by line
 * feeds. Other connections ignore it and return a row for each line.
 */
export type LinesQuery = CompiledQuery<Line> & { readonly joinsLines?: boolean };

/** A slice ends after this many characters, so that lists of long rows take no more memory than others. */
export const maxSliceLength = 64 * 1024;

/** How many rows to read next, so that they have about `maxSliceLength` characters if they are as long as the last ones. */
export function nextSliceRows(lastTexts: readonly string[], maxRows: number): number {
  const length = lastTexts.reduce((sum, text) => sum + text.length, 0);
  const fitting = Math.floor((maxSliceLength / Math.max(1, length)) * lastTexts.length);
  return Math.max(1, Math.min(fitting, maxRows, 2 * lastTexts.length));
}

export function countLines(lines: string): number {
  let count = 1;
  for (let end = lines.indexOf('\n'); end !== -1; end = lines.indexOf('\n', end + 1)) count++;
  return count;
}

/**
 * Streams a query with one text column, `line`, whose values contain no line feeds. Each result contains one or more lines,
 * separated by line feeds: sending rows one by one from a worker thread takes as long as reading them.
 */
export async function* streamLines(
  db: Kysely<Tables>,
  query: Compilable<Line>,
  sliceRows: number,
): AsyncGenerator<{ lines: string }> {
  const linesQuery: LinesQuery = { ...query.compile(), joinsLines: true };
  for await (const { rows } of db.getExecutor().stream<Line>(linesQuery, sliceRows)) {
    if (rows.length > 0) yield { lines: rows.map(({ line }) => line).join('\n') };
  }
}
