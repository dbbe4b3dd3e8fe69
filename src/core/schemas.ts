import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { Format } from 'typebox/format';
import { type IdKind, idPattern, prefixes } from './ids.ts';

export const limits = {
  body_bytes: 1024 * 1024,
  public_body_bytes: 1024,
  import_bytes: 32 * 1024 * 1024,
  import_rows: 100_000,
  json_depth: 20,
  json_values: 10_000,
  name_characters: 200,
  text_characters: 10_000,
  page_rows: 1000,
  filter_values: 500,
} as const;

/** Days that exist, of years that every database knows. */
const isDay = (text: string) =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) &&
  // The 31st of a month that has none is read as the 1st of the next.
  new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8));

Format.Set('date', isDay);

/** Times that exist, also in UTC. */
Format.Set(
  'date-time',
  (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i.test(text) &&
    isDay(text.slice(0, 10)) &&
    isDay(new Date(text).toJSON()?.slice(0, 10) ?? ''),
);

/** What a browser can follow; “http://” is no address yet. */
Format.Set('uri', (text) => URL.canParse(text) && !/\s/.test(text));

/** To ask whether there is a time zone takes longer than all else about a person, and most people share a few. */
const knownTimeZones = new Set<string>();

Format.Set('time-zone', (value) => {
  if (knownTimeZones.has(value)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
  } catch {
    return false;
  }
  // However a name is written, there is no end of ways to write it.
  if (knownTimeZones.size < 1000) knownTimeZones.add(value);
  return true;
});

type Options = { description?: string; examples?: unknown[]; default?: unknown };

/** Where a response schema names the media types it can be had in, besides JSON. Not part of the OpenAPI document. */
export const mediaTypes = 'x-media-types';

/** An object that refuses what it does not name. TypeBox's own Omit and Partial would lose that. */
export const Strict = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/**
 * The body that makes or changes a `resource`: only `writable` fields. The rest of the resource's fields are
 * named in the schema, so that sending one is refused with a sentence of its own.
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

/** A value that may be unknown: `null`, never an empty text. `type: [..., "null"]` reads better than `anyOf`. */
export const OrNull = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Type.Static<T> | null>({
    ...schema,
    ...('enum' in schema && { enum: [...(schema.enum as unknown[]), null] }),
    type: ['type' in schema ? schema.type : 'string', 'null'],
  });

/** One line of text, such as a name. */
export const Line = (options: Options & { maxLength?: number } = {}) =>
  Type.String({ minLength: 1, maxLength: limits.name_characters, pattern: '^[^\\n\\t]*$', ...options });

/** Text over several lines. */
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

export const Id = (kind: IdKind, options: Options = {}) =>
  Type.String({
    pattern: idPattern(kind),
    examples: [`${prefixes[kind]}_01jd3k9m5vqs8h2n6r4t0c7e1b`],
    ...options,
  });

export const OneOf = <const V extends readonly string[]>(values: V, options: Options = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });

/** Whole numbers a person chose from a scale of 1 to 5. */
export const Rating = (options: Options = {}) => Type.Integer({ minimum: 1, maximum: 5, ...options });

export const attributesLimit = 50;

/** One line without blanks around it, and no name that bodies cannot have. */
const AttributeName = Type.String({ pattern: '^(?! |__proto__$)[^\\n\\t]{1,200}(?<! )$' });

/** Free text under free keys, for what an organization keeps and the service does not know of. */
export const Attributes = () =>
  Type.Record(AttributeName, Type.String({ maxLength: limits.text_characters }), {
    additionalProperties: false,
    maxProperties: attributesLimit,
    default: {},
    description: 'Free text under free keys, 50 at most.',
    examples: [{ cost_centre: '4711' }],
  });

/** The members of `attributes` to set, or, with null, to take away. */
export const AttributesPatch = () =>
  Type.Record(AttributeName, OrNull(Type.String({ maxLength: limits.text_characters })), {
    additionalProperties: false,
    maxProperties: attributesLimit,
    description: 'Members to set; null takes one away. The others stay.',
  });

/** Why a change is made: kept in the history. */
export const Reason = () =>
  Text({ description: 'Why, for the history. Required to reopen what was closed.' });

/** What every resource carries, set by the service. */
export const stamps = {
  version: Type.Integer({
    minimum: 1,
    description: 'Grows by one with each change. `If-Match` takes it, in quotes.',
  }),
  created_at: Time(),
  updated_at: Time(),
};

/** The answer of what has nothing to say but that it is done. */
export const NoContent = Type.Unsafe<undefined>({ type: 'null', description: 'Done.' });

/** A query parameter that takes several values, separated by commas. */
export const ManyOf = <T extends TSchema>(items: T, options: Options = {}) => {
  const { default: _, ...item } = items as T & { default?: unknown };
  return Type.Array(item as unknown as T, { minItems: 1, maxItems: limits.filter_values, ...options });
};

/** For patches: all optional, and what is left out stays as it is instead of getting a default. */
export const patchable = <P extends TProperties>(properties: P) =>
  optional(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const { default: _, ...rest } = schema as TSchema & { default?: unknown };
        return [name, rest];
      }),
    ) as unknown as P,
  );

/** All properties optional. */
export const optional = <P extends TProperties>(properties: P) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as unknown as { [K in keyof P]: Type.TOptional<P[K]> };
