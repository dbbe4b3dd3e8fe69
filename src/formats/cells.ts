import { fold } from '../core/text.ts';
import { readJson } from './json.ts';

export type Cell = string | number | boolean | null;

/**
 * A value as one cell of a table. A list of texts is joined by `; `, or, when that could not be taken apart again, is
 * JSON, as other lists and all maps are; an empty one is an empty cell.
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

/** What a schema says of a field, as far as it matters for how a cell is read. */
export type Property = { type?: unknown; enum?: readonly unknown[]; format?: string };

/**
 * Makes the reader of a field's cells. An empty cell is an empty list or map, or null; where none of these can be, it is
 * undefined. What cannot be read is left as it is, for the schema to refuse in words.
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
  return choices ? readChoice(choices) : String;
}

/** More than any list may have: the schema rejects one that is as long as this. */
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

/** Spreadsheets count days from the end of 1899. */
function readDay(cell: unknown): unknown {
  if (typeof cell !== 'number') return String(cell);
  const date = new Date((Math.floor(cell) - 25_569) * 86_400_000);
  return Number.isNaN(date.getTime()) ? String(cell) : date.toISOString().slice(0, 10);
}

/** `In progress` is `in_progress`. */
function readChoice(choices: readonly unknown[]) {
  return (cell: unknown) => {
    const choice = fold(String(cell)).replace(/[\s-]+/g, '_');
    return choices.includes(choice) ? choice : String(cell);
  };
}
