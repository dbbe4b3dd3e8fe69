import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sendRaw } from '../../../test/raw-http.ts';
import { onSqlite, type TestService, withKey } from '../../../test/service.ts';
import { openapiDocument } from '../../commands/openapi.ts';
import { problems } from '../../core/errors.ts';
import { listMediaTypes } from '../../lists/formats.ts';

type Operation = {
  security?: object[];
  operationId: string;
  parameters?: { name: string; in: string; schema: unknown }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: unknown }> };
  responses: Record<
    string,
    {
      description: string;
      headers?: object;
      content?: Record<string, { schema: unknown }>;
      'x-media-types'?: string[];
    }
  >;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};

type ObjectSchema = {
  properties?: Record<string, { default?: unknown; description?: string }>;
  required?: string[];
};

type Bounded = {
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: unknown;
  properties?: Record<string, unknown>;
  patternProperties?: Record<string, unknown>;
  additionalProperties?: unknown;
};

/** Dates, times, and patterns without unbounded repetition have a limited length. */
const isBoundedText = ({ format, pattern = '*' }: Bounded) =>
  format === 'date' || format === 'date-time' || !/[*+]|\{\d+,\}/.test(pattern);

const read = () => JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));

/** The document, with the shared parameters, responses and headers put where they are used. */
function checkedIn(): Document {
  const document = read();
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== 'object' || value === null) return value;
    const [, kind = '', name = ''] =
      '$ref' in value ? (/^#\/components\/(\w+)\/(.+)$/.exec(String(value.$ref)) ?? []) : [];
    if (kind !== '' && kind !== 'schemas') return inline(document.components[kind][name]);
    return Object.fromEntries(Object.entries(value).map(([member, inside]) => [member, inline(inside)]));
  };
  return { ...document, paths: inline(document.paths) };
}

test('openapi.json is up to date: run `npm run openapi` after a change', async () => {
  assert.deepEqual(read(), JSON.parse(await openapiDocument()));
});

test('has an operation id for each operation', () => {
  const operations = Object.values(checkedIn().paths).flatMap((methods) => Object.values(methods));
  const ids = new Set(operations.map(({ operationId }) => operationId));
  assert.equal(ids.size, operations.length);
});

test('describes which bodies are optional, and their media types', () => {
  const bodies = Object.fromEntries(
    Object.values(checkedIn().paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId, requestBody }) => [operationId, requestBody]),
  );
  assert.deepEqual([bodies.createPerson?.required, bodies.rotateKey?.required], [true, false]);
  assert.equal(bodies.updateRisk?.required, false);
  assert.deepEqual(Object.keys(bodies.createPerson?.content ?? {}), ['application/json']);
  assert.deepEqual(Object.keys(bodies.updateRisk?.content ?? {}), [
    'application/json',
    'application/merge-patch+json',
  ]);
});

test('describes headers: conditions, idempotency, pages and rate limits', () => {
  const { paths } = checkedIn();
  const namesOf = (path: string, method: string) =>
    (paths[path]?.[method]?.parameters ?? []).filter((one) => one.in === 'header').map(({ name }) => name);
  const headersOf = (path: string, method: string, status: number) =>
    Object.keys(paths[path]?.[method]?.responses[status]?.headers ?? {});
  assert.deepEqual(namesOf('/v1/groups', 'get'), ['If-None-Match']);
  assert.deepEqual(namesOf('/v1/groups', 'post'), ['Idempotency-Key']);
  assert.deepEqual(namesOf('/v1/groups/{id}', 'patch'), ['If-Match']);
  assert.deepEqual(namesOf('/v1/groups/{id}', 'delete'), ['If-Match']);
  assert.deepEqual(namesOf('/livez', 'get'), []);
  assert.deepEqual(headersOf('/v1/groups', 'get', 200), ['ETag', 'Link', 'RateLimit-Policy', 'RateLimit']);
  assert.deepEqual(headersOf('/v1/groups', 'get', 304), ['RateLimit-Policy', 'RateLimit', 'ETag']);
  assert.deepEqual(headersOf('/v1/groups', 'get', 429), ['RateLimit-Policy', 'RateLimit', 'Retry-After']);
  assert.deepEqual(headersOf('/v1/groups', 'get', 503), ['Retry-After']);
  assert.deepEqual(headersOf('/v1/groups', 'post', 201), [
    'ETag',
    'Location',
    'Idempotent-Replayed',
    'RateLimit-Policy',
    'RateLimit',
  ]);
  assert.deepEqual(headersOf('/livez', 'get', 200), []);
});

test('shares parameters and error responses, and names list envelopes', () => {
  const { paths, components } = read();
  const inline = Object.entries(paths as Document['paths']).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], responses }]) => [
      ...parameters
        .filter((parameter) => !('$ref' in parameter))
        .map(({ name }) => `${method} ${path} ${name}`),
      ...Object.entries(responses)
        .filter(([status, response]) => Number(status) >= 300 && !('$ref' in response))
        .map(([status]) => `${method} ${path} ${status}`),
    ]),
  );
  assert.deepEqual(inline, []);
  for (const name of ['PersonList', 'ListedGroupList', 'RankedRiskList', 'IssueList'])
    assert.ok(name in components.schemas, name);
  for (const kind of ['schemas', 'parameters', 'responses', 'headers'])
    for (const name of Object.keys(components[kind])) assert.match(name, /^[\w.-]+$/);
});

test('describes responses that are not JSON', () => {
  const { responses } = checkedIn().paths['/metrics']?.get ?? {};
  assert.deepEqual(Object.keys(responses?.[200]?.content ?? {}), ['text/plain']);
});

test('types JSON responses as JSON only, and names their other formats, so that generated clients have one type', () => {
  const responses = Object.values(checkedIn().paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => Object.values(operation.responses));
  for (const { content = {} } of responses) {
    if ('application/json' in content) assert.deepEqual(Object.keys(content), ['application/json']);
  }
  const list = checkedIn().paths['/v1/risks']?.get?.responses[200];
  assert.deepEqual(list?.['x-media-types'], listMediaTypes.slice(1));
  assert.match(list?.description ?? '', /`text\/csv`/);
});

test('describes the defaults of optional fields in words, so that generated clients do not require them', () => {
  const { components } = read() as { components: { schemas: Record<string, ObjectSchema> } };
  for (const [schema, { properties = {}, required = [] }] of Object.entries(components.schemas)) {
    const presets = Object.entries(properties).filter(([, property]) => property.default !== undefined);
    for (const [name] of presets) assert.ok(required.includes(name), `${schema}.${name}`);
  }
  assert.equal(components.schemas.PersonInput?.properties?.kind?.description, 'Default: `human`.');
});

test('lists null beside the values of an enum, not among them', () => {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  assert.doesNotMatch(text, /"enum": \[[^\]]*\bnull\b/);
  const { components } = read() as { components: { schemas: Record<string, ObjectSchema> } };
  assert.deepEqual(components.schemas.Issue?.properties?.resolution, {
    anyOf: [
      { type: 'string', enum: ['fixed', 'workaround', 'wont_fix', 'duplicate', 'not_an_issue'] },
      { type: 'null' },
    ],
  });
});

test('bounds every string, list and map in requests', () => {
  const document = checkedIn();
  const unbounded: string[] = [];
  const look = (name: string, value: unknown): void => {
    const schema = resolved(document, value) as Bounded;
    const types = [schema.type].flat();
    const isBounded = {
      string: schema.enum || schema.maxLength !== undefined || isBoundedText(schema),
      array: schema.maxItems !== undefined,
      object: schema.additionalProperties === false && (schema.properties || schema.maxProperties),
    };
    for (const [type, bound] of Object.entries(isBounded)) {
      if (types.includes(type) && !bound && schema.format !== 'binary') unbounded.push(`${name}: ${type}`);
    }
    if (schema.items) look(`${name}[]`, schema.items);
    const members = { ...schema.properties, ...schema.patternProperties };
    for (const [member, inside] of Object.entries(members)) look(`${name}.${member}`, inside);
  };
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const { operationId, requestBody, parameters = [] } = operation;
    for (const { name, schema } of parameters) look(`${operationId}?${name}`, schema);
    for (const { schema } of Object.values(requestBody?.content ?? {})) look(operationId, schema);
  }
  assert.deepEqual(unbounded, []);
});

onSqlite('openapi', (start) => {
  test('every path documents malformed_request', async (t) => {
    const service = await start(t);
    for (const [path, { get }] of Object.entries(checkedIn().paths)) {
      if (!get) continue;
      const response = await sendRaw(service.origin, `GET ${path} HTTP/1.1\r\nhost: ?\r\n\r\n`);
      assert.match(response, /^HTTP\/1.1 400 [\s\S]*malformed_request/, path);
      assert.match(get.responses[400]?.description ?? '', /`malformed_request`/, path);
    }
  });

  test('the served document equals openapi.json', async (t) => {
    const service = await start(t);
    const { body } = await service.get('/v1/openapi.json');
    const { servers, ...document } = body;
    assert.deepEqual(servers, [{ url: service.origin }]);
    const { servers: defaults, ...expected } = read();
    assert.deepEqual(defaults, [{ url: 'http://127.0.0.1:8080' }]);
    assert.deepEqual(document, expected);
    const described = Object.entries(document.paths as Document['paths']).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    assert.deepEqual(described.sort(), servedRoutes(service).sort());
  });

  test('reads have the ETag that the document describes', async (t) => {
    const { service, key } = await withKey(start(t));
    const member = await service.member(['projects.read']);
    const required: Record<string, string> = {
      '/v1/personnel/load': `?user_ids=usr_${'0'.repeat(26)}`,
      '/v1/reports/preview': `?since=${new Date().toISOString().slice(0, 10)}`,
    };
    for (const [path, { get }] of Object.entries(checkedIn().paths)) {
      const isStream = 'text/event-stream' in (get?.responses[200]?.content ?? {});
      if (!get?.responses[200] || isStream || path.includes('{')) continue;
      const isForPeople = get.security?.every((one) => !('key' in one)) && get.security.length > 0;
      const url = `${path}${required[path] ?? ''}`;
      const { status, headers } = isForPeople
        ? await service.get(url, undefined, member.headers)
        : await service.get(url, key);
      assert.equal(status, 200, path);
      const described = Object.keys(get.responses[200]?.headers ?? {});
      assert.equal(headers.has('etag'), described.includes('ETag'), path);
      assert.equal(described.includes('ETag'), 304 in get.responses, path);
    }
  });
});

test('docs/api.md lists every error code with its status', () => {
  const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  for (const [code, { status }] of Object.entries(problems)) {
    assert.ok(text.includes(`| ${status} | \`${code}\` |`), `${status} ${code}`);
  }
});

function servedRoutes({ app }: TestService): string[] {
  return [...app.routeTable]
    .filter(([url]) => url.startsWith('/v1/') || ['/livez', '/readyz', '/metrics'].includes(url))
    .flatMap(([url, methods]) => [...methods].map((method) => `${method} ${url}`))
    .filter((route) => !/^(HEAD|OPTIONS) /.test(route));
}

/** Resolves every reference in a schema. */
function resolved(document: Document, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => resolved(document, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema) {
    const name = String(schema.$ref).replace('#/components/schemas/', '');
    assert.ok(name in document.components.schemas, name);
    return resolved(document, document.components.schemas[name]);
  }
  return Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, resolved(document, member)]),
  );
}
