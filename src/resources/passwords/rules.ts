import { type FieldError, fieldError } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import { longPasswords, words } from './common.ts';

const minPasswordLength = 15;
const maxPasswordLength = 200;

/** Words that long guessed passwords are made of. Digits and runs of the keyboard are removed before. */
const commonWords = `
  password passwort passwd passphrase motdepasse contrasena secret welcome willkommen letmein iloveyou ichliebedich admin
  administrator superuser default changeme login signin user username guest master hello hallo dragon monkey football
  baseball soccer sunshine princess superman batman pokemon starwars flower lovely family michael jessica charlie
  liverpool chelsea arsenal computer internet google facebook microsoft windows samsung company business server database
  muster summer winter spring autumn january february march april june july august september october november december
  monday tuesday wednesday thursday friday saturday sunday test temp demo sample example this that my is a the
`
  .trim()
  .split(/\s+/)
  .sort((a, b) => b.length - a.length);

/** The rows of keyboards. Keys next to each other, also diagonally, make a walk. */
const keyboards = [
  '1234567890|qwertyuiop|asdfghjkl|zxcvbnm',
  '1234567890|qwertzuiop|asdfghjkl|yxcvbnm',
  '1234567890|azertyuiop|qsdfghjklm|wxcvbn',
];
const minWalk = 4;

const runs = [
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'yxcvbnm',
  'zxcvbnm',
  'abcdefghijklmnopqrstuvwxyz',
];

/** Fewer characters than this are left of a password that is easy to guess. */
const minOwnCharacters = 6;

/**
 * The rules of NIST SP 800-63B for a password that is the only factor: long, not common, and not derived from what
 * everybody knows about the person. There are no rules about the kinds of characters.
 */
export function passwordErrors(
  password: string,
  { name, email }: { name: string; email: string | null },
): FieldError[] {
  const reject = (code: string, detail: string) => [fieldError('password', code, detail)];
  const text = password.normalize('NFKC');
  const length = [...text].length;
  if (length < minPasswordLength) {
    const detail = `The password has ${length} characters. Use at least ${minPasswordLength}: a sentence is easy to remember.`;
    return reject('minLength', detail);
  }
  if (length > maxPasswordLength)
    return reject('maxLength', `The password has ${length} characters; the maximum is ${maxPasswordLength}.`);
  const known = [name, email ?? ''].flatMap((one) => fold(one).split(/[^\p{L}\p{M}\p{N}]+/u));
  const why = findWeakness(fold(text), known);
  if (why === undefined) return [];
  return reject(
    'too_common',
    `This password is easy to guess: ${why} Use four words and something of your own.`,
  );
}

/** Says what little is left without; undefined if enough is left. */
function findWeakness(folded: string, known: readonly string[]): string | undefined {
  const spellings = [folded, unleet(folded)].map((one) => one.replace(/[^\p{L}\p{M}]+/gu, ''));
  const isShort = (rest: string) => rest.replaceAll(' ', '').length < minOwnCharacters;
  for (const letters of spellings) {
    const found = longPasswords.find((one) => letters.includes(one) && isShort(letters.replace(one, '')));
    if (found !== undefined)
      return `“${found}” is a well-known password, and digits or signs around it change little.`;
  }
  const characters = folded.replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
  const once = withoutRepetition(characters);
  // Twice the same is as easy to guess as once.
  if (once.length < Math.min(characters.length, minPasswordLength)) return 'it repeats the same characters.';
  const walked =
    keyboards.map((keyboard) => withoutWalks(folded, keyboard)).sort((a, b) => a.length - b.length)[0] ?? '';
  if (hasManySigns(walked)) return undefined;
  if (isShort(walked.replace(/[^\p{L}\p{M}]+/gu, '')) && walked.length < folded.length)
    return 'it follows the keys of the keyboard, or digits in order.';
  for (const letters of spellings) {
    if (isShort(withoutParts(letters, known, []))) return 'it is made of your own name or address.';
    if (hasFewWords(withoutRepetition(letters))) return 'it is one or two common words.';
    if (isShort(withoutParts(letters, known, commonWords)))
      return 'little is left of it without common words, keys and digits in order, and your own name or address.';
  }
  return undefined;
}

/** Removes parts of at least four characters that walk over the keyboard. */
function withoutWalks(text: string, keyboard: string): string {
  const places = new Map(
    keyboard.split('|').flatMap((row, y) => [...row].map((key, x) => [key, { x, y }] as const)),
  );
  let rest = '';
  let walk = '';
  for (const key of `${text} `) {
    const [from, to] = [places.get(walk.at(-1) ?? ''), places.get(key)];
    const isNext = from && to && Math.abs(from.x - to.x) <= 1 && Math.abs(from.y - to.y) <= 1;
    if (!isNext) {
      rest += walk.length >= minWalk ? ' ' : walk;
      walk = '';
    }
    walk += key;
  }
  return rest;
}

/** Whether two common words, and short ones between them, are nearly all of it. */
function hasFewWords(letters: string): boolean {
  // The fewest letters outside of words among the first ones, with none, one and two words.
  const fewest: number[][] = [[0, 0, 0]];
  for (let end = 1; end <= letters.length; end++) {
    const now = (fewest[end - 1] ?? []).map((left) => left + 1);
    for (let start = Math.max(0, end - 14); start < end; start++) {
      const word = letters.slice(start, end);
      const isFiller = fillers.has(word);
      if (!isFiller && !words.has(word)) continue;
      for (const count of [0, 1, 2]) {
        const before = fewest[start]?.[isFiller ? count : count - 1];
        if (before !== undefined) now[count] = Math.min(now[count] ?? before, before);
      }
    }
    fewest.push(now);
  }
  return Math.min(...(fewest.at(-1) ?? [])) < minOwnCharacters;
}

const fillers = new Set([
  'i',
  'a',
  'my',
  'is',
  'am',
  'the',
  'this',
  'that',
  'name',
  'and',
  'you',
  'to',
  'in',
  'for',
  'of',
  'me',
]);

function withoutParts(letters: string, known: readonly string[], common: readonly string[]): string {
  let rest = letters;
  if (common.length > 0) for (const run of runs) rest = withoutRuns(rest, run);
  for (const word of [...known.filter((one) => one.length > 2), ...common]) {
    // Short words may be a part of others.
    rest = word.length > 2 ? rest.replaceAll(word, ' ') : rest;
  }
  const parts = rest.split(' ').filter((part) => part.length > 2 || !common.includes(part));
  return [...new Set(parts.map(withoutRepetition))].join('');
}

/** Replaces digits and signs that stand for letters. */
const unleet = (text: string) => text.replace(/[0134578@$!]/g, (sign) => leet[sign] ?? sign);
const leet = Object.fromEntries(
  [...'0o1i3e4a5s7t8b@a$s!i'.matchAll(/../g)].map(([[sign = '', letter]]) => [sign, letter]),
);

/** Removes parts of at least four characters that follow each other in `run`, in either direction. */
function withoutRuns(text: string, run: string): string {
  let rest = text;
  for (const order of [run, [...run].reverse().join('')]) {
    for (let length = order.length; length >= 4; length--) {
      for (let start = 0; start + length <= order.length; start++)
        rest = rest.replaceAll(order.slice(start, start + length), ' ');
    }
  }
  return rest;
}

/** `abcabcabc` becomes `abc`. */
const withoutRepetition = (text: string) => /^(.+?)\1*$/.exec(text)?.[1] ?? text;

/** Digits and signs, if they are many different ones and not in order. */
const hasManySigns = (text: string) =>
  new Set(withoutRuns(text, '01234567890').replace(/[\p{L}\s]/gu, '')).size >= 8;
