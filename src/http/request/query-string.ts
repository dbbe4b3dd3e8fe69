import decodeComponent from 'fast-decode-uri-component';
import type { TObject } from 'typebox';
import type { FieldError } from '../../core/errors.ts';
import { hasForbiddenCharacters, nearest, normalize, shortened } from '../../core/text.ts';

/** The values of each parameter, and the number of parameters beyond the limit. */
type Query = Record<string, (string | null)[]> & { [notRead]?: number };

const notRead = Symbol('parameters that were not read');

/** No endpoint has this many parameters, so a request with more has an unknown one and is rejected. */
const maxParameters = 100;

/** Splits a query string without interpreting it. A value with broken percent-encoding becomes `null`. */
export function parseQueryString(search: string): Query {
  const parameters: Query = Object.create(null);
  let names = 0;
  let skipped = 0;
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode);
    const key = name ?? '(invalid encoding)';
    const values = parameters[key];
    if (values) values.push(value);
    else if (names === maxParameters) skipped++;
    else {
      names++;
      parameters[key] = [value];
    }
  }
  parameters[notRead] = skipped;
  return parameters;
}

/** `decodeURIComponent` would throw on broken encoding, which takes 7 µs each and adds up in a long query string. */
const decode = (text: string) => decodeComponent(text.replaceAll('+', ' '));

/** Parses values strictly by the types of the schema: `1e3` and ` 1` are not integers. */
export function readParameters(schema: TObject, query: Query) {
  const allowed = Object.keys(schema.properties);
  const values: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [parameter, texts] of joinLists(schema, query)) {
    const error = (code: string, detail: string) =>
      errors.push({ parameter: shortened(parameter), code, detail });
    const property = allowed.includes(parameter) ? (schema.properties[parameter] as Property) : undefined;
    if (!property) error('unknown_parameter', unknownParameter(parameter, allowed));
    else if (texts.length > 1 && property.type !== 'array')
      error('repeated_parameter', `\`${parameter}\` is given more than once. Give it once.`);
    else if (texts.includes(''))
      error('empty_parameter', `\`${parameter}\` is empty. Set a value or remove the parameter.`);
    else if (!texts.every(isValidText)) {
      error(
        'malformed_parameter',
        `\`${parameter}\` is not valid text. Encode it as UTF-8, then percent-encode it.`,
      );
    } else values[parameter] = readValue(property, texts.join(','));
  }
  return { values, errors, notRead: query[notRead] ?? 0 };
}

const isValidText = (text: string | null) => text !== null && !hasForbiddenCharacters(text);

/** Clients write a list as `level=a,b`, `level=a&level=b` or `level[]=a&level[]=b`: all mean the same. */
function joinLists({ properties }: TObject, query: Query): Map<string, (string | null)[]> {
  const joined = new Map<string, (string | null)[]>();
  for (const [sent, values] of Object.entries(query)) {
    const base = sent.endsWith('[]') ? sent.slice(0, -2) : sent;
    const isList = Object.hasOwn(properties, base) && (properties[base] as Property).type === 'array';
    const name = isList ? base : sent;
    joined.set(name, [...(joined.get(name) ?? []), ...values]);
  }
  return joined;
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
