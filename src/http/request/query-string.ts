import type { TObject } from 'typebox';
import type { FieldError } from '../../core/errors.ts';
import { hasForbiddenCharacters, nearest, normalize, shortened } from '../../core/text.ts';

/** The values of each parameter, and how many parameters were too many to read. */
type Query = Record<string, (string | null)[]> & { [notRead]?: number };

const notRead = Symbol('parameters that were not read');

/** More than any endpoint has: of so many, one is unknown or repeated, so the request is rejected anyway. */
const maxParameters = 100;

/** Every value of every parameter, undecided. A value that is not well encoded is left as `null`. */
export function parseQueryString(search: string): Query {
  const parameters: Query = Object.create(null);
  const pairs = search.split('&').filter((pair) => pair !== '');
  parameters[notRead] = Math.max(0, pairs.length - maxParameters);
  for (const pair of pairs.slice(0, maxParameters)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode);
    const key = name ?? '(not readable)';
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

/** Reads the values as the types the schema says, strictly: `1e3` and ` 1` are no whole numbers. */
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
      error('empty_parameter', `\`${parameter}\` is empty. Give it a value or leave it out.`);
    else if (typeof value !== 'string' || hasForbiddenCharacters(value)) {
      error(
        'malformed_parameter',
        `\`${parameter}\` is not well encoded text. Encode it as UTF-8, then with percent signs.`,
      );
    } else values[parameter] = readValue(property, value);
  }
  return { values, errors, notRead: query[notRead] ?? 0 };
}

type Property = { type?: unknown; items?: Property };

/** What cannot be read as its type stays text, and the schema refuses it. */
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
