import type { Operation } from './document.ts';
import { isJsonType } from './draft.ts';
import type { Schema } from './values.ts';

/** A request part at or above the service's size limits. */
export type Oversized = {
  name: string;
  body?: () => Buffer;
  query?: string;
  headers?: Record<string, string>;
};

/** The maximum body size, and the size of a query or header just below the limit. */
const bodyBytes = 1024 * 1024;
const headBytes = 14_000;

/** More values than any valid body has: above and below the number at which validation stops. */
const counts = [95_000, 9_000];

/** Oversized queries and headers for every operation, and bodies where it accepts JSON. */
export function oversizedFor(operation: Operation): Oversized[] {
  const schema = Object.entries(operation.requestBody?.content ?? {}).find(([type]) => isJsonType(type))?.[1]
    .schema;
  return [
    ...(schema ? [...oversizedBodies, ...oversizedMembers(schema)] : []),
    ...oversizedQueries(operation),
    ...oversizedHeaders,
  ];
}

/** Creates the body on first use. */
const text = (name: string, make: () => string): Oversized => {
  let created: Buffer | undefined;
  const body = () => {
    created ??= Buffer.from(make());
    return created;
  };
  return { name, body };
};

const members = (count: number, name: (i: number) => string) =>
  `{${Array.from({ length: count }, (_, i) => `${JSON.stringify(name(i))}:1`).join(',')}}`;

const filled = (part: string, start: string, end: string) =>
  start + part.repeat(Math.floor((bodyBytes - 30) / Buffer.byteLength(part))) + end;

const marks = (count: number) => '\u0301'.repeat(count / 2) + '\u0323'.repeat(count / 2);

/** Bodies that are too large for any schema. */
const oversizedBodies: Oversized[] = [
  ...counts.flatMap((count) => [
    text(`${count} unknown members`, () => members(count, (i) => i.toString(36))),
    text(`${count} misspelt members`, () => members(count, (i) => `nam${i.toString(36)}`)),
    text(`${count} times the same member`, () => members(count, () => 'name')),
  ]),
  text('unknown members with long names', () => members(5000, (i) => `${i}${'x'.repeat(190)}`)),
  text('one member with a name of a megabyte', () => filled('x', '{"', '":1}')),
  text('one member with a name of escapes', () => filled('\\u0301', '{"', '":1}')),
  text('only opening brackets', () => filled('[', '', '')),
  text('nested lists', () => `${'['.repeat(bodyBytes / 2 - 1)}${']'.repeat(bodyBytes / 2 - 1)}`),
  text('nested objects', () => `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`),
  text('a list of ones', () => filled('1,', '[', '1]')),
  text('a list of empty objects', () => filled('{},', '[', '1]')),
  text('a list in a field', () => filled('[],', '{"name":[', '1]}')),
  text('a number of a megabyte', () => filled('9', '{"name":', '}')),
  text('whitespace', () => filled(' ', '{', '}')),
  text('an unterminated string', () => filled('\\\\', '{"', '')),
  text('texts that look like a prototype', () => filled('"__proto__" ,', '["constructor":', '1]')),
  text('a text of combining marks', () => filled(marks(5000), '{"name":"a', '"}')),
  text('a text with the maximum number of marks', () => filled(`a${marks(30)}`, '{"name":"', '"}')),
];

/** Bodies with every field at its limit, or far above it. */
function oversizedMembers(schema: Schema): Oversized[] {
  const bodies: [string, (member: Schema) => unknown][] = [
    ['equal items in every list', (member) => listOf(member, 9000, () => itemOf(member))],
    ['as many equal items as allowed', (member) => listOf(member, member.maxItems, () => itemOf(member))],
    ['as many items as allowed', (member) => listOf(member, member.maxItems, (i) => itemOf(member, i))],
    ['long items in every list', (member) => listOf(member, 100, () => 'x'.repeat(3000))],
    ['lists in every list', (member) => listOf(member, 100, () => Array(50).fill('x'))],
    ['many members in every map', (member) => mapOf(member, 9000, 'x')],
    ['a full map', (member) => mapOf(member, member.maxProperties, `a${marks(30)}`.repeat(220))],
    ['long texts', (member) => textOf(member, 30_000, 'x')],
    ['long texts of marks', (member) => textOf(member, 15_000, '\u0301\u0323')],
    ['full texts of marks', (member) => textOf(member, member.maxLength, `a${marks(30)}`)],
    ...hostileTexts.map(([part, end]): [string, (member: Schema) => unknown] => [
      `texts of ${part}`,
      (member) => textOf(member, member.maxLength, part, end),
    ]),
  ];
  return bodies.map(([name, fill]) => text(name, () => JSON.stringify(bodyOf(schema, fill))));
}

/** Repeated, these cause catastrophic backtracking in a careless regular expression. */
const hostileTexts: [part: string, end: string][] = [
  ['a', '!'],
  ['a.', '@'],
  ['a@', ''],
  ['a@a-', ''],
  ['a@a.', '-'],
  ['"\\', ''],
  ['https://a.', ' '],
  ['https://ü', ''],
  ['Europe/', ''],
  ['2026-11-15T', 'Z'],
  ['usr_0', ''],
  [' ', 'x'],
  ['\t', 'x'],
];

const isOfType = ({ type }: Schema, expected: string) => [type].flat().includes(expected);

const listOf = (schema: Schema, count = 9000, item: (i: number) => unknown = () => 'x') =>
  isOfType(schema, 'array') ? Array.from({ length: count }, (_, i) => item(i)) : undefined;

function itemOf({ items = {} }: Schema, i = 0): unknown {
  if (items.enum) return items.enum[i % items.enum.length];
  const [, prefix] = /\^([a-z]{3})_\[/.exec(items.pattern ?? '') ?? [];
  return prefix ? `${prefix}_${i.toString(32).padStart(26, '0')}` : `x${i}`;
}

const mapOf = (schema: Schema, count = 9000, value = 'x') =>
  isOfType(schema, 'object')
    ? Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]))
    : undefined;

const textOf = (schema: Schema, length = 10_000, part = 'x', end = '') =>
  isOfType(schema, 'string')
    ? part.repeat(Math.ceil(length / part.length)).slice(0, length - end.length) + end
    : undefined;

/** The schema's example, with each member replaced that `fill` returns a value for. */
function bodyOf({ properties = {}, examples = [] }: Schema, fill: (member: Schema) => unknown): object {
  const members = Object.entries(properties).map(([name, member]) => [name, fill(member)]);
  return {
    ...(examples[0] as object),
    ...Object.fromEntries(members.filter(([, value]) => value !== undefined)),
  };
}

const repeated = (part: string) => part.repeat(Math.floor(headBytes / part.length)).replace(/[&,;]$/, '');
const numbered = (part: (i: string) => string) => {
  let query = '';
  for (let i = 0; query.length < headBytes; i++) query += part(i.toString(36));
  return query.slice(0, -1);
};

function oversizedQueries({ parameters }: Operation): Oversized[] {
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  const lists = ofQuery.filter(({ schema }) => isOfType(schema, 'array'));
  const [first = { name: 'limit' }] = ofQuery;
  const queries = {
    'many unknown parameters': numbered((i) => `${i}&`),
    'many misspelt parameters': numbered((i) => `${first.name.slice(1)}${i}=1&`),
    'many broken parameters': repeated('%&'),
    'one parameter many times': repeated(`${first.name}=1&`),
    'a parameter with a long name': repeated('x'),
    'a value of combining marks': `q=${repeated('%CC%81')}`,
    'a long cursor': `cursor=${repeated('A').slice(0, 8000)}`,
    ...Object.fromEntries(
      lists.map(({ name, schema }) => [
        `a long list in ${name}`,
        `${name}=${repeated(`${itemOf(schema)},`)}`,
      ]),
    ),
    ...(lists[0] && { 'an empty list': `${lists[0].name}=${repeated(',')}` }),
  };
  return Object.entries(queries).map(([name, query]) => ({ name, query }));
}

const oversizedHeaders: Oversized[] = Object.entries({
  accept: `${'a;q=0,'.repeat(1000)}${'a,'.repeat(3500)}`.slice(0, headBytes),
  'accept-encoding': repeated('a;q=0.5,'),
  'if-none-match': repeated('"x",'),
  'if-match': repeated('"1-",'),
  cookie: repeated('a=b;'),
  'x-forwarded-for': repeated('127.0.0.1,'),
  'content-type': `application/json;${repeated('a=b;')}`,
  'x-request-id': repeated('x'),
  'idempotency-key': repeated('x'),
  traceparent: repeated('0'),
  host: repeated('a'),
  origin: `https://${repeated('a.')}`,
}).map(([name, value]) => ({ name: `a long ${name}`, headers: { [name]: value } }));
