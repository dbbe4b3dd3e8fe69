import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { OrNull, Strict } from '../../core/schemas.ts';
import { hasForbiddenCharacters } from '../../core/text.ts';
import { checkOf } from '../../http/request/validation.ts';
import { columnSchemas, type Tables } from '../../store/tables.ts';

/** Returns what is wrong with a row, as the end of a sentence; undefined if nothing is. */
export type RowValidator = (values: readonly unknown[]) => string | undefined;

const maxInteger = 2 ** 31 - 1;

/** Tables of texts that clients do not write themselves: what receivers return, and copies of other texts. */
const tablesOfCopies: (keyof Tables)[] = ['history', 'events', 'webhook_deliveries', 'idempotency'];

/** Compiles the schemas of the columns. A row is the list of their values. */
export function rowValidator(table: keyof Tables, columns: readonly string[]): RowValidator {
  const schemas = columnSchemas(table);
  const stored = columns.map((name) => storedSchema(schemas[name] ?? Type.String()));
  const validator = Compile(Type.Tuple(stored));
  const jsonColumns = columns.flatMap((name, i) => {
    const schema = schemas[name];
    return schema && isJson(schema) ? [{ i, name, explain: explainer(Strict({ [name]: schema })) }] : [];
  });
  const isAllowed = tablesOfCopies.includes(table)
    ? (text: string) => !text.includes('\0') && text.isWellFormed()
    : (text: string) => !hasForbiddenCharacters(text);
  // Compiled when the first row is wrong.
  let explainRow: ((row: object) => string | undefined) | undefined;

  return (values) => {
    if (!validator.Check(values)) {
      if (values.length !== columns.length)
        return `there are ${values.length} values for ${columns.length} columns`;
      explainRow ??= explainer(
        Strict(Object.fromEntries(columns.map((name, i) => [name, stored[i]])) as TProperties),
      );
      return (
        explainRow(Object.fromEntries(columns.map((name, i) => [name, values[i]]))) ??
        'it is not allowed here'
      );
    }
    for (const [i, value] of values.entries())
      if (typeof value === 'string' && !isAllowed(value)) return `${columns[i]} has forbidden characters`;
    for (const { i, name, explain } of jsonColumns) {
      const text = (values as readonly unknown[])[i] as string | null;
      if (text === null) continue;
      const parsed = parse(text);
      if (parsed === undefined) return `${name} is not JSON`;
      const wrong = explain({ [name]: parsed.value });
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

type Sized = TSchema & { type?: string | string[]; maximum?: number };

const typesOf = ({ type }: Sized) => [type ?? []].flat();

const isJson = (schema: TSchema) => {
  const types = typesOf(schema);
  return types.length === 0 || types.includes('array') || types.includes('object');
};

function storedSchema(schema: Sized): TSchema {
  if (isJson(schema)) return typesOf(schema).includes('null') ? OrNull(Type.String()) : Type.String();
  if (!typesOf(schema).includes('integer')) return schema;
  return { ...schema, maximum: schema.maximum ?? maxInteger };
}

/** Turns the first message of the API into the end of a sentence: `probability must be 5 or less`. */
function explainer(schema: TObject) {
  const check = checkOf(schema);
  return (row: object) => {
    const [error] = check(row);
    const path = error?.pointer?.slice(2).replaceAll('/', '.');
    return error?.detail.replace(/^This/, path || 'it').replace(/\.$/, '');
  };
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
