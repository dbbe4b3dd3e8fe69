import { fold } from '../../core/text.ts';
import type { Importable } from '../importable.ts';
import { wordsOfAll } from '../languages/all.ts';

/** Fewer known columns are a coincidence. */
const minColumns = 2;

/**
 * Chooses the sheet of a workbook: the first one that is named after the resource, as in a RAID log; or else the first one
 * with a table that has at least half as many known columns as the best one. Otherwise the first sheet.
 */
export const createSheetChoice =
  (what: Importable['what']) =>
  (sheets: readonly { name: string; columns: number }[]): number => {
    const scores = sheets.map(({ columns }) => columns);
    const best = Math.max(...scores);
    if (best < minColumns) return 0;
    const known = wordsOfAll((language) => language[what].sheets).map((word) => ` ${fold(word)}`);
    const isNamed = ({ name }: { name: string }, i: number) => {
      const words = ` ${fold(name).replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')}`;
      return known.some((word) => words.includes(word)) && (scores[i] ?? 0) >= minColumns;
    };
    const named = sheets.findIndex(isNamed);
    return named === -1 ? scores.findIndex((score) => score >= minColumns && 2 * score >= best) : named;
  };
