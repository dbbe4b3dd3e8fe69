import { type Expression, type RawBuilder, sql } from 'kysely';
import { invalidParameter } from '../core/errors.ts';
import { fold } from '../core/text.ts';
import { containsText } from '../database/sql/functions.ts';
import type { Order } from './keyset.ts';

type Text = RawBuilder<string | null>;

export type Direction = 'ascending' | 'descending';

/** Stands for the text of a row that has none, so that the row comes last in this direction. */
export const missing = { ascending: '\u{10ffff}', descending: '' };

/** The orders by a text, ascending as `name` and descending as `-name`. Rows without it come last in both. */
export const byText = <Name extends string>(
  name: Name,
  tie: RawBuilder<string>,
  text: Text,
  more: (direction: Direction) => Partial<Order> = () => ({}),
) =>
  ({
    [name]: { key: orMissing(text, 'ascending'), tie, ...more('ascending') },
    [`-${name}`]: { key: orMissing(text, 'descending'), tie, descending: true, ...more('descending') },
  }) as Record<Name | `-${Name}`, Order>;

/** The same for a text that every row has. */
export const byKey = <Name extends string>(
  name: Name,
  tie: RawBuilder<string>,
  key: RawBuilder<string>,
  more: Partial<Order> = {},
) =>
  ({
    [name]: { key, tie, ...more },
    [`-${name}`]: { key, tie, descending: true, ...more },
  }) as Record<Name | `-${Name}`, Order>;

const orMissing = (text: Text, direction: Direction) =>
  sql<string>`coalesce(${text}, ${sql.lit(missing[direction])})`;

/** Orders by the position of a value in this array, not by the alphabet. */
export const positionIn = (column: string, values: readonly string[]) => {
  const cases = values.map((value, i) => sql`when ${sql.lit(value)} then ${sql.lit(String(10 + i))}`);
  return sql<string>`(case ${sql.ref(column)} ${sql.join(cases, sql` `)} end)`;
};

/** A number from 0 to 89 as a text of two digits, in the same order. */
export const twoDigits = (column: string) => sql<string | null>`cast(10 + ${sql.ref(column)} as text)`;

/**
 * Sorts by how well rows match `q`: those that meet the first condition come first, then those that meet the second, and
 * so on. Equally good matches are in the order of `tie`.
 */
export function byRelevance(
  q: string | undefined,
  conditions: (folded: string) => Expression<boolean>[],
  tie: RawBuilder<string>,
): Order {
  if (q === undefined) throw invalidParameter('sort', '`sort=relevance` needs `q`.');
  const cases = conditions(fold(q)).map((condition, i) => sql`when ${condition} then ${sql.lit(String(i))}`);
  return { key: sql`(case ${sql.join(cases, sql` `)} else '9' end)`, tie };
}

/** Names that start with the text, then names with a word that starts with it, then the rest. */
export const namesByRelevance = (
  q: string | undefined,
  folded: Expression<string>,
  tie: RawBuilder<string>,
): Order => byRelevance(q, (text) => [startsWith(folded, text), hasWord(folded, text)], tie);

export const startsWith = (text: Expression<string>, start: string) =>
  sql<boolean>`substr(${text}, 1, ${sql.lit([...start].length)}) = ${start}`;

/** Whether a word after the first one starts with this text. */
export const hasWord = (text: Expression<string>, start: string) => containsText(text, ` ${start}`);
