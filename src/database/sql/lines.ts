import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

type Line = { line: string };

/**
 * With `joinsLines`, a connection may return the rows of a slice as one row that contains all lines, separated by line
 * feeds. Other connections ignore it and return a row for each line.
 */
export type LinesQuery = CompiledQuery<Line> & { readonly joinsLines?: boolean };

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
