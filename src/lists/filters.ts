import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { invalidParameter } from '../core/errors.ts';
import { fold } from '../core/text.ts';
import { containsIndexedText, containsText } from '../database/sql/functions.ts';

type Condition = Expression<SqlBool>;

/** The SQL condition of each filter. A missing filter is a compile error. */
type Conditions<Filters> = {
  [Name in keyof Filters]-?: (value: Exclude<Filters[Name], undefined>) => Condition;
};

/** Combines the given filters with `and`. */
export function allOf<Filters extends object>(
  filters: Filters,
  conditions: Conditions<Filters>,
): RawBuilder<boolean> {
  const given = Object.entries(filters).map(([name, value]) => conditions[name as keyof Filters](value));
  return given.length === 0 ? sql`1 = 1` : sql`(${sql.join(given, sql` and `)})`;
}

export const equals = (column: string) => (value: string) => sql<boolean>`${sql.ref(column)} = ${value}`;

export const isIn = (column: string) => (values: readonly (string | number)[]) =>
  sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`;

/** For boolean filters. */
export const holds = (condition: Condition) => (expected: boolean) =>
  expected ? condition : sql<boolean>`not (${condition})`;

export const isNull = (column: string) => sql<boolean>`${sql.ref(column)} is null`;

/** Whether the referenced person is active. A row without a person matches neither value. */
export const isActive = (user_id: string) => (expected: boolean) =>
  expected
    ? sql<boolean>`(${sql.ref(user_id)} is not null and not ${isInactive(user_id)})`
    : isInactive(user_id);

/**
 * Whether the referenced person is inactive. Inactive people are few and have an index, so they are read once: PostgreSQL
 * would look up the person of each row if it could take this for a join, which `is true` prevents.
 */
export const isInactive = (user_id: string) =>
  sql<boolean>`((${sql.ref(user_id)} in (select people.user_id from people where people.status = 'inactive')) is true)`;

/** For dates and numbers: this value or a greater one. */
export const atLeast = (column: string | RawBuilder<string>) => (value: string | number) =>
  sql<boolean>`${typeof column === 'string' ? sql.ref(column) : column} >= ${value}`;

/** For timestamps, which can have a time zone offset. */
export const since = (column: string | RawBuilder<string>) => (time: string) =>
  atLeast(column)(new Date(time).toISOString());

/** For `q`: whether a folded column contains the text. A text that folds to nothing would match every row. */
export const hasText =
  (column: string | Expression<unknown>, isContained = containsIndexedText) =>
  (text: string) => {
    const folded = fold(text);
    if (folded === '') throw invalidParameter('q', '`q` contains no searchable characters.');
    return contains(column, folded, isContained);
  };

/** Whether a folded column contains the folded text. */
export const contains = (column: string | Expression<unknown>, folded: string, isContained = containsText) =>
  sql<boolean>`${isContained(typeof column === 'string' ? sql.ref(column) : column, folded)}`;

/** For filters that the query applies elsewhere. */
export const always = () => sql<boolean>`1 = 1`;

/** Whether there is at most one filter with one value, and an index on that column followed by the sort key. */
export const isNarrowedByIndex = (filters: object, indexed: readonly string[]) =>
  Object.keys(filters).length <= 1 &&
  Object.entries(filters).every(([name, values]) => indexed.includes(name) && [values].flat().length === 1);
