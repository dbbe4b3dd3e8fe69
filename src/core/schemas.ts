import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { Format } from 'typebox/format';
import { type IdKind, idPattern, prefixes } from './ids.ts';
import { isDay } from './time-zones.ts';

export const limits = {
  body_bytes: 1024 * 1024,
  public_body_bytes: 16 * 1024,
  import_bytes: 32 * 1024 * 1024,
  import_rows: 100_000,
  json_depth: 20,
  json_values: 10_000,
  name_characters: 200,
  text_characters: 10_000,
  page_rows: 1000,
  filter_values: 500,
  bulk_items: 500,
} as const;

Format.Set('date', isDay);

/** Accepts times whose date exists, both as written and in UTC. */
Format.Set(
  'date-time',
  (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i.test(text) &&
    isDay(text.slice(0, 10)) &&
    isDay(new Date(text).toJSON()?.slice(0, 10) ?? ''),
);

Format.Set('uri', (text) => URL.canParse(text) && !/\s/.test(text));

/** A cache, because checking a time zone is the slowest part of validating a person, and few zones are in use. */
const knownTimeZones = new Set<string>();

Format.Set('time-zone', (value) => {
  if (knownTimeZones.has(value)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
  } catch {
    return false;
  }
  // Bounded, because names are case-insensitive and have a great many spellings.
  if (knownTimeZones.size < 1000) knownTimeZones.add(value);
  return true;
});

/** An encoding of text that the platform knows, by any of its names. */
Format.Set('charset', (value) => {
  try {
    new TextDecoder(value);
    return true;
  } catch {
    return false;
  }
});

/** The member of the schema of a query parameter with the scope that it needs besides that of its route. */
export const parameterScope = 'x-scope';

type Options = { description?: string; examples?: unknown[]; default?: unknown; [parameterScope]?: string };

/** The member of a response schema that lists its media types besides JSON. It is not part of the OpenAPI document. */
export const mediaTypes = 'x-media-types';

/** An object that rejects unknown members. TypeBox's Omit and Partial would drop that rule. */
export const Strict = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/**
 * The body that creates or changes a `resource`: only `writable` fields. The schema lists the other fields of the
 * resource too, so that sending one gets an error that explains why.
 */
export const Writable = <P extends TProperties>(
  resource: TObject,
  writable: P,
  options: Record<string, unknown>,
) =>
  Strict(writable, {
    ...options,
    'x-set-by-service': Object.keys(resource.properties).filter((field) => !(field in writable)),
  });

/** A value that may be unknown: `null`, never an empty string. `type: [..., "null"]` is easier to read than `anyOf`. */
export const OrNull = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Type.Static<T> | null>({
    ...schema,
    ...('enum' in schema && { enum: [...(schema.enum as unknown[]), null] }),
    type: ['type' in schema ? schema.type : 'string', 'null'],
  });

/** One line of text, such as a name. */
export const Line = (options: Options & { maxLength?: number } = {}) =>
  Type.String({ minLength: 1, maxLength: limits.name_characters, pattern: '^[^\\n\\t]*$', ...options });

/** Text of several lines. */
export const Text = (options: Options = {}) =>
  Type.String({ minLength: 1, maxLength: limits.text_characters, ...options });

export const Day = (options: Options = {}) =>
  Type.String({ format: 'date', examples: ['2026-11-15'], ...options });

export const Time = (options: Options = {}) =>
  Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'], ...options });

export const Email = (options: Options = {}) =>
  Type.String({ format: 'email', maxLength: limits.name_characters, ...options });

export const Url = (options: Options = {}) =>
  Type.String({ format: 'uri', pattern: '^https?://', maxLength: 2000, ...options });

/** The page of a resource in the console. */
export const WebUrl = (what: string, path: string) =>
  Type.String({
    format: 'uri',
    description: `The page of the ${what} in the console.`,
    examples: [`https://ops.example.com${path}`],
  });

export const Id = (kind: IdKind, options: Options = {}) =>
  Type.String({
    pattern: idPattern(kind),
    examples: [`${prefixes[kind]}_01jd3k9m5vqs8h2n6r4t0c7e1b`],
    ...options,
  });

/** A person in a filter. */
export const PersonRef = (options: Options = {}) =>
  Type.String({
    pattern: `${idPattern('person')}|^${currentPerson}$`,
    description: 'A user id, or `me` for the person who has signed in.',
    examples: [`${prefixes.person}_01jd3k9m5vqs8h2n6r4t0c7e1b`],
    ...options,
  });

/** Stands for the person who makes the request. */
export const currentPerson = 'me';

export const OneOf = <const V extends readonly string[]>(values: V, options: Options = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });

export const Count = Type.Integer({ minimum: 0 });

/** The most ratings that a scale of a risk model can have. */
export const maxRating = 7;

/** A rating of probability or impact. The risk model in force decides how many there are: see `resources/risk-model`. */
export const Rating = (options: Options = {}) => Type.Integer({ minimum: 1, maximum: maxRating, ...options });

export const attributesLimit = 50;

/** One line without surrounding spaces. `__proto__` is excluded, because the body parser rejects it. */
const AttributeName = Type.String({ pattern: '^(?! |__proto__$)[^\\n\\t]{1,200}(?<! )$' });

/** Custom fields: free text under free keys. */
export const Attributes = () =>
  Type.Record(AttributeName, Type.String({ maxLength: limits.text_characters }), {
    additionalProperties: false,
    maxProperties: attributesLimit,
    default: {},
    description: 'Custom fields: text values under keys of your choice. At most 50.',
    examples: [{ cost_centre: '4711' }],
  });

/** The members of `attributes` to set; null removes one. */
export const AttributesPatch = () =>
  Type.Record(AttributeName, OrNull(Type.String({ maxLength: limits.text_characters })), {
    additionalProperties: false,
    maxProperties: attributesLimit,
    description: 'Custom fields to set; null removes a field. Fields that you leave out keep their value.',
  });

/** Why a change is made; stored in the history. */
export const Reason = () =>
  Text({ description: 'The reason for the change, for the history. Required to reopen a closed item.' });

/** The fields that every resource has and the service sets. */
export const stamps = {
  version: Type.Integer({
    minimum: 1,
    description: 'Increases by one with each change. Send it in quotes as `If-Match`.',
  }),
  created_at: Time(),
  updated_at: Time(),
};

/** A 204 response. */
export const NoContent = Type.Unsafe<undefined>({ type: 'null', description: 'Done.' });

/** A query parameter that accepts several values, separated by commas. */
export const ManyOf = <T extends TSchema>(items: T, options: Options = {}) => {
  const { default: _, ...item } = items as T & { default?: unknown };
  return Type.Array(item as unknown as T, { minItems: 1, maxItems: limits.filter_values, ...options });
};

/** For patches: all properties optional and without defaults, so that a property left out stays unchanged. */
export const patchable = <P extends TProperties>(properties: P) =>
  optional(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const { default: _, ...rest } = schema as TSchema & { default?: unknown };
        return [name, rest];
      }),
    ) as unknown as P,
  );

export const optional = <P extends TProperties>(properties: P) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as unknown as { [K in keyof P]: Type.TOptional<P[K]> };
