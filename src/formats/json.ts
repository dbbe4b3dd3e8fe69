/** Far more values than any imported row has. */
const maxValues = 10_000;

/** A shorter text cannot have too many values. */
const minCheckedLength = 2 * maxValues;

/**
 * Parses a JSON text of a file. Rejects a text with too many values before `JSON.parse`, which would block the event loop
 * for 100 ms on a mebibyte of brackets.
 */
export function readJson(text: string): unknown {
  if (text.length > minCheckedLength && hasTooManyValues(text))
    throw new Error(`it has more than ${maxValues} values`);
  return JSON.parse(text);
}

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const comma = ','.charCodeAt(0);
const openings = new Set([...'[{'].map((character) => character.charCodeAt(0)));
const closings = new Set([...']}'].map((character) => character.charCodeAt(0)));
const separators = new Set([...',[{'].map((character) => character.charCodeAt(0)));

/** Each value but the first is preceded by a comma or an opening bracket outside of strings. */
function hasTooManyValues(text: string): boolean {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (separators.has(code) && ++values > maxValues) return true;
  }
  return false;
}

/** Whether an object in a valid JSON text has a member twice, of which `JSON.parse` keeps only the last. */
export function hasRepeatedMember(text: string, object: object): boolean {
  let commas = 0;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (openings.has(code)) depth++;
    else if (closings.has(code)) depth--;
    else if (code === comma && depth === 1) commas++;
  }
  return commas > 0 && commas + 1 > Object.keys(object).length;
}
