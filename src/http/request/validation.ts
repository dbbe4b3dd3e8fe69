import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { type FieldError, maxErrors, notAnObject, Problem } from '../../core/errors.ts';
import { limits, Strict } from '../../core/schemas.ts';
import { joinWords, nearest, shortened } from '../../core/text.ts';
import { readParameters } from './query-string.ts';

// TypeBox reports only the first eight errors by default.
Settings.Set({ maxErrors: 1000 });

/** Validates each part of a request against its schema, and reports all errors as sentences. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const object = schema as TObject;
  // A route that another service redirects to reads its parameters itself.
  if (httpPart === 'querystring' && typeof Object(schema).additionalProperties === 'object')
    return (query) => ({ value: query });
  if (httpPart === 'querystring') return (query) => resultOf(() => readQuery(object, query));
  if (httpPart === 'params') return (params) => resultOf(() => readPath(object, params));
  return (body) => resultOf(() => readBody(object, body));
};

/** Returns a function that returns all errors of an object. */
export const checkOf = (schema: TObject) => (value: object) =>
  findErrors(schema, value)?.errors.map(pointed) ?? [];

/** API routes that declare no query parameters reject all of them. */
export function rejectUnknownParameters(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/')) route.schema = { querystring: Strict({}), ...route.schema };
  });
}

function resultOf<T>(read: () => T) {
  try {
    return { value: read() };
  } catch (error) {
    return { error: error as Error };
  }
}

function readBody(schema: TObject, sent: unknown) {
  const isOptional = ((schema.required as string[] | undefined) ?? []).length === 0;
  // Fastify passes null for a missing body.
  const body = sent === null && isOptional ? {} : sent;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notAnObject();
  const found = findErrors(schema, body);
  if (!found) return withDefaults(schema, body);
  const errors = found.errors.map(pointed);
  const fields = errors.some(isUnknownField)
    ? `Its fields are ${joinWords(Object.keys(schema.properties))}.`
    : '';
  throw new Problem('invalid_body', summary(errors, found.count, 'field', fields), { errors });
}

export function readQuery(schema: TObject, query: Record<string, string[]>) {
  const { values, errors, notRead } = readParameters(schema, query);
  const unreadable = new Set(errors.map((error) => error.parameter));
  const ofValues = new Map<string, FieldError>();
  for (const { path, ...error } of findErrors(schema, values)?.errors ?? []) {
    const parameter = path.split('/')[1] ?? '';
    // Several values of a parameter may have the same error; report it once.
    if (!unreadable.has(parameter)) ofValues.set(`${parameter} ${error.detail}`, { parameter, ...error });
  }
  errors.push(...ofValues.values());
  if (errors.length === 0) return withDefaults(schema, values);
  const isUnknown = errors.some((error) => error.code === 'unknown_parameter');
  const detail = summary(
    errors,
    errors.length + notRead,
    'query parameter',
    isUnknown ? allowedParameters(schema) : '',
  );
  throw new Problem(isUnknown ? 'unknown_parameter' : 'invalid_parameter', detail, { errors });
}

const allowedParameters = ({ properties }: TObject) => {
  const names = Object.keys(properties);
  return names.length > 0 ? `Allowed are ${joinWords(names)}.` : 'None are allowed here.';
};

/** A malformed id is a 404, like an id that does not exist. */
function readPath(schema: TObject, params: Record<string, string>) {
  const [error] = findErrors(schema, params)?.errors ?? [];
  if (!error) return params;
  const value = params[error.path.slice(1)];
  throw new Problem('not_found', `Nothing can have the id “${shortened(value ?? '')}”. ${error.detail}`);
}

type PathError = { path: string; code: string; detail: string };

/** The first errors of a value, and the total number. */
type Found = { errors: PathError[]; count: number };

const pointed = ({ path, ...error }: PathError): FieldError => ({ pointer: `#${path}`, ...error });

/** Compiles each schema once, on first use. */
function findErrors(schema: TObject, value: object): Found | undefined {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator.Check(value) ? undefined : errorsIn(schema, value, validator);
}

const validators = new WeakMap<TObject, ReturnType<typeof Compile>>();

/**
 * Returns at least one error, even for a rule without a message. The validator's `Check` is linear but its `Errors` is
 * not, so `Errors` gets a value clipped to little more than the schema allows.
 */
function errorsIn(schema: TObject, value: object, validator: ReturnType<typeof Compile>): Found {
  // Unknown fields are collected here, because the validator stops after a number of errors.
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(schema.properties, name));
  const known = Object.entries(value)
    .filter(([name]) => Object.hasOwn(schema.properties, name))
    .map(([name, member]) => [name, clipped(schema.properties[name] as Sized, member)]);
  const ofKnown = validator.Errors(Object.fromEntries(known)).flatMap((error) => errorOf(schema, error));
  const ofUnknown = unknown.slice(0, maxErrors).map((name) => ({
    path: `/${pointerSegment(name)}`,
    code: 'unknown_field',
    detail: unknownField(schema, '', name),
  }));
  const errors = [...ofUnknown, ...ofKnown].slice(0, maxErrors);
  return errors.length > 0
    ? { errors, count: unknown.length + ofKnown.length }
    : { errors: [{ path: '', code: 'invalid', detail: 'This is not allowed here.' }], count: 1 };
}

type Sized = {
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: Sized;
  properties?: Record<string, Sized>;
  patternProperties?: Record<string, Sized>;
};

/** Cuts a value to one more than its schema allows, so that it still fails validation. */
function clipped(schema: Sized, value: unknown): unknown {
  const { maxLength = limits.text_characters, maxItems, maxProperties, items, properties } = schema;
  // A character takes at most two UTF-16 code units.
  if (typeof value === 'string') return value.slice(0, 2 * maxLength + 1);
  if (Array.isArray(value) && maxItems !== undefined)
    return value.slice(0, maxItems + 1).map((item) => clipped(items ?? {}, item));
  if (typeof value !== 'object' || value === null) return value;
  // A list in place of an object must not become an object.
  if (Array.isArray(value) && (properties || maxProperties !== undefined)) return [];
  if (properties) {
    const entries = Object.entries(value).slice(0, Object.keys(properties).length + maxErrors);
    return Object.fromEntries(
      entries.map(([name, member]) => [name, clipped(properties[name] ?? {}, member)]),
    );
  }
  if (maxProperties !== undefined) {
    const [member = {}] = Object.values(schema.patternProperties ?? {});
    const entries = Object.entries(value).slice(0, maxProperties + 1);
    return Object.fromEntries(entries.map(([name, text]) => [name, clipped(member, text)]));
  }
  return value;
}

/** Fills in the defaults of members that were left out. */
function withDefaults<T extends object>(schema: TObject, value: T): T {
  const known = defaults.get(schema) ?? defaultsOf(schema);
  defaults.set(schema, known);
  const members = value as Record<string, unknown>;
  for (const [name, initial] of known) if (!(name in members)) members[name] = copyOf(initial);
  return value;
}

const defaults = new WeakMap<TObject, [name: string, initial: unknown][]>();

const defaultsOf = (schema: TObject) =>
  Object.entries(schema.properties as Record<string, { default?: unknown }>)
    .filter(([, property]) => 'default' in property)
    .map(([name, property]): [string, unknown] => [name, property.default]);

/** Copies lists and maps, so that requests do not share them. Defaults are never nested. */
const copyOf = (initial: unknown) =>
  Array.isArray(initial) ? [...initial] : initial instanceof Object ? { ...initial } : initial;

/** `hint` applies to all errors, so it appears once. */
function summary(errors: FieldError[], count: number, what: string, hint: string): string {
  const counted =
    count > maxErrors
      ? `There are ${count} errors. \`errors\` lists the first ${Math.min(errors.length, maxErrors)}, each with its ${what}.`
      : `There are ${count} errors, each with its ${what} in \`errors\`.`;
  const detail = count === 1 ? (errors[0]?.detail ?? '') : counted;
  return hint === '' ? detail : `${detail} ${hint}`;
}

/** Translates a validator error into errors with readable details. */
function errorOf(
  schema: TObject,
  { keyword, instancePath: path, params, schemaPath }: TValidationError,
): PathError[] {
  const error = (detail: string, at = path) => [{ path: at, code: keyword, detail }];
  switch (keyword) {
    case 'required':
      return params.requiredProperties.flatMap((name) =>
        error(`\`${name}\` is required.`, `${path}/${name}`),
      );
    case 'additionalProperties':
      return params.additionalProperties.flatMap((name) => [
        {
          path: `${path}/${pointerSegment(name)}`,
          code: 'unknown_field',
          detail: unknownField(schema, path, name),
        },
      ]);
    case 'boolean':
      return []; // `additionalProperties` reports it too
    case 'type':
      return error(`This must be ${[params.type].flat().map(withArticle).join(' or ')}.`);
    case 'enum':
      return error(
        `This must be one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}.`,
      );
    case 'format':
      return error(formatHelp[params.format] ?? `This must be a ${params.format}.`);
    case 'pattern':
      return error(patternHelp(schemaPath, String(params.pattern)));
    case 'minLength':
      return error(
        params.limit === 1 ? 'This must not be empty; use null for unknown.' : `This is too short.`,
      );
    case 'maxLength':
      return error(`This must have at most ${counted(params.limit, 'character')}.`);
    case 'minimum':
      return error(`This must be ${params.limit} or more.`);
    case 'maximum':
      return error(`This must be ${params.limit} or less.`);
    case 'minItems':
      return error(`This must have at least ${counted(params.limit, 'item')}.`);
    case 'maxItems':
      return error(`This must have at most ${counted(params.limit, 'item')}.`);
    case 'maxProperties':
      return error(`This must have at most ${counted(params.limit, 'member')}.`);
    case 'uniqueItems':
      return error('This must not contain the same item twice.');
    default:
      return error('This is not allowed here.');
  }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function unknownField(schema: TObject, path: string, name: string): string {
  const shown = `\`${shortened(name)}\``;
  if (path !== '') return `${shown} is not a known field.`;
  const setByService = (schema as { 'x-set-by-service'?: string[] })['x-set-by-service'] ?? [];
  if (setByService.includes(name)) return `${shown} is set by the service and cannot be sent here.`;
  const meant = nearest(name, Object.keys(schema.properties));
  return `${shown} is not a field of this.${meant ? ` Did you mean \`${meant}\`?` : ''}`;
}

/** An unknown field without a suggestion. */
const isUnknownField = ({ code, detail }: FieldError) =>
  code === 'unknown_field' && detail.endsWith('is not a field of this.');

/** Field and attribute names are within the limit, so only unknown names are cut. */
export const pointerSegment = (name: string) =>
  shortened(name, limits.name_characters).replaceAll('~', '~0').replaceAll('/', '~1');

const withArticle = (type: string) =>
  ({ null: 'null', array: 'a list', object: 'an object', integer: 'a whole number', string: 'text' })[type] ??
  `a ${type}`;

const formatHelp: Record<string, string> = {
  date: 'This must be a day such as 2026-11-15.',
  'date-time': 'This must be a time such as 2026-11-15T09:30:00Z.',
  email: 'This must be an email address such as ada@example.com.',
  uri: 'This must be a URL such as https://example.com/.',
  'time-zone': 'This must be an IANA time zone such as Europe/London.',
  charset: 'This must be an encoding such as utf-8, windows-1252 or iso-8859-2.',
};

const patternHelp = (schemaPath: string, pattern: string) => {
  const [, prefix] = /\^([a-z]{3})_/.exec(pattern) ?? [];
  if (prefix && pattern.includes('|'))
    return `This must be an id such as ${prefix}_01jd3k9m5vqs8h2n6r4t0c7e1b, or a key.`;
  if (prefix) return `This must be an id such as ${prefix}_01jd3k9m5vqs8h2n6r4t0c7e1b.`;
  if (pattern === '^[^\\n\\t]*$') return 'This must be a single line.';
  if (pattern === '^https?://') return 'This must start with http:// or https://.';
  return schemaPath.endsWith('/key') ? 'This must be 2 to 10 of A-Z and 0-9.' : `This must match ${pattern}.`;
};
