import type { Importable } from '../importable.ts';
import type { Words } from '../recognize/names.ts';
import { dutch } from './dutch.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { italian } from './italian.ts';
import type { Language, ResourceWords } from './language.ts';
import { polish } from './polish.ts';
import { portuguese } from './portuguese.ts';
import { spanish } from './spanish.ts';

export const languages = { english, german, french, spanish, italian, portuguese, dutch, polish };

const all: readonly Language[] = Object.values(languages);

/** The words of all languages. */
export const wordsOfAll = (of: (language: Language) => string): string[] =>
  all.flatMap((language) => of(language).split(', '));

/** The words of all languages by what they mean. */
export function wordsOf(of: (language: Language) => Words | undefined): Words {
  const words: Record<string, string> = {};
  for (const [meaning, texts] of all.flatMap((language) => Object.entries(of(language) ?? {})))
    words[meaning] = words[meaning] === undefined ? texts : `${words[meaning]}, ${texts}`;
  return words;
}

/** The words for the columns and values of a resource. */
export const inAllLanguages = (what: Importable['what']) => ({
  synonyms: wordsOf((language) => language[what].columns),
  values: Object.fromEntries(
    Object.keys(english[what].values ?? {}).map((field) => [
      field,
      wordsOf((language) => (language[what] as ResourceWords).values?.[field]),
    ]),
  ),
});
