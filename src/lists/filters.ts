import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { invalidParameter } from '../core/errors.ts';
import { fold } from '../core/text.ts';
import { containsText } from '../database/sql/functions.ts';

type Condition = Expression<SqlBool>;

/** What each filter of a list means. One that is forgotten does not compile. */
export type Conditions<Filters> = {
  [Name in keyof Filters]-?: (value: Exclude<Filters[Name], undefined>) => Condition;
};

/** All the filters that were given, together. */
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

/** For filters that are `true` or `false`. */
export const holds = (condition: Condition) => (wanted: boolean) =>
  wanted ? condition : sql<boolean>`not (${condition})`;

export const isNull = (column: string) => sql<boolean>`${sql.ref(column)} is null`;

/** Whether the person that a row names is active; who is not named is neither. */
export const isActive = (person: string) => (wanted: boolean) =>
  sql<boolean>`${sql.ref(`${person}.status`)} = ${wanted ? 'active' : 'inactive'}`;

/** For days and numbers, from this one on. */
export const from = (column: string) => (value: string | number) =>
  sql<boolean>`${sql.ref(column)} >= ${value}`;

/** For times, which may be written with an offset. */
export const since = (column: string) => (time: string) => from(column)(new Date(time).toISOString());

/** For `q`: whether a folded column has this text in it. A text of which nothing is left would match everything. */
export const hasText = (column: string) => (text: string) => {
  const folded = fold(text);
  if (folded === '') throw invalidParameter('q', '`q` has nothing in it to look for.');
  return contains(column, folded);
};

/** Whether a folded column has this folded text anywhere in it. */
export const contains = (column: string, folded: string) =>
  sql<boolean>`${containsText(sql.ref(column), folded)}`;

/** For filters that always hold here, because another place has applied them. */
export const always = () => sql<boolean>`1 = 1`;

/** Whether there is at most one filter, of one value, and an index that has it before the order. */
export const isNarrowedByIndex = (filters: object, indexed: readonly string[]) =>
  Object.keys(filters).length <= 1 &&
  Object.entries(filters).every(([name, values]) => indexed.includes(name) && [values].flat().length === 1);
