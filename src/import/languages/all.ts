import type { Importable } from '../importable.ts';
import type { Words } from '../recognize/names.ts';
import { dutch } from './dutch.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { italian } from './italian.ts';
import type { Language, ResourceWords } from './language.ts';
import { polish } from './polish.ts';
import { portuguese } from './portuguese.ts';
import { spanish } from './spanish.ts';

/** All languages but English, whose words each resource declares. */
export const languages = { german, french, spanish, italian, portuguese, dutch, polish };

const all: readonly Language[] = Object.values(languages);

/** The words of all languages. */
export const wordsOfAll = (of: (language: Language) => string): string[] =>
  all.flatMap((language) => of(language).split(', '));

/** English words by what they mean, with those of all other languages after them. */
export function withOthers(english: Words, of: (language: Language) => Words | undefined): Words {
  const words: Record<string, string> = { ...english };
  for (const [meaning, texts] of all.flatMap((language) => Object.entries(of(language) ?? {})))
    words[meaning] = words[meaning] === undefined ? texts : `${words[meaning]}, ${texts}`;
  return words;
}

/** The English words for the columns and values of a resource, with those of all other languages. */
export const inAllLanguages = (
  what: Importable['what'],
  english: { synonyms: Words; values?: Record<string, Words> },
) => ({
  synonyms: withOthers(english.synonyms, (language) => language[what].columns),
  values: Object.fromEntries(
    Object.entries(english.values ?? {}).map(([field, words]) => [
      field,
      withOthers(words, (language) => (language[what] as ResourceWords).values?.[field]),
    ]),
  ),
});
