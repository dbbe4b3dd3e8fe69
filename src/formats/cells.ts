import { fold } from '../core/text.ts';
import { readJson } from './json.ts';

export type Cell = string | number | boolean | null;

/**
 * Converts a value to one cell of a table. A list of texts is joined by `; ` if it can be split again; other lists and
 * all maps become JSON. An empty list or map is an empty cell.
 */
export function writeCell(value: unknown): Cell {
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null) return value as Cell;
  if (Object.keys(value).length === 0) return null;
  return Array.isArray(value) && value.every(isPlain) && !value[0].startsWith('[')
    ? value.join('; ')
    : JSON.stringify(value);
}

const isPlain = (item: unknown) =>
  typeof item === 'string' && item !== '' && !item.includes(';') && item.trim() === item;

/** The part of a field's schema that decides how its cells are read. */
export type Property = {
  type?: unknown;
  enum?: readonly unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
};

/**
 * Returns a function that reads the cells of a field. An empty cell is an empty list, an empty map or null; if the schema
 * allows none of them, it is undefined. An unreadable cell stays unchanged, so that the schema rejects it with a message.
 */
export function cellReader(property: Property): (cell: unknown) => unknown {
  const types = [property.type].flat();
  const read = readerOf(property);
  return (cell) => {
    if (cell !== '' && cell !== undefined && cell !== null) return read(cell);
    if (types.includes('array')) return [];
    if (types.includes('object')) return {};
    return types.includes('null') ? null : undefined;
  };
}

function readerOf({ type, enum: choices, format }: Property): (cell: unknown) => unknown {
  const types = [type].flat();
  if (types.includes('array')) return readList;
  if (types.includes('object')) return (cell) => jsonOrText(String(cell));
  if (types.includes('integer')) return readInteger;
  if (format === 'date') return readDay;
  if (format === 'date-time') return readTime;
  return choices ? readChoice(choices) : String;
}

/** More than any schema allows, so a list of this length is rejected. */
const maxItems = 10_000;

function readList(cell: unknown): unknown {
  const text = String(cell);
  if (text.startsWith('[')) return jsonOrText(text);
  return text
    .split(';', maxItems)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function jsonOrText(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

const readInteger = (cell: unknown) =>
  typeof cell === 'string' && /^-?\d{1,15}(\.0*)?$/.test(cell.trim()) ? Number(cell) : cell;

/** Another number than that of a day from 1950 to 2100 is an amount, a year or an id, unless its style is a date. */
const minSerial = 18_264;
const maxPlainSerial = 73_415;

/** The last day of the year 9999. */
const maxSerial = 2_958_465;

function readDay(cell: unknown): unknown {
  const time =
    typeof cell === 'number' && cell >= minSerial && cell < maxPlainSerial + 1
      ? timeOfSerial(cell)
      : undefined;
  return time?.slice(0, 10) ?? String(cell);
}

/** A workbook has the times of an export in UTC, and without it. */
const readTime = (cell: unknown) =>
  String(cell).replace(
    /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d))?$/,
    (_, day: string, time = '00:00:00') => `${day}T${time}Z`,
  );

/** Spreadsheets count days from the end of 1899. Undefined for a time without a day, and for a number that is no date. */
export function timeOfSerial(serial: number): string | undefined {
  if (serial < 1 || serial >= maxSerial + 1) return undefined;
  // Without the noise of binary fractions: 8:00 can be 0.333333333.
  const seconds = Math.floor(Number(((serial - 25_569) * 86_400).toFixed(2)));
  const time = new Date(seconds * 1000).toISOString();
  return time.endsWith('T00:00:00.000Z') ? time.slice(0, 10) : time.slice(0, 19).replace('T', ' ');
}

/** No choice is longer, and folding a long text takes long. */
const maxChoiceLength = 100;

/** `In progress` is `in_progress`. */
function readChoice(choices: readonly unknown[]) {
  return (cell: unknown) => {
    const text = String(cell);
    if (text.length > maxChoiceLength) return text;
    const choice = fold(text).replace(/[\s-]+/g, '_');
    return choices.includes(choice) ? choice : text;
  };
}

/**
 * Prefixes a quote to text that a spreadsheet would run as a formula. Some spreadsheets also run formulas that start with
 * the full-width forms of `=`, `+`, `-` and `@`. Where lists are separated by semicolons, Excel starts a cell after each
 * of them, and a row after a line break, even between quotes. The items of a Markdown list are no formulas.
 */
export const escapeFormula = (text: string) =>
  (/^'*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text).replace(
    /(?!\n[-+] )[;\t\n](?='*[=+\-@＝＋－＠])/g,
    "$&'",
  );

/** Removes the quote before a text again, also from a workbook that was made from CSV. */
export const unescapeFormula = (text: string) =>
  text[0] === "'" && /^'+[=+\-@\t\r＝＋－＠]/.test(text) ? text.slice(1) : text;

/** Removes all quotes of `escapeFormula`. In a file of another program, one within a text is a part of it. */
export const unescapeFormulas = (text: string) =>
  unescapeFormula(text).replace(/([;\t\n])'(?='*[=+\-@＝＋－＠])/g, '$1');

type Valued = { enum?: readonly unknown[]; items?: { enum?: readonly unknown[] } };

/** Writes the values of a field as people say them: `In progress` for `in_progress`, `Yes` for `true`. */
export function wordWriter({ enum: values, items }: Valued) {
  const accepted = values ?? items?.enum;
  const wordFor = (value: unknown) =>
    typeof value === 'string' && accepted?.includes(value) ? inWords(value) : value;
  return (value: unknown) => {
    if (typeof value === 'boolean') return value ? 'Yes' : 'No';
    return writeCell(Array.isArray(value) ? value.map(wordFor) : wordFor(value));
  };
}

/** Values whose words are not the value itself with spaces, as in the console. */
const words: Readonly<Record<string, string>> = {
  todo: 'To do',
  cancelled: 'Canceled',
  materialized: 'Occurred',
  wont_fix: "Won't fix",
  unassessed: 'Not assessed',
  unowned: 'No owner',
  due_overdue: 'Past due',
  stale_90d: 'No update in 90 days',
};

function inWords(value: string): string {
  const text = value.replaceAll('_', ' ');
  return words[value] ?? text.charAt(0).toUpperCase() + text.slice(1);
}
