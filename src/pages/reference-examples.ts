import { inUrl, shown } from './fragments.ts';
import type { Site } from './html.ts';
import {
  type Content,
  isPublic,
  jsonSchema,
  type OpenApi,
  type Operation,
  type Parameter,
  resolved,
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
    ...(isPublic(operation) ? [] : ['-H "Authorization: Bearer $API_KEY"']),
    ...(mediaType ? [`-H ${quoted(`Content-Type: ${mediaType}`)}`] : []),
    ...(mediaType ? [exampleBody(document, requestBody?.content)] : []),
  ].join(' \\\n  ');
}

/** One filter as an illustration, and a small page. */
function exampleQuery(parameters: Parameter[]): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const filter = query.find((parameter) => readableValue(parameter) !== undefined);
  const pairs = [
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
  const [, prefix] = /\^([a-z]{3})_/.exec(schema.pattern ?? '') ?? [];
  return (
    example ??
    schema.examples?.[0] ??
    schema.items?.examples?.[0] ??
    (prefix && `${prefix}_01jd3k9m5vqs8h2n6r4t0c7e1b`)
  );
}

function exampleBody(document: OpenApi, content: Content | undefined): string {
  const schema = jsonSchema(content);
  if (!schema) return '--data-binary @file';
  const { examples, properties = {}, required = [] } = resolved(document, schema);
  const fallback = () => Object.fromEntries(required.map((name) => [name, properties[name]?.examples?.[0]]));
  return `-d ${quoted(JSON.stringify(examples?.[0] ?? fallback(), null, 2).replaceAll('\n', '\n  '))}`;
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Colons and commas are allowed in a query unescaped, and read better that way. */
const encoded = (value: unknown) =>
  encodeURIComponent(shown(inUrl(value))).replace(/%(3A|2C)/g, decodeURIComponent);
