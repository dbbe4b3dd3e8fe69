import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { parseCsv } from './content.ts';
import { errorOf } from './document.ts';
import { fuzz } from './run.ts';
import { valuesOf } from './values.ts';

test('reports no failure for a service that follows its document', async (t) => {
  const { failures, requests } = await fuzzItems(t);
  assert.deepEqual(failures, []);
  assert.equal(requests, 300);
});

test('reports a 500 with the smallest request that causes it', async (t) => {
  const { failures } = await fuzzItems(t, (response, sent) =>
    sent?.size === 3 ? { ...response, status: 500, body: problem(500, 'internal') } : response,
  );
  assert.equal(failures[0]?.error, 'POST /v1/items: 500 internal');
  assert.match(failures[0]?.curl ?? '', /--data-binary '\{"name":"a","size":3\}' "\$MUSTER"'\/v1\/items'$/);
});

for (const [what, change, expected] of [
  ['an undocumented status', { status: 202 }, /202 .*is not documented/],
  ['an undocumented field', { body: { name: 'a', more: 1 } }, /additional properties/],
  ['a missing field', { body: {} }, /required property 'name'/],
  ['a wrong content type', { headers: { 'content-type': 'text/plain' } }, /as text\/plain/],
  ['a missing Location', { headers: { 'content-type': 'application/json' } }, /Location undefined/],
  [
    'a version that does not match the ETag',
    { body: { name: 'a', version: 7 } },
    /the ETag undefined is not the version 7/,
  ],
] as const) {
  test(`reports ${what}`, async (t) => {
    const { failures } = await fuzzItems(t, (response) =>
      response.status === 201 ? { ...response, ...(change as Partial<TestResponse>) } : response,
    );
    assert.match(failures[0]?.error ?? '', expected);
  });
}

test('reports an error that is not problem+json or contains a different status', async (t) => {
  const plain = await fuzzItems(t, (response) =>
    response.status === 422 ? { ...response, headers: { 'content-type': 'application/json' } } : response,
  );
  assert.match(plain.failures[0]?.error ?? '', /instead of problem\+json/);
  const other = await fuzzItems(t, (response) =>
    response.status === 422 ? { ...response, body: problem(400, 'invalid_body') } : response,
  );
  assert.match(other.failures[0]?.error ?? '', /the problem's status is 400 in a response with status 422/);
});

test('reports a request that blocks the event loop', async (t) => {
  let isFirst = true;
  const { failures } = await fuzzItems(t, (response, sent) => {
    const isLarge = JSON.stringify(sent ?? '').length > 50_000;
    const { user: began } = process.threadCpuUsage();
    while (isLarge && isFirst && process.threadCpuUsage().user - began < 1_200_000);
    if (isLarge) isFirst = false;
    return response;
  });
  assert.match(failures[0]?.error ?? '', /blocks the event loop for \d{4} ms/);
});

test('reports an accepted invalid request and a rejected valid request', async (t) => {
  const lax = await fuzzItems(t, (response, sent) =>
    response.status === 422 && sent ? { ...response, ...created({ name: 'a' }) } : response,
  );
  assert.match(lax.failures[0]?.error ?? '', /201 for a request that the document does not allow/);
  const strict = await fuzzItems(t, (response, sent) =>
    sent?.size === 2 ? { ...response, ...rejected(400, 'malformed_request') } : response,
  );
  assert.match(
    strict.failures[0]?.error ?? '',
    /400 malformed_request for a request that the document allows/,
  );
});

test('reports different responses of two services', async (t) => {
  const right = await startItems(t, (response) => response);
  const wrong = await startItems(t, (response, sent) =>
    sent?.size === 1 && response.status === 201 ? { ...response, body: { name: 'b' } } : response,
  );
  const { failures } = await fuzz([right, wrong], options);
  assert.match(failures[0]?.error ?? '', /the bodies differ/);
});

test('throws for an unsupported schema keyword or format', () => {
  assert.throws(() => valuesOf({ type: 'string', not: {} } as object), /schema keyword not/);
  assert.throws(() => valuesOf({ type: 'string', format: 'hostname' }), /format hostname/);
});

test('parses RFC 4180 CSV and rejects anything else', () => {
  assert.deepEqual(parseCsv('a,b\r\n"x ""y"",\n",\r\n'), [
    ['a', 'b'],
    ['x "y",\n', ''],
  ]);
  assert.throws(() => parseCsv('a"b,c\r\n'), /not CSV/);
});

type TestResponse = { status: number; headers: Record<string, string>; body: unknown };
type Corrupt = (response: TestResponse, sent: { name?: unknown; size?: unknown } | undefined) => TestResponse;

const item = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', enum: ['a', 'b'] },
    size: { type: 'integer', minimum: 1, maximum: 3 },
  },
  additionalProperties: false,
};
const createdItem = { ...item, properties: { ...item.properties, version: { type: 'integer' } } };
const error = (...codes: string[]) => ({
  description: codes.map((code) => `\`${code}\``).join(' '),
  content: { 'application/problem+json': { schema: { type: 'object' } } },
});
const document = {
  paths: {
    '/v1/items': {
      post: {
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: item } } },
        responses: {
          201: { description: 'Created.', content: { 'application/json': { schema: createdItem } } },
          400: error('malformed_request', 'unknown_parameter'),
          422: error('invalid_body'),
        },
      },
    },
  },
};

/** A placeholder for the service's origin, whose port is known only after the start. */
const origin = 'http://origin';
const problem = (status: number, code: string) => ({
  type: `${origin}/problems/${code}`,
  title: code,
  status,
  detail: 'Send a different request.',
  code,
  request_id: '1',
});
const rejected = (status: number, code: string): TestResponse => ({
  status,
  headers: { 'content-type': 'application/problem+json', allow: 'OPTIONS, POST' },
  body: problem(status, code),
});
const created = (body: unknown): TestResponse => ({
  status: 201,
  headers: { 'content-type': 'application/json', location: `${origin}/v1/items/1` },
  body,
});

const options = { seed: 7, requests: 300, maxFailures: 1 };

const fuzzItems = async (t: TestContext, corrupt: Corrupt = (response) => response) =>
  fuzz([await startItems(t, corrupt)], options);

/** Starts a service with one operation; `corrupt` changes its responses. */
async function startItems(t: TestContext, corrupt: Corrupt) {
  const replays = new Set<string>();
  const port = () => (server.address() as AddressInfo).port;
  // Raises the header limit, so that long URLs get 404 instead of 431.
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const sent = await text(request);
    const isReplay = replays.has(`${request.headers['idempotency-key']} ${sent}`);
    if (request.headers['idempotency-key']) replays.add(`${request.headers['idempotency-key']} ${sent}`);
    const { status, headers, body } = corrupt(respond(request, sent), parsed(sent));
    const instance = request.url?.split('?')[0];
    const shown = status >= 400 ? { ...(body as object), instance } : body;
    const atOrigin = (text = '') => text.replaceAll(origin, `http://127.0.0.1:${port()}`);
    const replayed = isReplay && { 'idempotent-replayed': 'true' };
    response.writeHead(status, { ...JSON.parse(atOrigin(JSON.stringify(headers))), ...replayed });
    response.end(atOrigin(JSON.stringify(shown)));
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return {
    name: 'items',
    origin: `http://127.0.0.1:${port()}`,
    keys: { all: 'mst_x', ids: [], byScope: {}, revoked: '', expired: '' },
  };
}

function respond({ url = '', method }: IncomingMessage, sent: string): TestResponse {
  const json = { 'content-type': 'application/json' };
  const [path, query = ''] = url.replace(/^http:\/\/[^/]+/, '').split('?');
  if (path === '/v1/openapi.json') return { status: 200, headers: json, body: document };
  if (path === '/v1/items/1')
    return { status: 200, headers: { ...json, 'cache-control': 'private' }, body: {} };
  if (path !== '/v1/items') return rejected(404, 'not_found');
  if (method === 'OPTIONS') return { status: 204, headers: {}, body: undefined };
  if (method !== 'POST') return rejected(405, 'method_not_allowed');
  if (query !== '') return rejected(400, 'unknown_parameter');
  const value = parsed(sent);
  if (value === undefined) return rejected(400, 'malformed_request');
  return errorOf(item, value) ? rejected(422, 'invalid_body') : created(value);
}

function parsed(sent: string) {
  try {
    return JSON.parse(sent);
  } catch {
    return undefined;
  }
}
