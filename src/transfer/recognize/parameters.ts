import { invalidParameter } from '../../core/errors.ts';
import { normalizeColumnName, normalizeName } from './names.ts';
import { normalizeWord } from './values.ts';

/** Parses the `map` parameter: pairs such as `Full name=name`. */
export function readMap(pieces: readonly string[]): Map<string, string> {
  const hint = 'Write `column=field`, or `column=` to ignore the column.';
  return new Map(
    readPairs('map', pieces, hint).map(([name, field]) => [normalizeColumnName(name), field] as const),
  );
}

/** Parses the `map_values` parameter: pairs such as `Status:In review=in_progress`, by column or field, then by text. */
export function readValueMap(pieces: readonly string[]): Map<string, Map<string, string>> {
  const hint = 'Write `column:text=value`.';
  const maps = new Map<string, Map<string, string>>();
  for (const [key, value] of readPairs('map_values', pieces, hint)) {
    const at = key.indexOf(':');
    if (at === -1) throw invalidParameter('map_values', `“${key}” names no column. ${hint}`);
    const column = normalizeName(key.slice(0, at));
    const texts = maps.get(column) ?? new Map<string, string>();
    maps.set(column, texts.set(normalizeWord(key.slice(at + 1)), value));
  }
  return maps;
}

/**
 * Parses pairs. The text before the last `=` can contain `=`, and also commas, at which the list was split: a piece
 * without `=` belongs to the next piece.
 */
function readPairs(parameter: string, pieces: readonly string[], hint: string): [string, string][] {
  const pairs: [string, string][] = [];
  let unfinished = '';
  for (const piece of pieces) {
    const pair = unfinished + piece;
    const at = piece.includes('=') ? pair.lastIndexOf('=') : -1;
    unfinished = at === -1 ? `${pair},` : '';
    if (at !== -1) pairs.push([pair.slice(0, at).trim(), pair.slice(at + 1).trim()]);
  }
  if (unfinished === '') return pairs;
  const detail = `\`${parameter}\` has no ${parameter === 'map' ? 'field' : 'value'} for “${unfinished.slice(0, -1).trim()}”. ${hint}`;
  throw invalidParameter(parameter, detail);
}
