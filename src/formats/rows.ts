import { Problem } from '../core/errors.ts';

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
  error?: string;
};

/** As long as any other body of a request may be; a row that is longer is most likely a quote left open. */
export const maxRowLength = 1024 * 1024;

/** Everything that is imported here has a few dozen columns. */
export const maxColumns = 1000;

/** Cells in one file: as many rows as an import takes, with 50 columns each. */
export const maxFileCells = 5_000_000;

/** Blank rows in one file: as many as a sheet has rows. They are skipped, but reading them takes time. */
const maxBlankRows = 1_048_576;

/** Makes a counter of a file's blank rows, which rejects the file when there are too many. */
export function countBlankRows(): () => void {
  let count = 0;
  return () => {
    if (++count > maxBlankRows) throw new Problem('too_large', tooManyBlankRows);
  };
}

const tooManyBlankRows = `The file has more than ${maxBlankRows} blank rows. Delete them; nothing of it has been written.`;
