import { Problem } from '../core/errors.ts';

/** One raw row of a file. The columns (`columns.ts`) decide what its cells mean. */
export type Row = {
  /** The line on which the row starts. */
  line: number;
  /** The names of its cells. All rows of a table share one array. */
  names: readonly string[];
  /** Texts, or the JSON or spreadsheet values that the format supports. */
  cells: readonly unknown[];
  /** Whether it is the header of a table. */
  isHeader?: true;
  /** Why the row is invalid as a whole; its cells are not used. */
  error?: string;
};

/** The limit of other request bodies. A longer row most likely has an unclosed quote. */
export const maxRowLength = 1024 * 1024;

/** Resources have a few dozen columns. */
export const maxColumns = 1000;

/** The maximum number of imported rows with 50 columns each. */
export const maxFileCells = 5_000_000;

/** The number of rows of a sheet. Blank rows are skipped, but reading them takes time. */
const maxBlankRows = 1_048_576;

/** Returns a counter of blank rows, which rejects a file with too many. */
export function countBlankRows(): () => void {
  let count = 0;
  return () => {
    if (++count > maxBlankRows) throw new Problem('too_large', tooManyBlankRows);
  };
}

const tooManyBlankRows = `The file has more than ${maxBlankRows} blank rows. Nothing was imported. Delete the blank rows.`;
