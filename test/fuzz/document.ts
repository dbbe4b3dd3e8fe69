import { Ajv2020 } from 'ajv/dist/2020.js';
import { Reference, type Schema } from './values.ts';

export type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Content = Record<string, { schema?: Schema }>;
type Response = {
  description: string;
  content?: Content;
  headers?: Record<string, unknown>;
  'x-media-types'?: string[];
};

/** One method of one path, as the document describes it. */
export type Operation = {
  name: string;
  method: string;
  template: string;
  /** Undefined when the operation needs no key, empty when any key is enough. */
  scope: string | undefined;
  parameters: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Response>;
};

export type Description = ReturnType<typeof describe>;

/** Parses the OpenAPI document, the fuzzer's only source of knowledge about a service. */
export function describe(document: object) {
  const operations = operationsOf(dereferenced(document) as OpenApi);
  const templates = [...new Set(operations.map(({ template }) => template))];
  return { operations, templates, match: pathMatcher(templates) };
}

type OpenApi = { paths: Record<string, Record<string, Omit<Operation, 'name'> & { security?: Security }>> };
type Security = Record<string, string[]>[];

const methods = ['get', 'post', 'put', 'patch', 'delete'];

const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([template, described]) =>
    Object.entries(described)
      .filter(([method]) => methods.includes(method))
      // A response without an end cannot be compared.
      .filter(([, { responses }]) => !('text/event-stream' in (responses['200']?.content ?? {})))
      .map(([method, operation]) => ({
        ...operation,
        name: `${method.toUpperCase()} ${template}`,
        method: method.toUpperCase(),
        template,
        scope: operation.security?.length
          ? (Object.values(operation.security[0] ?? {})[0]?.[0] ?? '')
          : undefined,
        parameters: operation.parameters ?? [],
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, response]) => [status, withMediaTypes(response)]),
        ),
      })),
  );

/** The other formats of a JSON response are in an extension, because they would spoil the types of clients. */
const withMediaTypes = ({ 'x-media-types': types = [], ...response }: Response): Response => {
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
  return types.length === 0 ? response : { ...response, content: { ...response.content, ...content } };
};

/** Replaces every `$ref` with its target. Equal references share one object. */
export function dereferenced(document: object): unknown {
  const known = new Map<string, unknown>();
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value && typeof value.$ref === 'string') {
      const { $ref } = value;
      const target = $ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], document);
      if (target === undefined) throw new Error(`The document refers to ${$ref}, which does not exist.`);
      if (!known.has($ref)) known.set($ref, resolve(target));
      return known.get($ref);
    }
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]));
  };
  return resolve(document);
}

type Place = { template: string; params: Record<string, string> };

/** Finds the template of a path. Fixed segments win over parameters, as in any router. */
function pathMatcher(templates: string[]): (path: string) => Place | undefined {
  const rank = (template: string) => template.replaceAll('{', '\uffff');
  const patterns = templates
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map((template) => ({
      template,
      names: [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/]*)')}$`),
    }));
  return (path) => {
    for (const { template, names, pattern } of patterns) {
      const found = pattern.exec(path);
      if (found)
        return { template, params: Object.fromEntries(names.map((name, i) => [name, found[i + 1] ?? ''])) };
    }
    return undefined;
  };
}

const isDay = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
const isTimeZone = (text: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
};

function isCharset(text: string): boolean {
  try {
    return new TextDecoder(text).encoding !== '';
  } catch {
    return false;
  }
}

/** Returns the validation error of a value in one line; undefined when it is valid. */
function createValidator(time: RegExp) {
  // Ajv instead of the service's validator, so that an error in that validator is found.
  const ajv = new Ajv2020({
    strict: false,
    formats: {
      date: isDay,
      'date-time': (text: string) => time.test(text) && isDay(text.slice(0, 10)),
      email: /^[^\s@]+@[^\s@]+$|^".*"@[^\s@]+$/,
      uri: (text: string) => URL.canParse(text) && !/\s/.test(text),
      'time-zone': isTimeZone,
      charset: isCharset,
    },
  });
  return (schema: Schema, value: unknown): string | undefined =>
    ajv.validate(schema, value) ? undefined : ajv.errorsText(undefined, { dataVar: 'it', separator: '; ' });
}

export const errorOf = createValidator(/^.{10}T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i);

/** The same for a response, in which the service returns times in UTC with milliseconds. */
export const responseErrorOf = createValidator(/^.{10}T\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Every pattern in the document that describes an id or key of a resource. */
export function referencePatterns(operations: Operation[]): string[] {
  const patterns = new Set<string>();
  const walk = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === 'pattern' && typeof member === 'string' && Reference.isPattern(member))
        patterns.add(member);
      else walk(member);
    }
  };
  for (const { parameters, requestBody } of operations) walk([parameters, requestBody]);
  return [...patterns];
}
