import { type FieldError, fieldError } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';

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

/** Well-known passwords of this length. */
const commonPasswords = new Set(['correcthorsebatterystaple', 'tobeornottobethatisthequestion']);

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
  const folded = fold(text);
  const own = [folded, unleet(folded)].map((one) => withoutCommonParts(one, known).length);
  if (Math.min(...own) >= minOwnCharacters || hasManySigns(text)) return [];
  const detail =
    'This password is easy to guess: little is left of it without common words, repetitions, digits in order, and your ' +
    'own name or address. Use several words that have nothing to do with each other.';
  return reject('too_common', detail);
}

function withoutCommonParts(folded: string, known: readonly string[]): string {
  const letters = folded.replace(/[^\p{L}\p{M}]+/gu, '');
  if (commonPasswords.has(letters)) return '';
  let rest = letters;
  for (const run of runs) rest = withoutRuns(rest, run);
  for (const word of [...known.filter((one) => one.length > 2), ...commonWords]) {
    // Short words may be a part of others.
    rest = word.length > 2 ? rest.replaceAll(word, ' ') : rest;
  }
  const parts = rest.split(' ').filter((part) => part.length > 2 || !commonWords.includes(part));
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
