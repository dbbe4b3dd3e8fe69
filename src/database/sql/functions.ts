import {
  type Expression,
  ExpressionWrapper,
  FunctionNode,
  IdentifierNode,
  type OperationNode,
  sql,
  ValueNode,
} from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * SQL functions that differ between the engines. They have neutral names here; the query compiler of each engine
 * (`sqlite/engine.ts`, `postgres/engine.ts`) translates them. The database builds JSON, so that a list is never converted
 * row by row in JavaScript.
 */
type Call = ExpressionWrapper<Tables, keyof Tables, unknown>;

export const jsonObject = (members: Record<string, Expression<unknown>>) =>
  call(
    'json_object',
    ...Object.entries(members).flatMap(([name, value]) => [ValueNode.createImmediate(name), value]),
  );

/** The URL of a page of the console: the URL that clients use, a path and the last segment. */
export const consoleUrl = (path: string, segment: Expression<unknown>) =>
  sql<string | null>`(${call('base_url', ValueNode.createImmediate(path))} || ${segment})`;

/** Aggregates the rows of a subquery to a JSON array, which is empty if there are no rows. */
export const jsonArrayOf = (value: Expression<unknown>, orderBy: Expression<unknown>) =>
  call('json_array_of', value, orderBy);

/** Converts JSON text to JSON. */
export const parsedJson = (text: Expression<unknown>) => call('parsed_json', text);

/** Converts a condition to the JSON values `true`, `false` or `null`. */
export const jsonBoolean = (condition: Expression<unknown>) => call('json_boolean', condition);

/** The number of days from one date to a later one. */
export const daysBetween = (earlier: Expression<unknown>, later: Expression<unknown>) =>
  call('days_between', earlier, later);

/** The day of a timestamp after adding a duration such as `-28800 seconds`. */
export const shiftedDay = (time: Expression<unknown>, duration: Expression<unknown>) =>
  sql<string>`${call('shifted_day', time, duration)}`;

/** The timestamp that is a millisecond later. */
export const nextMillisecond = (time: Expression<unknown>) => call('next_millisecond', time);

/** The greatest of these values, or the least. None of them is null: the engines differ then. */
export const greatest = (...values: Expression<unknown>[]) => sql<string>`${call('greatest', ...values)}`;
export const least = (...values: Expression<unknown>[]) => sql<string>`${call('least', ...values)}`;

/** Whether a text contains another. */
export const containsText = (text: Expression<unknown>, part: string) =>
  call('contains_text', text, ValueNode.create(part)).$castTo<boolean>();

/** The same for a text that has an index of its trigrams, where the engine has such indexes. */
export const containsIndexedText = (text: Expression<unknown>, part: string) =>
  call('contains_indexed_text', text, ValueNode.create(part)).$castTo<boolean>();

/** The start of a text up to its second newline. */
export const firstTwoLines = (text: Expression<unknown>) => call('first_two_lines', text).$castTo<string>();

/** The first characters of a text, where an index has only these; where it has the whole text, nothing. */
export const indexedStart = (text: Expression<unknown>, length: number) =>
  call('indexed_start', text, ValueNode.createImmediate(length));

/** The second line of a text that has one. */
export const secondLine = (text: Expression<unknown>) => call('second_line', text).$castTo<string>();

/**
 * A text as `fold` in `core/text.ts` returns it, for sorting by a column that is not stored folded. Slow, so only where
 * no index could be used anyway.
 */
export const folded = (text: Expression<unknown>) => sql<string | null>`${call('folded', text)}`;

/**
 * A subquery to join on `value`: the values of a column with their `folded` texts, each computed once. SQLite groups the
 * values; without `group by` it would compute the text after the join. PostgreSQL keeps the results for the values of the
 * rows that it joins to, which saves it a scan.
 */
export const foldedValues = (table: string, column: string) => {
  const [name, value] = [sql.ref(`${table}.${column}`), sql.ref('value')];
  return sql<{ value: string; folded: string }>`${call(
    'folded_values',
    sql`(select value, ${folded(value)} as folded
      from (select distinct ${name} as value from ${sql.table(table)}) as named group by value)`,
    sql`(select ${name} as value, ${folded(name)} as folded offset 0)`,
  )}`;
};

/** Whether a text is in an array of any length. The array is a single JSON parameter, so the SQL is always the same. */
export const inJsonArray = (text: Expression<unknown>, texts: readonly string[] | Expression<string>) =>
  call('in_json_array', text, 'toOperationNode' in texts ? texts : jsonParameter(texts)).$castTo<boolean>();

/** A row as the text of a JSON array. Both engines write it with the same bytes. */
export const jsonRow = (values: readonly Expression<unknown>[]) => call('json_array', ...values);

/** Expands a JSON array to a table with the column `value`, whose items `->>` can read. */
export const jsonItems = (list: Expression<unknown>) => call('json_items', list);

/** Like `inJsonArray`, but PostgreSQL knows the length of the array when it plans. For ids, not for arbitrary texts. */
export const inConstantArray = (text: Expression<unknown>, texts: readonly string[]) =>
  call('in_constant_array', text, jsonParameter(texts));

/** Takes the exclusive lock with this name until the transaction ends. Does nothing on SQLite, which has one writer. */
export const advisoryLock = (name: Expression<unknown>) => call('advisory_lock', name);

/** Takes a shared lock on the row with this id until the transaction ends. It conflicts only with `rowLock`. */
export const sharedRowLock = (id: Expression<unknown>) => call('shared_row_lock', id);

/** Takes the exclusive lock on the row with this id until the transaction ends. */
export const rowLock = (id: Expression<unknown>) => call('row_lock', id);

/** Notifies all instances when the transaction commits that there are new events. Does nothing where they poll. */
export const wakeFollowers = () => call('wake_followers');

/**
 * The number of events, for which sequence numbers are taken. An error if the server has another timeline than is stored:
 * events may have been lost, so `growing` continues the sequence after them first.
 */
export const countUnlessPromoted = (count: Expression<unknown>) => call('count_unless_promoted', count);

/** Expands a JSON array of texts to a table with the column `value`. */
export const jsonTexts = (list: Expression<unknown>) => call('json_texts', list);

/**
 * A value that no index is used for. SQLite keeps no statistics here, and would read most rows of a large table one by one
 * in the order of an index.
 */
export const notIndexed = (value: Expression<unknown>) => call('not_indexed', value);

/**
 * At the end of a query whose rows are streamed: plans for the first rows instead of for all of them. PostgreSQL would
 * build all rows and sort them before it returns the first one, where an index has the order.
 */
export const optimizeForFirstRows = () => call('optimize_for_first_rows');

/** The table itself, even if a common table expression has the same name. */
export const storedTable = (name: string) => call('stored_table', IdentifierNode.create(name));

const call = (name: string, ...args: (Expression<unknown> | OperationNode)[]): Call =>
  new ExpressionWrapper(
    FunctionNode.create(
      name,
      args.map((arg) => ('toOperationNode' in arg ? arg.toOperationNode() : arg)),
    ),
  );

const jsonParameter = (texts: readonly string[]) => ValueNode.create(JSON.stringify(texts));

/** How an engine writes each function: SQL text and arguments, in order. */
export type DialectFunctions = Record<string, (call: FunctionNode) => (string | OperationNode)[]>;

/** Settings that compiled statements contain. Set them before the first statement that needs them. */
export type CompilerSettings = { baseUrl: string };

/** Writes a path under the URL that clients use as a literal. */
export const baseUrlFunction =
  (settings: CompilerSettings): DialectFunctions[string] =>
  ({ arguments: [path] }) => [ValueNode.createImmediate(settings.baseUrl + (path as ValueNode).value)];

/** A template in which a number stands for the argument with that index. */
export const dialectFunction =
  (sql: TemplateStringsArray, ...places: number[]): DialectFunctions[string] =>
  (call) =>
    sql.flatMap((text, i) => [text, call.arguments[places[i] ?? -1] ?? '']);
