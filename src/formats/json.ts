/** Far more values than any imported row has. */
const maxValues = 10_000;

/** A shorter text cannot have too many values. */
const minCheckedLength = 2 * maxValues;

/**
 * Parses a JSON text of a file. Rejects a text with too many values before `JSON.parse`, which would block the event loop
 * for 100 ms on a mebibyte of brackets.
 */
export function readJson(text: string): unknown {
  if (text.length > minCheckedLength && countIn(text, maxValues).values > maxValues)
    throw new Error(`it has more than ${maxValues} values`);
  return JSON.parse(text);
}

/** Whether an object in a valid JSON text has a member twice, of which `JSON.parse` keeps only the last. */
export function hasRepeatedMember(text: string, object: object): boolean {
  const { members } = countIn(text);
  return members > 1 && members > Object.keys(object).length;
}

/**
 * Each value but the first, and each member but the first, is preceded by a comma or an opening bracket outside of strings.
 * Stops after the maximum number of values.
 */
function countIn(text: string, max = Number.POSITIVE_INFINITY): { values: number; members: number } {
  let values = 1;
  let members = 1;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length && values <= max; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === '\\' ? 1 : 0;
    else if (character === ',') {
      values++;
      if (depth === 1) members++;
    } else if (character === '[' || character === '{') {
      values++;
      depth++;
    } else if (character === ']' || character === '}') depth--;
  }
  return { values, members };
}
