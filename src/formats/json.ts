/** Values in one JSON text: far more than a row of anything that is imported here has. */
const maxValues = 10_000;

/** Texts that are shorter cannot have enough values to take long. */
const minCheckedLength = 2 * maxValues;

/**
 * Parses a JSON text that is part of a file. Throws what `JSON.parse` throws, and for a text of too many values before
 * it is parsed: a mebibyte of brackets takes a tenth of a second.
 */
export function readJson(text: string): unknown {
  if (text.length > minCheckedLength && hasTooManyValues(text))
    throw new Error(`it has more than ${maxValues} values`);
  return JSON.parse(text);
}

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
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
