import { shortened } from '../core/text.ts';

/** Far more values than any imported row has. */
const maxValues = 10_000;

/** A shorter text cannot have too many values. */
const minCheckedLength = 2 * maxValues;

/**
 * Parses a JSON text of a file. Rejects a text with too many values before `JSON.parse`, which would block the event loop
 * for 100 ms on a mebibyte of brackets.
 */
export function readJson(text: string): unknown {
  if (text.length > minCheckedLength && countValues(text, maxValues) > maxValues)
    throw new Error(`it has more than ${maxValues} values`);
  const value: unknown = JSON.parse(text);
  const name = repeatedMember(text, value);
  if (name !== undefined) throw new Error(`it has the member “${name}” twice; remove one of them`);
  return value;
}

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
const tokens = new RegExp(`${strings.source}|[{}:]`, 'g');

/**
 * The name of a member that an object in a valid JSON text has twice, of which `JSON.parse` keeps only the last. Counting is
 * much cheaper than looking at the names, which only a text with such a member needs.
 */
export function repeatedMember(text: string, value: unknown): string | undefined {
  // Outside of strings, each member has a colon.
  if (text.replace(strings, '').split(':').length - 1 === countMembers(value)) return undefined;
  const objects: Set<unknown>[] = [];
  let latest = '';
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token !== ':') latest = token;
    else {
      const name: string = JSON.parse(latest);
      if (objects.at(-1)?.has(name)) return shortened(name, 40);
      objects.at(-1)?.add(name);
    }
  }
  return undefined;
}

/** Each value but the first is preceded by a comma or an opening bracket outside of strings. Stops after the maximum. */
function countValues(text: string, max: number): number {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length && values <= max; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === '\\' ? 1 : 0;
    else if (character === ',' || character === '[' || character === '{') values++;
  }
  return values;
}

/** The number of members of all objects in a value. */
function countMembers(value: unknown): number {
  let members = 0;
  const values = [value];
  for (const next of values) {
    if (typeof next !== 'object' || next === null) continue;
    const nested = Object.values(next);
    if (!Array.isArray(next)) members += nested.length;
    for (const one of nested) values.push(one);
  }
  return members;
}
