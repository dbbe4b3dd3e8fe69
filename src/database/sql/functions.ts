import {
  type Expression,
  ExpressionWrapper,
  FunctionNode,
  IdentifierNode,
  type OperationNode,
  ValueNode,
} from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * SQL functions that differ between the engines. They have neutral names here; the query compiler of each engine
 * (`sqlite/engine.ts`, `postgres/engine.ts`) translates them. The database builds JSON, so that a list is never converted
 * row by row in JavaScript.
 */
type Call = ExpressionWrapper<Tables, keyof Tables, unknown>;

export const jsonObject = (members: Record<string, Expression<unknown>>): Call =>
  call(
    'json_object',
    Object.entries(members).flatMap(([name, value]) => [
      ValueNode.createImmediate(name),
      value.toOperationNode(),
    ]),
  );

/** Aggregates the rows of a subquery to a JSON array, which is empty if there are no rows. */
export const jsonArrayOf = (value: Expression<unknown>, orderBy: Expression<unknown>): Call =>
  call('json_array_of', [value.toOperationNode(), orderBy.toOperationNode()]);

/** Converts JSON text to JSON. */
export const parsedJson = (text: Expression<unknown>): Call => call('parsed_json', [text.toOperationNode()]);

/** Converts a condition to the JSON values `true`, `false` or `null`. */
export const jsonBoolean = (condition: Expression<unknown>): Call =>
  call('json_boolean', [condition.toOperationNode()]);

/** The number of days from one date to a later one. */
export const daysBetween = (earlier: Expression<unknown>, later: Expression<unknown>): Call =>
  call('days_between', [earlier.toOperationNode(), later.toOperationNode()]);

/** Whether a text contains another. */
export const containsText = (
  text: Expression<unknown>,
  part: string,
): ExpressionWrapper<Tables, keyof Tables, boolean> =>
  call('has_part', [text.toOperationNode(), ValueNode.create(part)]).$castTo<boolean>();

/** Whether a text is in an array of any length. The array is a single JSON parameter, so the SQL is always the same. */
export const inJsonArray = (
  text: Expression<unknown>,
  texts: readonly string[] | Expression<string>,
): ExpressionWrapper<Tables, keyof Tables, boolean> =>
  call('is_among', [
    text.toOperationNode(),
    'toOperationNode' in texts ? texts.toOperationNode() : ValueNode.create(JSON.stringify(texts)),
  ]).$castTo<boolean>();

/** Takes the exclusive lock with this name until the transaction ends. Does nothing on SQLite, which has one writer. */
export const advisoryLock = (name: Expression<unknown>): Call => call('held_lock', [name.toOperationNode()]);

/** Takes a shared lock on the row with this id until the transaction ends. It conflicts only with `rowLock`. */
export const sharedRowLock = (id: Expression<unknown>): Call =>
  call('shared_row_lock', [id.toOperationNode()]);

/** Takes the exclusive lock on the row with this id until the transaction ends. */
export const rowLock = (id: Expression<unknown>): Call => call('row_lock', [id.toOperationNode()]);

/** Notifies all instances when the transaction commits that there are new events. Does nothing where they poll. */
export const wakeFollowers = (): Call => call('wake_followers', []);

/** Expands a JSON array of texts to a table with the column `value`. */
export const jsonTexts = (list: Expression<unknown>): Call => call('json_texts', [list.toOperationNode()]);

/** Like `inJsonArray`, but PostgreSQL knows the length of the array when it plans. For ids, not for arbitrary texts. */
export const inConstantArray = (text: Expression<unknown>, texts: readonly string[]): Call =>
  call('is_one_of', [text.toOperationNode(), ValueNode.create(JSON.stringify(texts))]);

/** The table itself, even if a common table expression has the same name. */
export const storedTable = (name: string): Call => call('stored_table', [IdentifierNode.create(name)]);

const call = (name: string, args: OperationNode[]): Call =>
  new ExpressionWrapper(FunctionNode.create(name, args));

/** How an engine writes each function: SQL text and arguments, in order. */
export type Spellings = Record<string, (call: FunctionNode) => (string | OperationNode)[]>;

/** A template in which a number stands for the argument with that index. */
export const spelling =
  (sql: TemplateStringsArray, ...places: number[]): Spellings[string] =>
  (call) =>
    sql.flatMap((text, i) => [text, call.arguments[places[i] ?? -1] ?? '']);
