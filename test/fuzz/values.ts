import fc, { type Arbitrary } from 'fast-check';
import { hasForbiddenCharacters, normalize } from '../../src/core/text.ts';
import { edgeNumbers, edgeTexts, strangeTexts, words } from './edge-values.ts';

/** The part of JSON Schema that the service's OpenAPI document uses. */
export type Schema = {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean;
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  examples?: unknown[];
  default?: unknown;
  /** Read-only fields. */
  'x-set-by-service'?: string[];
};

/** Keywords that do not affect validity, then those that values are generated for. */
const supported = new Set([
  ...['title', 'description', 'examples', 'example', 'default'],
  ...['type', 'enum', 'anyOf', 'properties', 'required', 'patternProperties', 'additionalProperties'],
  ...['maxProperties', 'items', 'minItems', 'maxItems', 'uniqueItems'],
  ...['pattern', 'format', 'minLength', 'maxLength', 'minimum', 'maximum'],
]);

/** A placeholder for the id or key of an existing resource, resolved when the request is sent. */
export class Reference {
  readonly pattern: string;
  readonly pick: number;

  constructor(pattern: string, pick: number) {
    this.pattern = pattern;
    this.pick = pick;
  }

  static isPattern = (pattern: string) => /^\^[a-z]{3}_\[/.test(pattern);
}

const arbitraries = new Map<string, Arbitrary<unknown>>();

/** Valid values for a schema. Arbitraries are cached because creating one is slow. */
export function valuesOf(schema: Schema): Arbitrary<unknown> {
  const text = JSON.stringify(schema);
  const values = arbitraries.get(text) ?? createValues(schema);
  arbitraries.set(text, values);
  return values;
}

/** Throws for an unsupported keyword instead of ignoring it. */
function createValues(schema: Schema): Arbitrary<unknown> {
  const unsupported = Object.entries(schema).find(
    ([keyword, value]) =>
      (!supported.has(keyword) && !keyword.startsWith('x-')) ||
      (keyword === 'additionalProperties' && value !== false),
  )?.[0];
  if (unsupported) throw new Error(`The fuzzer does not support the schema keyword ${unsupported}.`);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesOf));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return edgeJson.filter((value) => !pollutesPrototypes(value));
  return fc.oneof(
    ...types.map((type) => ({ weight: type === 'null' ? 1 : 4, arbitrary: valuesOfType(type, schema) })),
  );
}

function valuesOfType(type: string, schema: Schema): Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integersOf(schema);
    case 'string':
      return textsOf(schema);
    case 'array':
      return arraysOf(schema);
    case 'object':
      return objectsOf(schema);
    default:
      throw new Error(`The fuzzer does not support the type ${type}.`);
  }
}

function integersOf({ minimum: min = 0, maximum: max = Math.max(min, 0) + 100_000 }: Schema) {
  const small = fc.integer({ min, max: Math.min(max, min + 20) });
  return fc.oneof({ weight: 3, arbitrary: small }, fc.integer({ min, max }), fc.constantFrom(min, max));
}

/** Generated days are close to this one. */
const today = Date.parse('2026-11-15');
const dayNumber = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -400, max: 400 }) },
  fc.constantFrom(0, 1, -1, Math.round((Date.parse('1000-01-01') - today) / 86_400_000)),
  fc.constantFrom(
    ...['9999-12-31', '2024-02-29'].map((day) => Math.round((Date.parse(day) - today) / 86_400_000)),
  ),
);
const days = dayNumber.map((number) => new Date(today + number * 86_400_000).toISOString().slice(0, 10));
const times = fc
  .record({
    day: days.filter((day) => !/^(1000-01-01|9999-12-31)$/.test(day)),
    clock: fc.constantFrom('00:00:00', '12:30:15', '23:59:59'),
    fraction: fc.constantFrom('', '.5', '.123', '.123456789'),
    zone: fc.constantFrom('Z', 'Z', 'z', '+00:00', '-11:30', '+14:00'),
  })
  .map(({ day, clock, fraction, zone }) => `${day}T${clock}${fraction}${zone}`);
const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone')];

const formats: Record<string, Arbitrary<string>> = {
  date: days,
  'date-time': times,
  email: fc.oneof(fc.emailAddress(), fc.constantFrom('ada@example.com', 'Ada@Example.com', 'bo@example.com')),
  uri: fc.oneof(
    fc.constantFrom(
      'https://example.com/',
      'HTTPS://Example.COM:8443/a/b?c=d&e#f',
      'http://[::1]:80/',
      'http://xn--tda.example/',
    ),
    fc.string({ maxLength: 30 }).map((text) => `https://example.com/${encodeURIComponent(text)}`),
  ),
  'time-zone': fc.constantFrom(...timeZones),
  charset: fc.constantFrom('utf-8', 'UTF8', 'windows-1252', 'latin1'),
};

const graphemes = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });

function textsOf({ minLength = 0, maxLength = 20_000, pattern, format }: Schema): Arbitrary<unknown> {
  if (pattern !== undefined && Reference.isPattern(pattern)) {
    return fc.oneof(
      { weight: 12, arbitrary: fc.nat().map((pick) => new Reference(pattern, pick)) },
      fc.stringMatching(new RegExp(pattern)),
    );
  }
  const expression = new RegExp(pattern ?? '', 'u');
  const isAllowed = (text: string) =>
    isLength(text, minLength, maxLength) && expression.test(text) && isNormalized(text);
  if (format !== undefined) {
    const known = formats[format];
    if (!known) throw new Error(`The fuzzer does not support the format ${format}.`);
    return known.filter(isAllowed);
  }
  if (pattern !== undefined && /^\^\[[A-Z]/.test(pattern)) return fc.stringMatching(expression);
  const allowedWords = [...words, ...strangeTexts].filter(isAllowed);
  if (allowedWords.length === 0) return fc.stringMatching(expression).filter(isAllowed);
  // Each character has two UTF-16 units and four UTF-8 bytes.
  const maxText = '𐍈'.repeat(maxLength);
  return fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(...words.filter(isAllowed), ...allowedWords.slice(0, 1)) },
    { weight: 20, arbitrary: fc.constantFrom(...allowedWords) },
    {
      weight: 20,
      arbitrary: graphemes.map((text) =>
        isAllowed(normalize(text)) ? normalize(text) : (allowedWords[0] ?? ''),
      ),
    },
    ...(isAllowed(maxText) ? [{ weight: 1, arbitrary: fc.constant(maxText) }] : []),
  );
}

const isLength = (text: string, min: number, max: number) => {
  const length = [...text].length;
  return length >= min && length <= max;
};

/** Whether the service would store the text unchanged. */
const isNormalized = (text: string) => normalize(text) === text && !hasForbiddenCharacters(text);

function arraysOf({
  items = {},
  minItems = 0,
  maxItems = 20,
  uniqueItems = false,
}: Schema): Arbitrary<unknown[]> {
  const lengths = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) };
  return uniqueItems
    ? fc.uniqueArray(valuesOf(items), { ...lengths, selector: (item) => JSON.stringify(item) })
    : fc.array(valuesOf(items), lengths);
}

function objectsOf(schema: Schema): Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], patternProperties = {} } = schema;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const members = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valuesOf(property)])),
    { noNullPrototype: true },
  );
  const chosen = fc.oneof(
    { weight: 4, arbitrary: fc.subarray(optional, { maxLength: Math.min(3, optional.length) }) },
    { weight: 1, arbitrary: fc.subarray(optional) },
  );
  const [free] = Object.entries(patternProperties);
  const extraMembers = free
    ? fc.dictionary(
        textsOf({ minLength: 1, maxLength: 40, pattern: free[0] }) as Arbitrary<string>,
        valuesOf(free[1]),
        {
          maxKeys: Math.min(schema.maxProperties ?? 4, 4),
          noNullPrototype: true,
        },
      )
    : fc.constant({});
  return fc.tuple(members, chosen, extraMembers).map(([all, names, more]) => {
    const selected = Object.entries(all).filter(([name]) => required.includes(name) || names.includes(name));
    return { ...more, ...Object.fromEntries(selected) };
  });
}

/** The parser rejects such a member in any body, whatever the schema. */
const pollutesPrototypes = (value: unknown) =>
  /"constructor":\{"prototype"|"__proto__":/.test(JSON.stringify(value));

/** Any JSON, mostly edge cases. */
export const edgeJson: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...edgeTexts),
  fc.constantFrom<unknown>(...edgeNumbers, null, true, false),
  fc.constantFrom<unknown>([], {}, [[]], [null], [{}], { x: 1 }, [1, 1], [''], { $ref: '#' }),
  fc.constantFrom<unknown>({ toString: 1 }, { constructor: { prototype: null } }, { length: -1 }),
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
);

/** Values that just violate the schema. */
export function nearlyValidValues(schema: Schema): unknown[] {
  const { minimum, maximum, maxLength, minLength, maxItems, minItems, uniqueItems, maxProperties } = schema;
  const { enum: allowed, items } = schema;
  const some = (length: number, item: unknown) => Array.from({ length: Math.max(0, length) }, () => item);
  const item = items?.enum?.[0] ?? 'x';
  return [
    ...(minimum === undefined ? [] : [minimum - 1, minimum - 0.5, String(minimum)]),
    ...(maximum === undefined ? [] : [maximum + 1, maximum + 0.5]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '𐍈'.repeat(maxLength + 1)]),
    ...(minLength ? ['x'.repeat(minLength - 1), ' '.repeat(minLength)] : []),
    ...(maxItems === undefined || maxItems > 5000
      ? []
      : [some(maxItems + 1, item).map((x, i) => `${x}${i}`)]),
    ...(minItems ? [some(minItems - 1, item)] : []),
    ...(uniqueItems ? [[item, item]] : []),
    ...(maxProperties === undefined
      ? []
      : [Object.fromEntries(some(maxProperties + 1, 'x').map((x, i) => [`k${i}`, x]))]),
    ...(allowed?.filter((value) => typeof value === 'string').map((value) => value.toUpperCase()) ?? []),
    ...(allowed ? ['', `${allowed[0]}x`] : []),
    ...(schema.pattern === undefined ? [] : ['\n', 'x\n', 'a\tb', 'usr_0']),
    ...(schema.format === undefined ? [] : ['x', '2026-02-30', '@', 'http://', 'http:// x']),
    ...[null, 0, 1.5, true, '', 'x', [], {}, [null]],
  ];
}
