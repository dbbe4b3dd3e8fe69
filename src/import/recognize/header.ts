import { type FieldError, fieldError, Problem } from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { fold, joinWords, shortened } from '../../core/text.ts';
import type { Importable } from '../importable.ts';
import { wordsOfAll } from '../languages/all.ts';
import { type Column, type Known, targetOf } from './catalogue.ts';
import { maxLength, normalizeName } from './names.ts';

/** Keeps the better of two columns for one field. Two columns that `map` assigns to one field are an error. */
export function resolveCollisions(
  names: readonly string[],
  found: (Known | undefined)[],
  unknown: Map<string, string>,
  alternative: (column: Column) => Column | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  const best = new Map<string, number>();
  for (const [i, one] of found.entries()) {
    if (!one || one.column.is === 'ignored') continue;
    const { column } = one;
    const key = `${column.is} ${targetOf(column)} ${column.is === 'part' ? column.position : ''}`;
    const other = best.get(key);
    const otherMatch = other === undefined ? undefined : found[other];
    if (other === undefined || !otherMatch) {
      best.set(key, i);
      continue;
    }
    const [first, second] = [shortened(names[other] ?? ''), shortened(names[i] ?? '')];
    if (one.rank === -2 && otherMatch.rank === -2) {
      const detail = `“${first}” and “${second}” both map to \`${targetOf(column)}\`. Ignore one of them with \`map\`.`;
      errors.push({ column: second, code: 'repeated_column', detail });
      continue;
    }
    const [winner, loser] = one.rank < otherMatch.rank ? [i, other] : [other, i];
    best.set(key, winner);
    const instead = alternative(column);
    found[loser] = undefined;
    if (instead && !found.some((other) => other?.column.field === instead.field)) {
      found[loser] = { column: instead, rank: 9 };
      continue;
    }
    const name = names[loser] ?? '';
    if (name !== names[winner])
      unknown.set(name, `“${shortened(names[winner] ?? '')}” is \`${targetOf(column)}\`.`);
  }
  return errors;
}

/** In a file without titles, the first line of the description is the title. */
export function useHeading(
  { input }: Importable,
  names: readonly string[],
  found: (Known | undefined)[],
  mode: string,
) {
  if (!('title' in input.properties) || !(input.required as string[]).includes('title')) return;
  if (found.some((one) => one?.column.field === 'title')) return;
  const at = found.findIndex((one) => one?.column.field === 'description');
  const description = found[at];
  // An update of descriptions must not change titles.
  if (!description || (mode === 'upsert' && normalizeName(names[at] ?? '') === 'description')) return;
  found[at] = { ...description, column: { is: 'heading', field: 'title', rest: 'description' } };
}

/** The first line as the title, and the whole text as the description if the title does not hold it. */
export function headingOf(text: unknown): { title?: string; description?: string | null } {
  if (typeof text !== 'string' || text === '') return {};
  const [line = ''] = text.split('\n', 1);
  const title = line.replaceAll('\t', ' ').trim();
  if (title.length <= limits.name_characters) return { title, description: title === text ? null : text };
  const cut = title.slice(0, limits.name_characters - 1).toWellFormed();
  return { title: `${cut.slice(0, cut.lastIndexOf(' ') + 1 || undefined).trim()}…`, description: text };
}

/** The number of columns an error names, and the number of errors its detail repeats. */
const maxNamedColumns = 100;
const maxSentences = 5;

export const noHeader = ({ input }: Importable, names: readonly string[]): FieldError => ({
  code: 'no_header',
  detail:
    `The first line must name the columns, such as ${joinWords(Object.keys(input.properties).slice(0, 3))}. ` +
    `It contains ${joinWords(names.slice(0, 5).map((name) => `“${shortened(name)}”`))}.`,
});

/** 422 for a file with invalid columns. Includes the field of each column, so that the sender can correct `map`. */
export function invalidColumns(
  names: readonly string[],
  found: (Known | undefined)[],
  all: FieldError[],
): Problem {
  const errors = all.slice(0, maxNamedColumns);
  const targets = names.map((name, i) => [shortened(name), found[i] ? targetOf(found[i].column) : null]);
  const columns = Object.fromEntries(targets.slice(0, maxNamedColumns));
  const sentences = errors.slice(0, maxSentences).map(({ detail }) => detail);
  if (errors.length > maxSentences) sentences.push('See `errors` for the rest.');
  return new Problem('invalid_body', sentences.join(' '), { errors, extra: { columns } });
}

export const unknownMember = (name: string, detail: string): FieldError => ({
  pointer: `#/${shortened(name)}`,
  code: 'unknown_field',
  detail,
});

/** Two members of a JSON object for one field. */
export const repeatedMember = (column: Column, first: string, second: string) =>
  fieldError(
    targetOf(column),
    'repeated_field',
    `“${shortened(first)}” and “${shortened(second)}” are the same field. Remove one of them.`,
  );

const statusWords = new Set(wordsOfAll((language) => language.statusWords).map(fold));

export const looksLikeStatus = (name: string) =>
  name.length <= maxLength &&
  fold(name)
    .split(/[^\p{L}]+/u)
    .some((word) => statusWords.has(word));

export function unclearColumn(name: string): FieldError {
  const column = shortened(name);
  const detail =
    `The column “${column}” looks like a status, but it is not known what it says. Read it as the status ` +
    `(\`map=${column}=status\`) or leave it out (\`map=${column}=\`).`;
  return { column, code: 'unclear_column', detail };
}

/** With so many known columns, the file is of a tool with many others. */
export const minClear = 5;

/** Of a file in another language, the few known columns would be imported, and a wrong one could become the title. */
export function mostlyUnknown(unknownNames: readonly string[], names: readonly string[]): FieldError {
  const shown = unknownNames.slice(0, 5).map((name) => shortened(name));
  const detail =
    `${unknownNames.length} of ${names.length} columns are unknown, such as ${joinWords(shown.map((name) => `“${name}”`))}. ` +
    `Assign them with \`map\`, as in \`map=${shown[0]}=…\`, or leave them out with \`unknown_columns=skip\`.`;
  return { code: 'unclear_columns', detail };
}
