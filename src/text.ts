/** What every text that enters the service goes through: no blanks around it, one Unicode form. */
export const normalise = (text: string) => (isAscii(text) ? text : text.normalize('NFC')).trim();

/**
 * The form in which texts are compared, ordered and searched. It is made here and stored, because the
 * engines' own case folding differs.
 */
export const fold = (text: string) =>
  (isAscii(text) ? text.toLowerCase() : foldLetters(text)).replace(/\s{2,}|[^\S ]/g, ' ').trim();

/** Most texts are, and need none of what Unicode asks for. */
const isAscii = (text: string) => /^[ -~]*$/.test(text);

const foldLetters = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[łøđıðßæœþ]/g, (letter) => undecomposed[letter] ?? letter);

/** Letters that Unicode does not take apart, as people type them who do not have them. */
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
};

/** Several texts to search in, each folded, so that none is found across the end of one and the start of the next. */
export const foldAll = (texts: (string | null | undefined)[]) =>
  texts
    .filter((text) => text != null)
    .map(fold)
    .join('\n');

/** Control characters other than newline and tab, NUL among them, and halves of surrogate pairs. */
export const hasForbiddenCharacters = (text: string) =>
  !isAscii(text) &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones looked for
  (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed());

/** The candidate that a misspelt word most likely meant, if any is near enough. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const tolerance = Math.max(2, Math.floor(word.length / 3));
  return candidates
    .filter((candidate) => Math.abs(candidate.length - word.length) <= tolerance)
    .map((candidate) => ({ candidate, distance: editDistance(fold(word), candidate) }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Joins words as a sentence does: `a, b and c`. */
export const listed = (words: readonly string[]) =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(words);

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
