import { UsageError } from '../core/errors.ts';
import { joinWords, nearest } from '../core/text.ts';

const people = ['person', 'people'];

/** Finds what a user means by `risks`, `risk` or `people`. */
export function findNamed<T>(
  known: Record<string, T>,
  text: string,
  done: 'imported' | 'exported',
): [string, T] {
  const name = people.includes(text) ? 'personnel' : text;
  const found = Object.entries(known).find(([plural]) => name === plural || `${name}s` === plural);
  if (found) return found;
  const names = Object.keys(known);
  const meant = nearest(text, names);
  const choices = meant ? `Did you mean ${meant}?` : `Choose from ${joinWords(names)}.`;
  throw new UsageError(`“${text}” cannot be ${done}. ${choices}`);
}
