import { fold } from '../../core/text.ts';

/** The longest text that `map` and `map_values` can name. */
const maxTextLength = 1000;

/** Names are compared without case, spaces and punctuation: `E-mail` is `email`. A longer text than any name stays as it is. */
export const normalizeName = (name: string) =>
  name.length > maxTextLength ? name : fold(name).replace(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** A column name as it appears in `map`, where a list loses the blanks around its commas. */
export const normalizeColumnName = (name: string) =>
  name
    .split(',')
    .map((part) => part.trim())
    .join(',');

/** Longer texts are no names and no words, and the patterns below would take long on them. */
export const maxLength = 100;

/** What a bracket may hold that does not change what a column is: a scale, a unit, or a note for those who fill it in. */
const bracket =
  /[([]\s*(?:(?:%|percent(?:age)?|pct|yes\/no|y\/n|required|mandatory|optional|read[- ]only|[hml](?:\/[hml])+|(?:out of |\/ ?)\d{1,3}|(?:y{2,4}|m{2,3}|d{2}|j{4}|t{2})(?:[./-](?:y{2,4}|m{2,3}|d{2}|j{4}|t{2}))+)\s*|\d{1,3}\s*(?:[\p{Pd}=:]|\.\.|to\b|bis\b)[^()[\]]*)[)\]]/giu;

/** In exports of Jira, `Custom field (Likelihood)` is the field that its users call likelihood. */
const customField = /^custom field \((.*)\)$/i;

/** `Job title [jobTitle]` has its name twice. */
const repeatedName = (whole: string, name: string, inBrackets: string) =>
  normalizeName(name) === normalizeName(inBrackets) ? name : whole;

/** `Likelihood %` is a likelihood. `Percent complete` is a name of its own. */
const units = new Set(['percent', 'percentage', 'pct']);

/**
 * The forms in which a column name is looked up, the most literal first: as it is; without scales, units and numbering,
 * as in `2. Likelihood (1-5)`; without the noun of the resource, as in `Risk owner`.
 */
export function nameForms(name: string, noun: string): string[] {
  const literal = normalizeName(name.replaceAll('%', ' percent ').replaceAll('#', ' number '));
  if (name.length > maxLength) return [literal];
  const bare = name
    .replace(customField, '$1')
    .replaceAll('%', ' percent ')
    .replaceAll('#', ' number ')
    .replace(bracket, ' ')
    .replace(/^([^([]*)[([]([^)\]]*)[)\]]/, repeatedName)
    .replace(/^\s*(?:\d{1,3}|[a-z])[.)]\s+/i, '')
    .replace(/\s\d+\s*(?:-|–|to)\s*\d+\s*$/, '')
    .replace(/\s*(?:\/|\bout of)\s*\d+\s*$/, '');
  const words = fold(bare).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const withoutNoun = words.length > 1 && words[0] === noun ? words.slice(1) : words;
  const withoutUnit = withoutNoun.filter((word) => !units.has(word));
  const forms = [words, withoutNoun, withoutUnit].map((some) => some.join(''));
  return [...new Set([literal, ...forms])].filter((form) => form !== '');
}

/** The words of files for the values of a field, such as `open: 'new, to do'`. The key `null` is no value. */
export type Words = Readonly<Record<string, string>>;

/**
 * Equal texts: without case, accents and apostrophes, with blank, hyphen and underscore alike. Every other sign counts.
 * A list of the request loses the blanks around its commas. A longer text than any that is looked up stays as it is.
 */
export const normalizeWord = (text: string) =>
  text.length > maxTextLength
    ? text
    : fold(text.replace(/['’]/g, ''))
        .replace(/[\p{Pd}_ ]+/gu, ' ')
        .replaceAll(', ', ',');

const codeFirst = /^(?:\((\p{L}?\d{1,3})\)|(\p{L}?\d{1,3})\s*[\p{Pd}:=.)])\s*(\p{L}.*)$/su;
const codeLast = /^(\p{L}.*?)(?:\((\p{L}?\d{1,3})\)|\[(\p{L}?\d{1,3})\])$/su;

/** The code and the label of `1 - Critical`, `P1: Urgent`, `(2) Normal` and `High (4)`. */
export function labelledIn(text: string): { code: string; label: string } | undefined {
  if (text.length > maxLength) return undefined;
  const [, inBrackets, code = inBrackets, label] = codeFirst.exec(text) ?? [];
  if (code !== undefined && label !== undefined) return { code, label };
  const [, before, round, last = round] = codeLast.exec(text) ?? [];
  return last !== undefined && before !== undefined ? { code: last, label: before.trim() } : undefined;
}

/** Finds what a whole text stands for, also with a code before or after it. */
export function findWord<T>(text: string, words: { get(word: string): T | undefined }): T | undefined {
  if (text.length > maxLength) return undefined;
  const label = labelledIn(text)?.label;
  return (
    words.get(normalizeWord(text)) ?? (label === undefined ? undefined : words.get(normalizeWord(label)))
  );
}
