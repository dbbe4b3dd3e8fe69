/** Brings a text into the stored form: trimmed, Unicode NFC, and empty if nothing in it is visible. */
export const normalize = (text: string) =>
  // A text with a long run of marks is not normalized: validation rejects it.
  isAscii(text) || hasLongMarkRun(text) ? text.trim() : normalizeUnicode(text);

const normalizeUnicode = (text: string) => (isInvisible(text) ? '' : text.normalize('NFC').trim());

/**
 * Finds texts that look empty. Zero width spaces and joiners, bidirectional marks, soft hyphens, Hangul fillers, variation
 * selectors and tags are ignorable. The other ones are annotation marks, and blanks that Unicode counts as symbols, letters
 * or marks: in Braille, musical notation, hieroglyphs and Khitan script.
 */
const isInvisible = (text: string) =>
  /^[\s\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800\u{1d159}\u{13441}\u{13442}\u{16fe4}]*$/u.test(
    text.replace(accent, ''),
  );

/**
 * What `fold` removes, also from PostgreSQL: the accents of Latin, Greek and Cyrillic letters, Hebrew and Arabic points, and
 * variation selectors. In other scripts most marks are vowels, without which words mean something else. A list instead of
 * properties of Unicode, because both engines must agree, whatever their versions.
 */
export const accents =
  '\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc' +
  '\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff\u180b-\u180d\u180f\u1ab0-\u1aff\u1dc0-\u1dff' +
  '\u20d0-\u20ff\u2de0-\u2dff\ua66f-\ua672\ua674-\ua67d\ua69e\ua69f\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\u{e0100}-\u{e01ef}';

const accent = new RegExp(`[${accents}]`, 'gu');

/**
 * The form in which texts are compared, sorted and searched. It is computed here and stored, because SQLite and
 * PostgreSQL fold case differently. A text of accents only keeps them: only a blank text folds to nothing.
 */
export const fold = (text: string) =>
  isAscii(text) ? oneLine(text.toLowerCase()) : oneLine(foldLetters(text)) || oneLine(decomposed(text));

const oneLine = (text: string) => text.replace(/\s{2,}|[^\S ]/g, ' ').trim();

/** Like `lower()` of both engines: only ASCII letters. For texts that are compared with it, such as email addresses. */
export const lowerAscii = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Most texts are ASCII, which needs no Unicode processing. */
const isAscii = (text: string) => /^[ -~]*$/.test(text);

const decomposed = (text: string) => withoutLongMarkRuns(text).normalize('NFKD');

const foldLetters = (text: string) =>
  decomposed(text)
    .replace(accent, '')
    // An accent between two other marks kept them apart.
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[łøđıðßæœþς]/g, (letter) => undecomposed[letter] ?? letter);

/** Letters that NFKD does not decompose, with their usual ASCII spelling, and the sigma at the end of words. */
const undecomposed: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ı: 'i',
  ð: 'd',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ς: 'σ',
};

/** Folds several texts for searching. The newline prevents matches across two texts. */
export const foldAll = (texts: (string | null | undefined)[]) =>
  texts
    .filter((text) => text != null)
    .map(fold)
    .join('\n');

/**
 * Unicode normalization sorts the combining marks of one letter in quadratic time: 100,000 of them take 20 s. No language
 * needs more than the 30 in a row that the stream-safe text format (UAX #15) allows. The two halfwidth sound marks become
 * combining marks in NFKD. The lookbehind keeps the search linear: a run is only counted from its start.
 */
const maxMarkRun = 30;
const longMarkRun = /(?<![\p{M}\uff9e\uff9f])[\p{M}\uff9e\uff9f]{31,}/u;
const longMarkRuns = new RegExp(longMarkRun, 'gu');

const hasLongMarkRun = (text: string) => text.length > maxMarkRun && longMarkRun.test(text);

/** Makes normalization linear. Stored texts have no long runs, so a search loses no matches. */
const withoutLongMarkRuns = (text: string) =>
  text.length > maxMarkRun ? text.replace(longMarkRuns, '') : text;

/** Finds control characters other than newline and tab, lone surrogates, and long runs of combining marks. */
export const hasForbiddenCharacters = (text: string) =>
  !isAscii(text) &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones looked for
  (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed() || hasLongMarkRun(text));

/** The text in its stored form; undefined if it has forbidden characters. */
export const checkedText = (text: string): string | undefined =>
  isAscii(text) ? text.trim() : hasForbiddenCharacters(text) ? undefined : normalizeUnicode(text);

/** The candidate closest to a misspelled word, if one is close enough. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const tolerance = Math.max(2, Math.floor(word.length / 3));
  // Only candidates of similar length are compared, so the cost does not grow with the length of the word.
  const near = candidates.filter((candidate) => Math.abs(candidate.length - word.length) <= tolerance);
  if (near.length === 0) return undefined;
  const folded = fold(word);
  return near
    .map((candidate) => ({ candidate, distance: editDistance(folded, candidate) }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** The text with line feeds as line breaks, as JSON and Unix have them. */
export const withLineFeeds = (text: string) => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** Joins words with commas and “and”. `Intl.ListFormat` would add 20 ms to every start of the service. */
export const joinWords = (words: readonly string[]) =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** `risk comment` is `RiskComment` in the name of an operation or a schema. */
export const capitalized = (words: string) =>
  words.replace(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase());

export const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Cuts a client's text to `maxLength`, so that a response does not repeat all of it. */
export const shortened = (text: string, maxLength = 100) =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substituted, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
