import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { errorOf } from './document.ts';
import { parseCsv } from './oracle.ts';
import { fuzz } from './run.ts';
import { valuesOf } from './values.ts';

test('finds nothing wrong with a service that does what its document says', async (t) => {
  const { failures, requests } = await fuzzThings(t);
  assert.deepEqual(failures, []);
  assert.equal(requests, 300);
});

test('finds a 500, and the smallest request that leads to it', async (t) => {
  const { failures } = await fuzzThings(t, (answer, sent) =>
    sent?.size === 3 ? { ...answer, status: 500, body: problem(500, 'internal') } : answer,
  );
  assert.equal(failures[0]?.error, 'POST /v1/things: 500 internal');
  assert.match(failures[0]?.curl ?? '', /--data-binary '\{"name":"a","size":3\}' "\$MUSTER"'\/v1\/things'$/);
});

for (const [what, spoil, expected] of [
  ['a status that is not documented', { status: 202 }, /202 .*is not documented/],
  ['a field that is not documented', { body: { name: 'a', more: 1 } }, /additional properties/],
  ['a field that is missing', { body: {} }, /required property 'name'/],
  ['another type of content', { headers: { 'content-type': 'text/plain' } }, /as text\/plain/],
  ['no Location', { headers: { 'content-type': 'application/json' } }, /Location undefined/],
  [
    'a version that is not its ETag',
    { body: { name: 'a', version: 7 } },
    /the ETag undefined is not the version 7/,
  ],
] as const) {
  test(`finds ${what}`, async (t) => {
    const { failures } = await fuzzThings(t, (answer) =>
      answer.status === 201 ? { ...answer, ...(spoil as Partial<RequestHistogram>) } : answer,
    );
    assert.match(failures[0]?.error ?? '', expected);
  });
}

test('finds an error that is no problem+json, or tells another status', async (t) => {
  const plain = await fuzzThings(t, (answer) =>
    answer.status === 422 ? { ...answer, headers: { 'content-type': 'application/json' } } : answer,
  );
  assert.match(plain.failures[0]?.error ?? '', /instead of problem\+json/);
  const other = await fuzzThings(t, (answer) =>
    answer.status === 422 ? { ...answer, body: problem(400, 'invalid_body') } : answer,
  );
  assert.match(other.failures[0]?.error ?? '', /the problem's status is 400 in an answer 422/);
});

test('finds a request that holds the event loop', async (t) => {
  let isFirst = true;
  const { failures } = await fuzzThings(t, (answer, sent) => {
    const isLarge = JSON.stringify(sent ?? '').length > 50_000;
    const { user: began } = process.threadCpuUsage();
    while (isLarge && isFirst && process.threadCpuUsage().user - began < 1_200_000);
    if (isLarge) isFirst = false;
    return answer;
  });
  assert.match(failures[0]?.error ?? '', /holds the event loop for \d{4} ms/);
});

test('finds that what is not allowed is taken, and what is allowed is refused', async (t) => {
  const lax = await fuzzThings(t, (answer, sent) =>
    answer.status === 422 && sent ? { ...answer, ...made({ name: 'a' }) } : answer,
  );
  assert.match(lax.failures[0]?.error ?? '', /201 for what the document does not allow/);
  const strict = await fuzzThings(t, (answer, sent) =>
    sent?.size === 2 ? { ...answer, ...refused(400, 'malformed_request') } : answer,
  );
  assert.match(strict.failures[0]?.error ?? '', /400 malformed_request for what the document allows/);
});

test('finds that two services do not agree', async (t) => {
  const failures = await fuzzBoth(t, (answer, sent) =>
    sent?.size === 1 && answer.status === 201 ? { ...answer, body: { name: 'b' } } : answer,
  );
  assert.match(failures[0]?.error ?? '', /the bodies differ/);
});

test('knows no keyword that it does not honour', () => {
  assert.throws(() => valuesOf({ type: 'string', not: {} } as object), /schema keyword not/);
  assert.throws(() => valuesOf({ type: 'string', format: 'hostname' }), /format hostname/);
});

test('reads CSV as RFC 4180 has it, and nothing else', () => {
  assert.deepEqual(parseCsv('a,b\r\n"x ""y"",\n",\r\n'), [
    ['a', 'b'],
    ['x "y",\n', ''],
  ]);
  assert.throws(() => parseCsv('a"b,c\r\n'), /not CSV/);
});

type RequestHistogram = { status: number; headers: Record<string, string>; body: unknown };
type Spoil = (
  answer: RequestHistogram,
  sent: { name?: unknown; size?: unknown } | undefined,
) => RequestHistogram;

const thing = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', enum: ['a', 'b'] },
    size: { type: 'integer', minimum: 1, maximum: 3 },
  },
  additionalProperties: false,
};
const madeThing = { ...thing, properties: { ...thing.properties, version: { type: 'integer' } } };
const error = (...codes: string[]) => ({
  description: codes.map((code) => `\`${code}\``).join(' '),
  content: { 'application/problem+json': { schema: { type: 'object' } } },
});
const document = {
  paths: {
    '/v1/things': {
      post: {
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: thing } } },
        responses: {
          201: { description: 'Made.', content: { 'application/json': { schema: madeThing } } },
          400: error('malformed_request', 'unknown_parameter'),
          422: error('invalid_body'),
        },
      },
    },
  },
};

/** Stands for the address of the service, which is known only when it runs. */
const origin = 'http://origin';
const problem = (status: number, code: string) => ({
  type: `${origin}/problems/${code}`,
  title: code,
  status,
  detail: 'Do it in another way.',
  code,
  request_id: '1',
});
const refused = (status: number, code: string): RequestHistogram => ({
  status,
  headers: { 'content-type': 'application/problem+json', allow: 'OPTIONS, POST' },
  body: problem(status, code),
});
const made = (body: unknown): RequestHistogram => ({
  status: 201,
  headers: { 'content-type': 'application/json', location: `${origin}/v1/things/1` },
  body,
});

const fuzzThings = async (t: TestContext, spoil: Spoil = (answer) => answer) =>
  fuzz([await startThings(t, spoil)], { seed: 7, requests: 300, maxFailures: 1 });

async function fuzzBoth(t: TestContext, spoil: Spoil) {
  const right = await startThings(t, (answer) => answer);
  const wrong = await startThings(t, spoil);
  return (await fuzz([right, wrong], { seed: 7, requests: 300, maxFailures: 1 })).failures;
}

/** A service with one operation, which spoils some of its answers. */
async function startThings(t: TestContext, spoil: Spoil) {
  const replays = new Set<string>();
  const port = () => (server.address() as AddressInfo).port;
  // Large addresses get the answer of an address that is not there.
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const sent = await text(request);
    const isReplay = replays.has(`${request.headers['idempotency-key']} ${sent}`);
    if (request.headers['idempotency-key']) replays.add(`${request.headers['idempotency-key']} ${sent}`);
    const { status, headers, body } = spoil(answerOf(request, sent), parsed(sent));
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
    name: 'things',
    origin: `http://127.0.0.1:${port()}`,
    keys: { all: 'mst_x', id: '', byScope: {}, revoked: '', expired: '' },
  };
}

function answerOf({ url = '', method }: IncomingMessage, sent: string): RequestHistogram {
  const json = { 'content-type': 'application/json' };
  const [path, query = ''] = url.replace(/^http:\/\/[^/]+/, '').split('?');
  if (path === '/v1/openapi.json') return { status: 200, headers: json, body: document };
  if (path === '/v1/things/1')
    return { status: 200, headers: { ...json, 'cache-control': 'private' }, body: {} };
  if (path !== '/v1/things') return refused(404, 'not_found');
  if (method === 'OPTIONS') return { status: 204, headers: {}, body: undefined };
  if (method !== 'POST') return refused(405, 'method_not_allowed');
  if (query !== '') return refused(400, 'unknown_parameter');
  const value = parsed(sent);
  if (value === undefined) return refused(400, 'malformed_request');
  return errorOf(thing, value) ? refused(422, 'invalid_body') : made(value);
}

function parsed(sent: string) {
  try {
    return JSON.parse(sent);
  } catch {
    return undefined;
  }
}
