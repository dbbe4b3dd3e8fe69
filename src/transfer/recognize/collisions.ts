import type { FieldError } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';
import type { Importable } from '../importable.ts';
import { type Column, type Known, targetOf } from './catalogue.ts';
import { normalizeName } from './names.ts';

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
