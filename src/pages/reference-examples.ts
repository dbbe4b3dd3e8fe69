import { type IdKind, prefixes } from '../core/ids.ts';
import { inUrl, type Site, shown } from './html.ts';
import {
  type Content,
  isForPeople,
  isPublic,
  jsonSchema,
  type OpenApi,
  type Operation,
  type Parameter,
  resolved,
  type Schema,
  type WebhookEvent,
} from './openapi-document.ts';

/** A command that works when pasted into a shell that has `API_KEY` set. */
export function curlExample(document: OpenApi, operation: Operation, { baseUrl }: Site): string {
  const { method, path, parameters = [], requestBody } = operation;
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encoded(exampleOf(parameters.find((parameter) => parameter.name === name)) ?? name),
  );
  const [mediaType] = Object.keys(requestBody?.content ?? {});
  const isImplied = method === 'get' || (method === 'post' && mediaType !== undefined);
  return [
    `curl ${isImplied ? '' : `-X ${method.toUpperCase()} `}${quoted(baseUrl + filled + exampleQuery(parameters))}`,
    ...credentials(operation, baseUrl),
    ...(mediaType ? [`-H ${quoted(`Content-Type: ${mediaType}`)}`] : []),
    ...(mediaType ? [exampleBody(document, requestBody?.content)] : []),
  ].join(' \\\n  ');
}

/** A key or, for what only people can do, a session, which works only from pages of the service. */
function credentials(operation: Operation, baseUrl: string): string[] {
  const origin = `-H ${quoted(`Origin: ${new URL(baseUrl).origin}`)}`;
  const isRead = operation.method === 'get';
  if (isForPeople(operation)) return ['-b "muster_session=$SESSION"', ...(isRead ? [] : [origin])];
  if (isPublic(operation)) return isRead ? [] : [origin];
  return ['-H "Authorization: Bearer $API_KEY"'];
}

/** What is required, one filter as an illustration, and a small page. */
function exampleQuery(parameters: Parameter[]): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const required = query.filter((parameter) => parameter.required);
  const filter = query.find((parameter) => !parameter.required && readableValue(parameter) !== undefined);
  const pairs = [
    ...required.map((parameter) => `${parameter.name}=${encoded(exampleOf(parameter))}`),
    ...(filter ? [`${filter.name}=${encoded(readableValue(filter))}`] : []),
    ...(query.some(({ name }) => name === 'limit') ? ['limit=50'] : []),
  ];
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

/** A readable value: an allowed one, or an example that is not an opaque id. */
function readableValue(parameter: Parameter): unknown {
  const { schema } = parameter;
  if (schema.default !== undefined) return undefined;
  const example = exampleOf(parameter) ?? (schema.enum ?? schema.items?.enum)?.[0];
  return typeof example === 'string' && /^[a-z]{3}_/.test(example) ? undefined : example;
}

export function exampleOf(parameter: Parameter | undefined): unknown {
  if (!parameter) return undefined;
  const { example, schema } = parameter;
  const [, prefix] = /\^([a-z]{3})_/.exec(schema.pattern ?? schema.items?.pattern ?? '') ?? [];
  return example ?? schema.examples?.[0] ?? schema.items?.examples?.[0] ?? (prefix && exampleId(prefix));
}

function exampleBody(document: OpenApi, content: Content | undefined): string {
  const schema = jsonSchema(content);
  if (!schema) return '--data-binary @file';
  const { examples, properties = {}, required = [] } = resolved(document, schema);
  const fallback = () => Object.fromEntries(required.map((name) => [name, properties[name]?.examples?.[0]]));
  return `-d ${quoted(JSON.stringify(examples?.[0] ?? fallback(), null, 2).replaceAll('\n', '\n  '))}`;
}

/** An example of a JSON value, from the examples in its schema and the schemas of its members. */
export function exampleValue(document: OpenApi, schema: Schema): unknown {
  const { examples, const: constant, properties, items, anyOf, format, pattern, minimum } = schema;
  const types = [schema.type].flat();
  const allowed = schema.enum?.find((value) => value !== null);
  const known = examples?.[0] ?? constant ?? schema.default ?? allowed;
  if (known !== undefined) return known;
  if (schema.$ref) return exampleValue(document, resolved(document, schema));
  if (anyOf?.[0]) return exampleValue(document, anyOf[0]);
  if (properties)
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, exampleValue(document, property)]),
    );
  if (types.includes('null')) return null;
  if (types.includes('object')) return {};
  if (types.includes('array') && items) {
    const minItems = schema.minItems ?? (items.$ref || items.properties ? 1 : 0);
    return Array.from({ length: minItems }, () => exampleValue(document, items));
  }
  if (types.includes('boolean')) return false;
  if (types.includes('integer') || types.includes('number')) return minimum ?? 0;
  const [, prefix] = /\^([a-z]{3})_/.exec(pattern ?? '') ?? [];
  return prefix ? exampleId(prefix) : (formatExamples[format ?? ''] ?? '…');
}

const formatExamples: Record<string, string> = {
  date: '2026-11-15',
  'date-time': '2026-11-15T09:30:00.000Z',
  uri: 'https://example.com',
  email: 'ada@example.com',
};

const exampleId = (prefix: string) => `${prefix}_01jd3k9m5vqs8h2n6r4t0c7e1b`;

/** The body of a webhook's request: its subject is the resource in `data`. */
export function exampleEvent(document: OpenApi, { type, body }: WebhookEvent): unknown {
  const event = exampleValue(document, body) as { data: Record<string, unknown> | null };
  const [kind = ''] = type.split('.');
  // The risk model has no id of its own.
  const { user_id, id = user_id ?? exampleId(prefixes[kind as IdKind]) } = event.data ?? {};
  const { key = null, web_url = null } = event.data ?? {};
  return { ...event, type, also: [], subject: { type: kind, id, key, web_url } };
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Colons and commas are allowed in a query unescaped, and read better that way. */
const encoded = (value: unknown) =>
  encodeURIComponent(shown(inUrl(value))).replace(/%(3A|2C)/g, decodeURIComponent);
