import type { FieldError } from '../../core/errors.ts';
import { maxRating } from '../../core/schemas.ts';
import { shortened } from '../../core/text.ts';
import { cellReader, type Property } from '../../formats/cells.ts';
import { type DateOrder, readDate } from '../languages/dates.ts';
import { findWord, maxLength, normalizeWord, type Words } from './names.ts';
import { describeScale, readRating, type Scale } from './scales.ts';

/** The words without those that mean something else in a column. */
export const withoutWords = (words: Words = {}, isUnclear: (text: string) => boolean): Words =>
  Object.fromEntries(
    Object.entries(words).map(([value, texts]) => [
      value,
      texts
        .split(', ')
        .filter((text) => !isUnclear(text))
        .join(', '),
    ]),
  );

/** What the whole file reveals about a column, known when the first row is read. */
export type Hints = {
  /** The time zone of the organization. */
  time_zone: string;
  order?: DateOrder | undefined;
  /** The scale of ratings, that of the risk model unless the file shows another one. */
  scale?: Scale | undefined;
};

/** The values of a field by the words for them. */
export function valuesByWord(property: Property, words: Words = {}): Map<string, unknown> {
  const isRating = ratingsOf(property) !== undefined;
  const choices = (property.enum ?? []).flatMap((choice) =>
    typeof choice === 'string' ? [[normalizeWord(choice), choice as unknown] as const] : [],
  );
  return new Map<string, unknown>([
    // Tools write a dash where there is no value.
    [normalizeWord('-'), noValue],
    ...Object.entries(words).flatMap(([value, texts]) =>
      texts.split(', ').map((text) => [normalizeWord(text), typedValue(value, isRating)] as const),
    ),
    ...choices,
  ]);
}

type ReaderOptions = {
  words?: Words | undefined;
  /** Reads cells that are no words, such as the percentage of a status. */
  interpret?: ((cell: unknown) => unknown) | undefined;
  /** The values that the request assigns to texts, by normalized text. */
  assigned: ReadonlyMap<string, string>;
  hints: Hints;
  /** Receives each text that is read as another value, of a date with its notation. It is undefined if none was found. */
  record(text: string, value: unknown, notation?: string): void;
};

/** Returns a function that reads the cells of a field in the notations of other tools. */
export function valueReader(
  property: Property,
  { words = {}, interpret, assigned, hints, record }: ReaderOptions,
): (cell: unknown) => unknown {
  const read = cellReader(property);
  const ratings = ratingsOf(property);
  const isRating = ratings !== undefined;
  const isDay = property.format === 'date';
  if (!isRating && !isDay && !property.enum && assigned.size === 0) return read;
  const values = valuesByWord(property, words);
  return (cell) => {
    if (cell === '' || cell === undefined || cell === null) return read(cell);
    const text = String(cell).trim();
    const target = assigned.size > 0 ? assigned.get(normalizeWord(text)) : undefined;
    if (target !== undefined) {
      record(text, target);
      return read(target);
    }
    if (isDay && isNoDay(text)) {
      record(text, null);
      return read('');
    }
    if (isDay) {
      const day = readDate(
        typeof cell === 'string' ? text : String(read(cell)),
        hints.order,
        hints.time_zone,
      );
      if (day !== text) record(text, day, text.replace(/\d/g, '0').replace(/\p{L}+/gu, 'a'));
      return day;
    }
    const plain = isRating
      ? readRating(cell, ratings, hints.scale, (label) => values.get(normalizeWord(label)))
      : read(cell);
    if (isRating ? typeof plain === 'number' : (property.enum?.includes(plain) ?? true)) {
      if (isRating && String(plain) !== text) record(text, plain);
      return plain;
    }
    const found = findWord(text, values) ?? interpret?.(cell);
    if (found === undefined) {
      record(text, undefined);
      return plain;
    }
    record(text, found === noValue ? null : found);
    return found === noValue ? read('') : found;
  };
}

const yes = 'true, yes, 1';
const no = 'false, no, 0';

/** Reads a column that says which items nobody works on any more. They get the status `archived`. */
export const archivedReader = (
  says: 'archived' | 'current',
  hints: Hints,
  record: ReaderOptions['record'],
  status: string | undefined,
) =>
  valueReader(
    { enum: ['archived', 'current'] },
    {
      words: says === 'archived' ? { archived: yes, current: no } : { archived: no, current: yes },
      assigned: new Map(),
      hints,
      record: (text, value) => value !== 'current' && record(text, value && status),
    },
  );

const noDay = new Set(
  'tbd, tba, tbc, to be defined, n/a, n.a., na, none, not set, k.a., k. a., offen'.split(', '),
);

/** Whether a text such as `TBD`, `n/a` or `-` says that there is no day. */
const isNoDay = (text: string) => noDay.has(normalizeWord(text)) || !/[\p{L}\p{N}]/u.test(text);

/** The values that a field accepts, if it accepts only some. */
export function choicesOf(property: Property): string[] | undefined {
  const ratings = ratingsOf(property);
  if (ratings !== undefined) return Array.from({ length: ratings }, (_, i) => String(i + 1));
  return property.enum?.filter((choice) => typeof choice === 'string');
}

/** The highest rating that a field can have; undefined if it has no ratings. */
export const ratingsOf = ({ minimum, maximum }: Property): number | undefined =>
  minimum === 1 && maximum !== undefined && maximum <= maxRating ? maximum : undefined;

const noValue = Symbol('no value');

const typedValue = (value: string, isRating: boolean) =>
  value === 'null' ? noValue : isRating ? Number(value) : value;

/** The cell that an error is about: its value, its column, and the scale of its ratings. */
type ErrorCell = { property: Property; value: unknown; column: string; scale: Scale | undefined };

/** Adds to the error of a cell how to correct a file of another tool, which may have words or a scale of its own. */
export function explainError(error: FieldError, { property, value, column, scale }: ErrorCell): FieldError {
  const ratings = ratingsOf(property);
  if (ratings !== undefined) {
    const name = shortened(column);
    const detail =
      `The column “${name}” is read as ${describeScale(ratings, scale)}, and as words such as “high”, and this is neither. Correct ` +
      `it, assign the text with \`map_values\`, or name another scale, as in \`Impact (1-10)\` or \`scales=${name}=1-10\`.`;
    return { ...error, detail };
  }
  if (error.code === 'enum')
    return { ...error, detail: `${error.detail} Or assign the text with \`map_values\`.` };
  const hasMoreThanDate =
    property.format === 'date' && /\d.*\s|\s.*\d/.test(String(value).slice(0, maxLength));
  const hint =
    ' A cell holds one day, with nothing but a time after it. A weekday must be that of the day, and a time zone UTC or an ' +
    'offset such as +01:00.';
  return hasMoreThanDate && error.code === 'format' ? { ...error, detail: error.detail + hint } : error;
}
