/** One row of a file, as it stands there: what it means is decided by the columns (`columns.ts`). */
export type Row = {
  /** Where it begins in the file. */
  line: number;
  /** The names of its cells: of a table, the same list for each row. */
  names: readonly string[];
  /** Texts, or, where the format knows them, numbers, true and false, lists and maps. */
  cells: readonly unknown[];
  /** Whether it is the first row of a table, which names the cells of the others. */
  isHeader?: true;
  /** What is wrong with the row as such, so that its cells cannot be trusted. */
  fault?: string;
};

/** As long as any other body of a request may be; a row that is longer is most likely a quote left open. */
export const longestRow = 1024 * 1024;

/** What a row may have of them; all that is imported here has a few dozen. */
export const mostCells = 1000;
