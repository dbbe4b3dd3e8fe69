import fc, { type Arbitrary } from 'fast-check';
import { xlsxType } from '../../src/formats/xlsx-write.ts';
import type { Operation, Parameter } from './document.ts';
import { type Actor, type Draft, isJsonType, pair, rareActors, textInQuery } from './draft.ts';
import { edgeTexts } from './edge-values.ts';
import type { Known } from './known.ts';
import { type Mutation, mutate, mutationsFor } from './mutations.ts';
import { edgeJson, Reference, type Schema, valuesOf } from './values.ts';

/** A request whose references are not resolved yet. One plan yields a request for each service. */
export type Plan = {
  operation: Operation;
  actor: Actor;
  /** A random number that selects the resource in the path, among other choices. */
  pick: number;
  /** Whether the path parameters may come from unrelated resources. */
  isMixed: boolean;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  body: { type: string; value: unknown } | undefined;
  mutations: Mutation[];
};

/** Requests to all operations: most are valid, the rest have one or more mutations. */
export const plansOf = (operations: Operation[]): Arbitrary<Plan> =>
  fc.oneof(
    ...operations.map((operation) => ({
      weight: weightOf(operation),
      arbitrary: plansFor(operation, operations),
    })),
  );

const weightOf = ({ method, template, scope }: Operation) =>
  scope === undefined ? 1 : method === 'GET' && !template.includes('{') ? 3 : 2;

/** Valid requests to an operation. */
export const validPlansFor = (operation: Operation, operations: Operation[]): Arbitrary<Plan> =>
  plansFor(operation, operations).map((plan) => ({
    ...plan,
    actor: 'all',
    isMixed: false,
    headers: {},
    mutations: [],
  }));

function plansFor(operation: Operation, operations: Operation[]): Arbitrary<Plan> {
  const actor = fc.oneof(
    { weight: 78, arbitrary: fc.constant<Actor>('all') },
    { weight: 8, arbitrary: fc.constant<Actor>('exact') },
    { weight: 14, arbitrary: fc.constantFrom<Actor>(...rareActors) },
  );
  const mutation: Arbitrary<Mutation> = fc.record({
    kind: fc.constantFrom(...mutationsFor(operation)),
    pick: fc.nat(100_000),
    text: fc.oneof(fc.constantFrom(...edgeTexts), fc.string({ unit: 'binary', maxLength: 12 })),
    value: edgeJson,
  });
  return fc.record({
    operation: fc.constant(operation),
    actor,
    pick: fc.nat(100_000),
    isMixed: fc.integer({ min: 0, max: 9 }).map((number) => number === 9),
    query: queriesOf(operation.parameters),
    headers: validHeaders(operation),
    body: bodiesOf(operation, operations),
    mutations: fc.oneof(
      { weight: 11, arbitrary: fc.constant<Mutation[]>([]) },
      { weight: 7, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(mutation, { minLength: 2, maxLength: 3 }) },
    ),
  });
}

function queriesOf(parameters: Parameter[]): Arbitrary<Record<string, unknown>> {
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  // A generated cursor is never valid; `followUp` uses the cursors that the service returns.
  const usable = ofQuery.filter(({ name }) => name !== 'cursor');
  const properties = Object.fromEntries(usable.map(({ name, schema }) => [name, inQuery(schema)]));
  const required = usable.filter((parameter) => parameter.required).map(({ name }) => name);
  return valuesOf({ type: 'object', properties, required }) as Arbitrary<Record<string, unknown>>;
}

/** Items of a query list must not contain commas, which separate them. */
const inQuery = (schema: Schema): Schema =>
  schema.items?.type === 'string' && schema.items.pattern === '^[^\\n\\t]*$'
    ? { ...schema, items: { ...schema.items, pattern: '^[^\\n\\t,]*$' } }
    : schema;

function validHeaders({ method, responses }: Operation): Arbitrary<Record<string, string>> {
  const types = Object.keys(responses['200']?.content ?? {});
  const rarely = (headers: Arbitrary<Record<string, string>>) => ({ weight: 1, arbitrary: headers });
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    ...(method === 'GET' && types.length > 1
      ? [{ weight: 4, arbitrary: fc.constantFrom(...types).map((accept) => ({ accept })) }]
      : []),
    ...(method === 'POST'
      ? [
          {
            weight: 3,
            arbitrary: fc.nat(40).map((n) => ({ 'idempotency-key': n % 2 ? `key-${n}` : `"key ${n}"` })),
          },
        ]
      : []),
    rarely(
      fc
        .constantFrom('gzip', 'br', 'zstd', 'gzip, br;q=0.5', '*')
        .map((encoding) => ({ 'accept-encoding': encoding })),
    ),
    rarely(fc.constant({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })),
  );
}

/**
 * A body of a media type that the operation accepts. Rows of an import match the schema of the parent path's body.
 * Workbooks come only from mutations.
 */
function bodiesOf(
  { requestBody, template, method }: Operation,
  operations: Operation[],
): Arbitrary<Plan['body']> {
  if (!requestBody) return fc.constant(undefined);
  const parent = operations.find(
    (candidate) => candidate.method === method && candidate.template === template.replace(/\/[^/]+$/, ''),
  );
  const row = parent?.requestBody?.content['application/json']?.schema ?? { type: 'object' };
  const bodies: Arbitrary<Plan['body']> = fc.oneof(
    ...Object.entries(requestBody.content)
      .filter(([type]) => type !== xlsxType)
      .map(([type, { schema = {} }]) =>
        (isJsonType(type) ? valuesOf(schema) : fc.array(valuesOf(row), { maxLength: 6 })).map((value) => ({
          type,
          value,
        })),
      ),
  );
  return requestBody.required ? bodies : fc.option(bodies, { freq: 8, nil: undefined });
}

/** Formats rows as NDJSON or CSV. */
function formatRows(type: string, rows: Record<string, unknown>[]): Buffer {
  if (type === 'application/x-ndjson')
    return Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown) => {
    const text = Array.isArray(value) ? value.map(textInQuery).join('; ') : textInQuery(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  return Buffer.from(lines.map((line) => `${line.map(cell).join(',')}\r\n`).join(''));
}

/** Resolves a plan against the resources of a service. */
export function draftOf(plan: Plan, known: Known): Draft {
  const { operation, actor, pick, isMixed, query, headers, body, mutations } = plan;
  const params = known.place(operation, pick, isMixed);
  const draft: Draft = {
    operation,
    actor,
    method: operation.method,
    path: operation.template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? '')),
    params,
    query: Object.entries(query).map(([name, value]) =>
      pair(name, textInQuery(resolveReferences(value, known))),
    ),
    headers: { ...headers },
    targetsOperation: true,
    isMutated: mutations.length > 0,
    isComparable: true,
  };
  const value = resolveReferences(body?.value, known);
  if (body && isJsonType(body.type)) draft.json = value;
  else if (body) draft.bytes = formatRows(body.type, value as Record<string, unknown>[]);
  if (body) draft.contentType = body.type;
  for (const mutation of mutations) mutate(draft, mutation, known);
  return draft;
}

function resolveReferences(value: unknown, known: Known): unknown {
  if (value instanceof Reference) return known.refer(value.pattern, value.pick);
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, known));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, resolveReferences(member, known)]),
  );
}
