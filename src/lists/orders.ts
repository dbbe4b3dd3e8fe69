import { type RawBuilder, sql } from 'kysely';
import type { Order } from './list.ts';

type Text = RawBuilder<string | null>;

type Direction = 'ascending' | 'descending';

/** Stands for the text of a row that has none, so that the row comes last in this direction. */
const missing = {
  text: { ascending: '\u{10ffff}', descending: '' },
  fixedText: { ascending: '9999-99-99', descending: '00' },
};

/**
 * The orders by a text, ascending as `name` and descending as `-name`. Rows without it come last in both. The ids order
 * equal rows, after a character that is lower than any in the text, so that "Oslo" comes before "Oslo fjord".
 */
export const byText = <Name extends string>(name: Name, id: RawBuilder<string>, text: Text) =>
  inBothDirections(
    name,
    (direction) => sql`(coalesce(${text}, ${sql.lit(missing.text[direction])}) || '\t' || ${id})`,
  );

/** The same for texts that all have one length, such as days, so that the ids can follow them directly. */
export const byFixedText = <Name extends string>(name: Name, id: RawBuilder<string>, text: Text) =>
  inBothDirections(
    name,
    (direction) => sql`(coalesce(${text}, ${sql.lit(missing.fixedText[direction])}) || ${id})`,
  );

const inBothDirections = <Name extends string>(
  name: Name,
  keyFor: (direction: Direction) => RawBuilder<string>,
) =>
  ({
    [name]: { key: keyFor('ascending') },
    [`-${name}`]: { key: keyFor('descending'), descending: true },
  }) as Record<Name | `-${Name}`, Order>;

/** Orders by the position of a value in this array, not by the alphabet. */
export const positionIn = (column: string, values: readonly string[]) => {
  const cases = values.map((value, i) => sql`when ${sql.lit(value)} then ${sql.lit(String(10 + i))}`);
  return sql<string>`(case ${sql.ref(column)} ${sql.join(cases, sql` `)} end)`;
};

/** A number from 0 to 89 as a text of two digits, in the same order. */
export const twoDigits = (column: string) => sql<string | null>`cast(10 + ${sql.ref(column)} as text)`;
