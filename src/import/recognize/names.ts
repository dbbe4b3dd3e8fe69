import { fold } from '../../core/text.ts';

/** Names are compared without case, spaces and punctuation: `E-mail` is `email`. */
export const normalizeName = (name: string) => fold(name).replace(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** A column name as it appears in `map`, where a list loses the blanks around its commas. */
export const normalizeColumnName = (name: string) =>
  name
    .split(',')
    .map((part) => part.trim())
    .join(',');

/** Longer names are no variants of a known name, and the patterns below would take long on them. */
const maxLength = 100;

/** Words that many column names have and that rarely change the meaning. */
const fillers = new Set(['date', 'on', 'at', 'of', 'the', 'utc', 'current']);

/** `Likelihood %` is a likelihood. `Percent complete` is a name of its own. */
const units = new Set(['percent', 'percentage', 'pct']);

/**
 * The forms in which a column name is looked up, the most literal first: as it is; without scales, units and numbering,
 * as in `2. Likelihood (1-5)`; without the noun of the resource, as in `Risk owner`; without filler words.
 */
export function nameForms(name: string, noun: string): string[] {
  const literal = normalizeName(name.replaceAll('%', ' percent ').replaceAll('#', ' number '));
  if (name.length > maxLength) return [literal];
  const bare = name
    .replaceAll('%', ' percent ')
    .replaceAll('#', ' number ')
    .replace(/\([^)]*\)|\[[^\]]*\]/g, ' ')
    .replace(/^\s*(?:\d{1,3}|[a-z])[.)]\s+/i, '')
    .replace(/\s\d+\s*(?:-|–|to)\s*\d+\s*$/, '')
    .replace(/\s*(?:\/|\bout of)\s*\d+\s*$/, '');
  const words = fold(bare).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const withoutNoun = words.length > 1 && words[0] === noun ? words.slice(1) : words;
  const withoutFillers = withoutNoun.filter((word) => !fillers.has(word));
  const withoutUnit = withoutNoun.filter((word) => !units.has(word));
  const forms = [words, withoutNoun, withoutFillers, withoutUnit].map((some) => some.join(''));
  return [...new Set([literal, ...forms])].filter((form) => form !== '');
}
