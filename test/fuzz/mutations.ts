import { METHODS } from 'node:http';
import type { Operation, Parameter } from './document.ts';
import { type Draft, encoded, isJsonType, type Pair, pair, textInQuery } from './draft.ts';
import { edgeBodies, edgeContentTypes, edgeHeaders, edgePaths } from './edge-values.ts';
import type { Known } from './known.ts';
import { oversizedFor } from './oversized.ts';
import { nearlyValidValues, type Schema } from './values.ts';

/** One change that may make a request invalid, with the random values it uses. */
export type Mutation = { kind: keyof typeof mutators; pick: number; text: string; value: unknown };

export const mutate = (draft: Draft, mutation: Mutation, known: Known) =>
  mutators[mutation.kind](draft, structuredClone(mutation), known);

/** All that Node can send, except for one whose response is a tunnel. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

type Mutator = (draft: Draft, mutation: Mutation, known: Known) => void;

export const mutationsFor = ({ requestBody, parameters }: Operation) => {
  const all = Object.keys(mutators) as (keyof typeof mutators)[];
  const acceptsJson = Object.keys(requestBody?.content ?? {}).some(isJsonType);
  const acceptsQuery = parameters.some((parameter) => parameter.in === 'query');
  const likely = all.filter(
    (kind) => (acceptsJson && /Member$/.test(kind)) || (acceptsQuery && /Parameter$/.test(kind)),
  );
  // Mutations of the operation's own body and parameters find the most errors, so they are more frequent.
  return [...all, ...likely, ...likely];
};

const mutators = {
  dropMember(draft, { pick }) {
    const members = Object.entries(membersOf(draft));
    if (members.length > 0) draft.json = Object.fromEntries(members.toSpliced(pick % members.length, 1));
  },
  addMember(draft, { text, value }) {
    draft.json = Object.fromEntries([...Object.entries(membersOf(draft)), [text, value]]);
  },
  replaceMember(draft, { pick, value }) {
    const names = Object.keys(bodySchema(draft)?.properties ?? membersOf(draft));
    const name = names[pick % Math.max(names.length, 1)];
    if (name !== undefined) draft.json = { ...membersOf(draft), [name]: value };
  },
  nearlyValidMember(draft, { pick }) {
    const properties = Object.entries(bodySchema(draft)?.properties ?? {});
    const [name, schema] = properties[pick % Math.max(properties.length, 1)] ?? [];
    if (name === undefined || schema === undefined) return;
    const values = nearlyValidValues(schema);
    draft.json = {
      ...membersOf(draft),
      [name]: values[Math.floor(pick / properties.length) % values.length],
    };
  },
  nestedMember(draft, { pick, value }) {
    const spots = nestedIn(membersOf(draft));
    const spot = spots[pick % Math.max(spots.length, 1)];
    if (spot) spot.container[spot.name] = value;
  },
  readOnlyMember(draft, { pick, value }) {
    const names = bodySchema(draft)?.['x-set-by-service'] ?? [];
    draft.json = { ...membersOf(draft), [names[pick % Math.max(names.length, 1)] ?? 'id']: value };
  },
  otherBody(draft, { value }) {
    draft.json = value;
    draft.contentType ??= 'application/json';
  },
  noBody(draft) {
    delete draft.json;
    delete draft.bytes;
  },
  malformedBody(draft, { pick, text }) {
    const bodies = edgeBodies(JSON.stringify(draft.json ?? { name: text }), pick);
    draft.bytes = Buffer.from(bodies[pick % bodies.length] ?? '');
    draft.contentType ??= 'application/json';
  },
  contentType(draft, { pick }) {
    draft.contentType = edgeContentTypes[pick % edgeContentTypes.length] ?? '';
    draft.json ??= {};
  },
  hugeBody(draft, { pick }) {
    // Rare, because it takes a hundred times as long as other mutations.
    if (pick % 5 > 0) return;
    const size = pick % 2 ? 1_048_577 : 1_100_000;
    draft.bytes = Buffer.from(JSON.stringify({ ...membersOf(draft), name: 'x'.repeat(size) }));
    draft.contentType ??= 'application/json';
  },
  oversized(draft, { pick }) {
    // Rare, for the same reason.
    if (pick % 3 > 0) return;
    const all = oversizedFor(draft.operation);
    const { body, query, headers } = all[Math.floor(pick / 3) % all.length] ?? {};
    if (body) draft.bytes = body();
    if (body) draft.contentType ??= 'application/json';
    if (query !== undefined) draft.query = [{ name: '', value: undefined, sent: query }];
    Object.assign(draft.headers, headers);
    draft.isOversized = true;
    // Some oversized requests are valid, and the document does not define which.
    draft.targetsOperation = false;
  },
  deepBody(draft, { pick }) {
    const depth = [19, 20, 21, 22, 1000, 20_000][pick % 6] ?? 0;
    const [open, close] = pick % 2 ? ['[', ']'] : ['{"a":', '}'];
    const nested = `${open.repeat(depth)}1${close.repeat(depth)}`;
    draft.bytes = Buffer.from(pick % 3 ? `{"attributes":${nested}}` : nested);
    draft.contentType ??= 'application/json';
  },

  unknownParameter(draft, { text, value }) {
    draft.query.push(pair(text || 'limt', textInQuery(value ?? '')));
  },
  repeatedParameter(draft, { pick }) {
    const again = draft.query[pick % Math.max(draft.query.length, 1)] ?? pair('limit', '1');
    draft.query.push(again, ...(draft.query.includes(again) ? [] : [again]));
  },
  edgeParameter(draft, { pick, text }) {
    setParameter(draft, pick, ({ name }) => pair(name, text));
  },
  nearlyValidParameter(draft, { pick }) {
    setParameter(draft, pick, ({ name, schema }) => {
      const values = [...nearlyValidValues(schema), ...nearlyValidValues(schema.items ?? {})];
      return pair(name, textInQuery(values[Math.floor(pick / 7) % values.length]));
    });
  },
  brokenParameter(draft, { pick, text }) {
    const wrong =
      ['%', '%zz', '%C3', '%ED%A0%80', '%FF', '%00', '%c0%80', '+', '%2', 'a%', '%u0041'][pick % 11] ?? '';
    setParameter(draft, pick, ({ name }) => ({
      name,
      value: /^(%00|\+)$/.test(wrong) ? decodeURIComponent(wrong).replace('+', ' ') : undefined,
      sent: `${name}=${wrong}`,
    }));
    if (pick % 5 === 0) draft.query.push({ name: text, value: undefined, sent: `${wrong}=${wrong}` });
  },
  cursorParameter(draft, { pick, text }, known) {
    const real = known.cursor(pick);
    const invalid = [
      text,
      'AA',
      'W10',
      'WzFd',
      'bnVsbA',
      Buffer.from(JSON.stringify(['x', text, 0, ''])).toString('base64url'),
    ];
    const cursor =
      real === undefined || pick % 5 === 0
        ? (invalid[pick % invalid.length] ?? '')
        : distortCursor(real, pick);
    draft.query = [...draft.query.filter(({ name }) => name !== 'cursor'), pair('cursor', cursor || 'x')];
    draft.isComparable = false;
  },

  edgeSegment(draft, { pick, text }) {
    const segments = draft.path.split('/');
    segments[1 + (pick % Math.max(1, segments.length - 1))] = encoded(text || ' ');
    replacePath(draft, segments.join('/'));
  },
  edgePath(draft, { pick }) {
    const paths = edgePaths(draft.path);
    replacePath(draft, paths[pick % paths.length] ?? '/');
  },
  longPath(draft, { pick }) {
    const length = [199, 200, 201, 500, 4000, 15_000, 17_000][pick % 7] ?? 0;
    replacePath(
      draft,
      draft.path.replace(/[^/]*$/, (last) => last + 'x'.repeat(length)),
    );
  },
  method(draft, { pick }) {
    draft.method = methods[pick % methods.length] ?? 'GET';
    draft.targetsOperation = false;
  },
  header(draft, { pick, text }, known) {
    const all = edgeHeaders(known.tag(pick) ?? '"1"', text);
    const [name, values] = all[pick % all.length] ?? ['x', ['y']];
    draft.headers[name] = (values[Math.floor(pick / all.length) % values.length] ?? '').trim();
  },
} satisfies Record<string, Mutator>;

const bodySchema = ({ operation }: Draft): Schema | undefined =>
  operation.requestBody?.content['application/json']?.schema;

/** The members of a JSON object body; empty for any other body. */
function membersOf(draft: Draft): Record<string, unknown> {
  draft.contentType ??= 'application/json';
  const { json } = draft;
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as Record<string, unknown>)
    : {};
}

type Spot = { container: Record<string, unknown>; name: string };

const nestedIn = (value: unknown): Spot[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, member]) => [
        { container: value as Record<string, unknown>, name },
        ...nestedIn(member),
      ]);

function setParameter(draft: Draft, pick: number, change: (parameter: Parameter) => Pair): void {
  const parameters = draft.operation.parameters.filter((parameter) => parameter.in === 'query');
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
  const chosen = parameters[pick % Math.max(parameters.length, 1)] ?? limit;
  draft.query = [...draft.query.filter(({ name }) => name !== chosen.name), change(chosen)];
}

/** Returns the cursor truncated, with one bit flipped, or unchanged; unchanged it usually belongs to another list. */
function distortCursor(cursor: string, pick: number): string {
  if (pick % 3 === 0) return cursor;
  if (pick % 3 === 1) return cursor.slice(0, pick % cursor.length);
  const bytes = Buffer.from(cursor, 'base64url');
  const at = pick % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (pick % 8));
  return bytes.toString('base64url');
}

function replacePath(draft: Draft, path: string): void {
  draft.path = path;
  draft.targetsOperation = false;
}
