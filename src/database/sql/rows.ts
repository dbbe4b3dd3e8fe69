import { type Expression, sql } from 'kysely';
import type { Static, TObject } from 'typebox';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { attributesLimit } from '../../core/schemas.ts';
import { jsonObject, parsedJson } from './functions.ts';

/**
 * An expression for the JSON text of a resource, with the fields in the order of the schema. The value of a field is the
 * column of `table` with the same name, or the expression in `computed`.
 */
export function rowAsJson(
  schema: TObject,
  table: string,
  computed: Record<string, Expression<unknown>> = {},
) {
  const members = fieldsOf(schema).map(({ field, isJson }) => {
    const column = sql.ref(`${table}.${field}`);
    return [field, computed[field] ?? (isJson ? parsedJson(column) : column)];
  });
  return sql<string>`cast(${jsonObject(Object.fromEntries(members))} as text)`;
}

/** The columns of a new row. A field that the input omits gets its default or null. */
export function storedFields<S extends TObject>(schema: S, input: Static<S>): StoredFields<Static<S>> {
  const values = input as Record<string, unknown>;
  const columns: Record<string, unknown> = {};
  for (const column of fieldsOf(schema)) {
    const { field, initial } = column;
    columns[field] = toStored(column, values[field] ?? initial);
  }
  return columns as StoredFields<Static<S>>;
}

/** The new values of the columns whose fields have changed. */
export function storedChanges(schema: TObject, differences: Record<string, { to: unknown }>): object {
  const columns = fieldsOf(schema)
    .filter(({ field }) => field in differences)
    .map((column) => [column.field, toStored(column, differences[column.field]?.to ?? null)]);
  return Object.fromEntries(columns);
}

/** Applies a JSON Merge Patch to a flat resource. null removes an attribute; for other fields it is a value. */
export function merged<R extends { attributes?: Record<string, string> }>(current: R, patch: object): R {
  const next = { ...current, ...patch };
  if (!('attributes' in patch)) return next;
  const members = Object.entries({ ...current.attributes, ...(patch.attributes as object) });
  const remaining = members.filter(([, value]) => value !== null);
  if (remaining.length > attributesLimit) {
    const detail = `There would be ${remaining.length} attributes; the maximum is ${attributesLimit}.`;
    throw invalidBody([fieldError('attributes', 'maxProperties', detail)]);
  }
  return { ...next, attributes: Object.fromEntries(remaining) };
}

export const newStamps = (now: string) => ({ version: 1, created_at: now, updated_at: now });

type StoredFields<Input> = { [Field in keyof Input]-?: StoredField<Exclude<Input[Field], undefined>> };
type StoredField<Value> = Value extends object ? string : Value;

/** How a field is stored. Arrays and objects are stored as JSON text. */
type Field = { field: string; isJson: boolean; initial: unknown };

const fieldsOfSchemas = new WeakMap<TObject, Field[]>();

function fieldsOf(schema: TObject): Field[] {
  const cached = fieldsOfSchemas.get(schema);
  if (cached) return cached;
  const properties = schema.properties as Record<string, { type?: unknown; default?: unknown }>;
  const fields = Object.entries(properties).map(([field, { type, default: initial = null }]) => {
    // The type of a nullable field is `[…, 'null']`.
    return { field, isJson: [type].flat().some((one) => one === 'array' || one === 'object'), initial };
  });
  fieldsOfSchemas.set(schema, fields);
  return fields;
}

const toStored = ({ isJson }: Field, value: unknown) =>
  isJson && value !== null ? JSON.stringify(value) : value;
