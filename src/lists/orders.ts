import { type RawBuilder, sql } from 'kysely';
import type { Order } from './list.ts';

type Text = RawBuilder<string | null>;

/**
 * The orders by a text, ascending as `name` and descending as `-name`. Rows without it come last in both. The ids order
 * equal rows, after a character that is lower than any in the text, so that "Oslo" comes before "Oslo fjord".
 */
export const byText = (name: string, id: RawBuilder<string>, text: Text) =>
  bothWays(
    name,
    (missing) => sql`(coalesce(${text}, ${sql.lit(missing)}) || '\t' || ${id})`,
    '',
    '\u{10ffff}',
  );

/** The same for texts that all have one length, such as days, so that the ids can follow them directly. */
export const byFixedText = (name: string, id: RawBuilder<string>, text: Text) =>
  bothWays(name, (missing) => sql`(coalesce(${text}, ${sql.lit(missing)}) || ${id})`, '00', '9999-99-99');

const bothWays = (
  name: string,
  keyFor: (missing: string) => RawBuilder<string>,
  lowest: string,
  highest: string,
): Record<string, Order> => ({
  [name]: { key: keyFor(highest) },
  [`-${name}`]: { key: keyFor(lowest), descending: true },
});

/** Orders by the position of a value in this array, not by the alphabet. */
export const positionIn = (column: string, values: readonly string[]) => {
  const cases = values.map((value, i) => sql`when ${sql.lit(value)} then ${sql.lit(String(10 + i))}`);
  return sql<string>`(case ${sql.ref(column)} ${sql.join(cases, sql` `)} end)`;
};

/** Numbers from 0 to 89 as texts of two digits. */
export const smallNumber = (column: string) => sql<string | null>`cast(10 + ${sql.ref(column)} as text)`;
