import { hasForbiddenCharacters, normalize } from '../../src/core/text.ts';
import { errorOf, type Operation } from './document.ts';
import { type Draft, isJsonType, type Pair } from './draft.ts';
import type { Schema } from './values.ts';

/** Why the document does not allow this request; undefined when it does, or when the document cannot decide. */
export function findRejection(draft: Draft): string | undefined {
  const { operation, params, query, json, bytes, contentType } = draft;
  if (!draft.targetsOperation) return undefined;
  for (const parameter of operation.parameters.filter((parameter) => parameter.in === 'path')) {
    const error = errorOf(parameter.schema, params[parameter.name]);
    if (error) return `path ${parameter.name}: ${error}`;
  }
  const queryError = findQueryError(operation, query);
  if (queryError) return queryError;
  if (!operation.requestBody || bytes !== undefined || contentType === undefined || !isJsonType(contentType))
    return undefined;
  const schema = Object.entries(operation.requestBody.content).find(([type]) => isJsonType(type))?.[1].schema;
  if (json === undefined || !schema) return undefined;
  const sent = JSON.parse(JSON.stringify(json));
  if (hasForbidden(sent)) return 'body: forbidden characters';
  const bodyError = errorOf(schema, normalizeStrings(sent));
  return bodyError && `body: ${bodyError}`;
}

function findQueryError({ parameters, template }: Operation, query: Pair[]): string | undefined {
  if (!template.startsWith('/v1/')) return undefined;
  const seen = new Set<string>();
  for (const { name, value } of query) {
    const parameter = parameters.find((known) => known.in === 'query' && known.name === name);
    if (!parameter) return `query: unknown ${name}`;
    if (seen.has(name) && parameter.schema.type !== 'array') return `query: ${name} twice`;
    seen.add(name);
    if (value === undefined || hasForbiddenCharacters(value)) return `query: ${name} is not readable`;
    if (value === '') return `query: ${name} is empty`;
    const error = errorOf(parameter.schema, parseAs(parameter.schema, value));
    if (error) return `query ${name}: ${error}`;
  }
  return undefined;
}

function parseAs({ type, items }: Schema, text: string): unknown {
  if (type === 'integer') return /^-?(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  if (type === 'array') return text.split(',').map((item) => parseAs(items ?? {}, item));
  return normalize(text);
}

const hasForbidden = (value: unknown): boolean =>
  typeof value === 'string'
    ? hasForbiddenCharacters(value)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).some(([name, member]) => hasForbiddenCharacters(name) || hasForbidden(member))
      : false;

function normalizeStrings(value: unknown): unknown {
  if (typeof value === 'string') return normalize(value);
  if (Array.isArray(value)) return value.map(normalizeStrings);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normalizeStrings(member)]));
}
