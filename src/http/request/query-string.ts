import type { TObject } from 'typebox';
import type { FieldError } from '../../core/errors.ts';
import { hasForbiddenCharacters, nearest, normalize, shortened } from '../../core/text.ts';

/** The values of each parameter, and the number of parameters beyond the limit. */
type Query = Record<string, (string | null)[]> & { [notRead]?: number };

const notRead = Symbol('parameters that were not read');

/** No endpoint has this many parameters, so a request with more has an unknown or repeated one and is rejected. */
const maxParameters = 100;

/** Splits a query string without interpreting it. A value with broken percent-encoding becomes `null`. */
export function parseQueryString(search: string): Query {
  const parameters: Query = Object.create(null);
  const pairs = search.split('&').filter((pair) => pair !== '');
  parameters[notRead] = Math.max(0, pairs.length - maxParameters);
  for (const pair of pairs.slice(0, maxParameters)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode);
    const key = name ?? '(invalid encoding)';
    parameters[key] ??= [];
    parameters[key].push(value);
  }
  return parameters;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Parses values strictly by the types of the schema: `1e3` and ` 1` are not integers. */
export function readParameters(schema: TObject, query: Query) {
  const allowed = Object.keys(schema.properties);
  const values: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [parameter, [value, ...repeated]] of Object.entries(query)) {
    const error = (code: string, detail: string) =>
      errors.push({ parameter: shortened(parameter), code, detail });
    const property = allowed.includes(parameter) ? (schema.properties[parameter] as Property) : undefined;
    if (!property) error('unknown_parameter', unknownParameter(parameter, allowed));
    else if (repeated.length > 0) error('repeated_parameter', repeatedParameter(parameter, property));
    else if (value === '')
      error('empty_parameter', `\`${parameter}\` is empty. Set a value or remove the parameter.`);
    else if (typeof value !== 'string' || hasForbiddenCharacters(value)) {
      error(
        'malformed_parameter',
        `\`${parameter}\` is not valid text. Encode it as UTF-8, then percent-encode it.`,
      );
    } else values[parameter] = readValue(property, value);
  }
  return { values, errors, notRead: query[notRead] ?? 0 };
}

type Property = { type?: unknown; items?: Property };

/** A value that does not parse as its type stays a string, which the schema rejects. */
function readValue(property: Property, text: string): unknown {
  switch (property.type) {
    case 'integer':
      return /^-?(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'array':
      return text.split(',').map((item) => readValue(property.items ?? {}, item));
    default:
      return normalize(text);
  }
}

function unknownParameter(name: string, allowed: string[]): string {
  const meant = nearest(name, allowed);
  return `\`${shortened(name)}\` is not a parameter of this endpoint.${meant ? ` Did you mean \`${meant}\`?` : ''}`;
}

const repeatedParameter = (name: string, { type }: Property) =>
  `\`${name}\` is given more than once. ${type === 'array' ? 'Separate its values by commas.' : 'Give it once.'}`;
