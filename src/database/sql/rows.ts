import { type Expression, sql } from 'kysely';
import type { Static, TObject } from 'typebox';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { attributesLimit } from '../../core/schemas.ts';
import { jsonObject, parsedJson } from './functions.ts';

/**
 * A row as the JSON text of a resource, with the schema's fields in the schema's order: each is the column of
 * `table` with its name, unless `computed` says otherwise.
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

/** The columns of a new row: every field of the input, with its default or null when it was left out. */
export function storedFields<S extends TObject>(schema: S, input: Static<S>): StoredFields<Static<S>> {
  const given = input as Record<string, unknown>;
  const columns: Record<string, unknown> = {};
  for (const described of fieldsOf(schema)) {
    const { field, initial } = described;
    columns[field] = stored(described, given[field] ?? initial);
  }
  return columns as StoredFields<Static<S>>;
}

/** The columns of a row whose fields have changed. */
export function storedChanges(schema: TObject, differences: Record<string, { to: unknown }>): object {
  const columns = fieldsOf(schema)
    .filter(({ field }) => field in differences)
    .map((described) => [described.field, stored(described, differences[described.field]?.to ?? null)]);
  return Object.fromEntries(columns);
}

/** JSON Merge Patch on a flat resource: null takes a member of a map away, and is a value like any other elsewhere. */
export function merged<R extends { attributes?: Record<string, string> }>(current: R, patch: object): R {
  const next = { ...current, ...patch };
  if (!('attributes' in patch)) return next;
  const members = Object.entries({ ...current.attributes, ...(patch.attributes as object) });
  const kept = members.filter(([, value]) => value !== null);
  if (kept.length > attributesLimit) {
    const detail = `There would be ${kept.length} attributes; ${attributesLimit} is the most.`;
    throw invalidBody([fieldError('attributes', 'maxProperties', detail)]);
  }
  return { ...next, attributes: Object.fromEntries(kept) };
}

export const newStamps = (now: string) => ({ version: 1, created_at: now, updated_at: now });

type StoredFields<Input> = { [Field in keyof Input]-?: StoredField<Exclude<Input[Field], undefined>> };
type StoredField<Value> = Value extends object ? string : Value;

/** What the database needs to know of a field. Lists and maps are stored as JSON. */
type Field = { field: string; isJson: boolean; initial: unknown };

const fieldsOfSchemas = new WeakMap<TObject, Field[]>();

function fieldsOf(schema: TObject): Field[] {
  const known = fieldsOfSchemas.get(schema);
  if (known) return known;
  const properties = schema.properties as Record<string, { type?: unknown; default?: unknown }>;
  const fields = Object.entries(properties).map(([field, { type, default: initial = null }]) => {
    // `[…, 'null']` is the type of one that may be unknown.
    return { field, isJson: [type].flat().some((one) => one === 'array' || one === 'object'), initial };
  });
  fieldsOfSchemas.set(schema, fields);
  return fields;
}

const stored = ({ isJson }: Field, value: unknown) =>
  isJson && value !== null ? JSON.stringify(value) : value;
