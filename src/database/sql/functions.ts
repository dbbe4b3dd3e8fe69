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
 * What the engines spell differently: here under neutral names, which the compiler of each (`sqlite.ts`,
 * `postgres.ts`) puts into its own words. JSON is made by the database, so that a list is never rebuilt row by row
 * in JavaScript.
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

/** The rows of a subquery as a list; empty when there are none. */
export const jsonArrayOf = (value: Expression<unknown>, orderBy: Expression<unknown>): Call =>
  call('json_array_of', [value.toOperationNode(), orderBy.toOperationNode()]);

/** A text that holds JSON, as JSON. */
export const parsedJson = (text: Expression<unknown>): Call => call('parsed_json', [text.toOperationNode()]);

/** A condition as `true`, `false` or `null`. */
export const jsonBoolean = (condition: Expression<unknown>): Call =>
  call('json_boolean', [condition.toOperationNode()]);

/** Whole days from one day to a later one. */
export const daysBetween = (earlier: Expression<unknown>, later: Expression<unknown>): Call =>
  call('days_between', [earlier.toOperationNode(), later.toOperationNode()]);

/** Whether a text has another anywhere in it. */
export const containsText = (
  text: Expression<unknown>,
  part: string,
): ExpressionWrapper<Tables, keyof Tables, boolean> =>
  call('has_part', [text.toOperationNode(), ValueNode.create(part)]).$castTo<boolean>();

/** Whether a text is among others, of any number and with any characters. They are a single parameter. */
export const inJsonArray = (
  text: Expression<unknown>,
  texts: readonly string[] | Expression<string>,
): ExpressionWrapper<Tables, keyof Tables, boolean> =>
  call('is_among', [
    text.toOperationNode(),
    'toOperationNode' in texts ? texts.toOperationNode() : ValueNode.create(JSON.stringify(texts)),
  ]).$castTo<boolean>();

/** Waits for others who hold the lock of this name, and holds it until the transaction ends. */
export const advisoryLock = (name: Expression<unknown>): Call => call('held_lock', [name.toOperationNode()]);

/** Locks the row with this id against `rowLock` until the transaction ends. Others may do the same at the same time. */
export const sharedRowLock = (id: Expression<unknown>): Call =>
  call('shared_row_lock', [id.toOperationNode()]);

/** Waits for those who share the row's lock, and keeps others from it until the transaction ends. */
export const rowLock = (id: Expression<unknown>): Call => call('row_lock', [id.toOperationNode()]);

/** The texts of a list that is JSON, as the column `value` of a table. */
export const jsonTexts = (list: Expression<unknown>): Call => call('json_texts', [list.toOperationNode()]);

/** Whether a text is one of a few. They are a single parameter, however many there are. */
export const inConstantArray = (text: Expression<unknown>, texts: readonly string[]): Call =>
  call('is_one_of', [text.toOperationNode(), ValueNode.create(JSON.stringify(texts))]);

/** A table itself, also where a query has given its name to something else. */
export const storedTable = (name: string): Call => call('stored_table', [IdentifierNode.create(name)]);

const call = (name: string, args: OperationNode[]): Call =>
  new ExpressionWrapper(FunctionNode.create(name, args));

/** How an engine spells a call: pieces of SQL, and the arguments between them. */
export type Spellings = Record<string, (call: FunctionNode) => (string | OperationNode)[]>;

/** SQL with the numbers of the arguments in their places. */
export const spelling =
  (sql: TemplateStringsArray, ...places: number[]): Spellings[string] =>
  (call) =>
    sql.flatMap((text, i) => [text, call.arguments[places[i] ?? -1] ?? '']);
