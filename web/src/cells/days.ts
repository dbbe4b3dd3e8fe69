import { addEvidence, type DateEvidence, type DateOrder } from '../../../src/import/languages/dates.ts';
import { isDay, readDay } from '../format.ts';

/** The order of day and month that the dates of a column show; undefined if none does. */
export function orderIn(texts: readonly string[]): DateOrder | undefined {
  const found: DateEvidence = {};
  for (const text of texts) addEvidence(found, text, 0);
  if (found.dmy && found.mdy) return undefined;
  return found.dmy ? 'dmy' : found.mdy && 'mdy';
}

/** The day in a text, in the notations of imports; undefined for another text, and where the order is open. */
export function dayIn(text: string, order: DateOrder | undefined): string | undefined {
  const own: DateEvidence = {};
  addEvidence(own, text, 0);
  const day = own.either && !order ? text : readDay(text, order);
  return isDay(day) ? day : undefined;
}
