import { type RawBuilder, sql } from 'kysely';
import type { Order } from './list.ts';

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

const orMissing = (text: Text, direction: Direction) =>
  sql<string>`coalesce(${text}, ${sql.lit(missing[direction])})`;

/** Orders by the position of a value in this array, not by the alphabet. */
export const positionIn = (column: string, values: readonly string[]) => {
  const cases = values.map((value, i) => sql`when ${sql.lit(value)} then ${sql.lit(String(10 + i))}`);
  return sql<string>`(case ${sql.ref(column)} ${sql.join(cases, sql` `)} end)`;
};

/** A number from 0 to 89 as a text of two digits, in the same order. */
export const twoDigits = (column: string) => sql<string | null>`cast(10 + ${sql.ref(column)} as text)`;
