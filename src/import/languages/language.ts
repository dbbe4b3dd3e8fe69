import type { Importable } from '../importable.ts';
import type { Words } from '../recognize/names.ts';

/** What files call the columns and values of a resource. */
export type ResourceWords = {
  /** The beginnings of the words in the names of sheets. */
  sheets: string;
  /** The names of columns by field, the most usual first. */
  columns: Readonly<Record<string, string>>;
  /** The words for values, by field and value. */
  values?: Readonly<Record<string, Words>>;
};

/**
 * The words of a language in the files of other tools. They are separated by commas and compared without case, accents and apostrophes. A word that means something else in another
 * language stays out of both: a test lists these. The months are in `months.ts`.
 */
export type Language = Readonly<Record<Importable['what'], ResourceWords>> & {
  /** What a cell for a person says when there is nobody. */
  nobody: string;
  /** Words in the names of columns that say whether somebody is still there, or something done. */
  statusWords: string;
  /** The columns with the project of a risk, an issue or a task. */
  projectColumns: string;
  firstName: string;
  lastName: string;
  /** Columns in which yes says that a person is inactive. */
  inactive: { columns: string; yes: string; no: string };
  /** The statuses of issues that are closed without being fixed. */
  rejected: string;
  /** The words for the ratings of a scale of five. */
  probability: Words;
  impact: Words;
  levels: Words;
};
