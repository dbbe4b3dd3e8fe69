import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stallEnvironment, takeStallMs } from '../../test/loop-stall.ts';
import { startMuster, temporaryFolder } from '../../test/process.ts';
import { startService } from '../commands/serve.ts';
import { readConfig } from '../config.ts';
import { problems } from '../core/errors.ts';
import type { App } from '../http/fastify.ts';
import { html, prose, siteAt } from './html.ts';
import { eventsOf, type OpenApi } from './openapi-document.ts';
import { exampleEvent, exampleValue } from './reference-examples.ts';

type Operation = { operationId: string };

const folder = mkdtempSync(join(tmpdir(), 'muster-pages-'));
const start = (name: string, settings: NodeJS.ProcessEnv = {}) =>
  startService(
    readConfig({ MUSTER_DATABASE_URL: `sqlite:${join(folder, name)}`, MUSTER_PORT: '0', ...settings }),
  );

let app: App;
let key: string;

before(async () => {
  const service = await start('pages.db');
  app = service.app;
  key = service.first?.key ?? '';
});

after(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

test('links, the console and the instance of an error have the base path', async (t) => {
  const behind = await start('behind.db', { MUSTER_BASE_URL: 'https://ops.example.com/api' });
  t.after(() => behind.app.close());
  const { port } = behind.app.server.address() as AddressInfo;
  const paths = ['/docs', '/problems', ...Object.keys(problems).map((code) => `/problems/${code}`)];
  const targets = new Set<string>();
  for (const path of paths) {
    for (const target of linksOn(await read(`http://127.0.0.1:${port}/api${path}`))) {
      targets.add(target.startsWith('#') ? `/api${path}${target}` : target);
    }
  }
  const texts = new Map<string, string>();
  for (const target of targets) {
    assert.match(target, /^\/api\//);
    const [path = '', fragment] = target.split('#');
    const text = texts.get(path) ?? (await read(`http://127.0.0.1:${port}${path}`));
    texts.set(path, text);
    assert.ok(!fragment || text.includes(` id="${fragment}"`), `nothing has the anchor of ${target}`);
  }
  assert.match(await read(`http://127.0.0.1:${port}/api/risks`), /<base href="\/api\/">/);
  for (const path of ['/api/v1/risks?limit=1', '/v1/risks']) {
    const { instance } = await (await fetch(`http://127.0.0.1:${port}${path}`)).json();
    assert.equal(instance, '/api/v1/risks');
  }
});

test('the examples are valid requests', async () => {
  const examples = await curlExamples();
  assert.equal(examples.length, (await operations()).length);
  // Deletions run last, so that the other examples find their resources.
  const isLast = ({ method, url }: { method: string; url: string }) =>
    method === 'DELETE' || url.endsWith('archive');
  const inOrder = [...examples.filter((one) => !isLast(one)), ...examples.filter(isLast)];
  for (const { text, method, url, type, body } of inOrder) {
    const isSession = /muster_session|\/v1\/(session|invitations)/.test(text);
    const headers = {
      ...(isSession ? { origin: app.baseUrl } : { authorization: `Bearer ${key}` }),
      ...(type && { 'content-type': type }),
    };
    const response = await fetch(url, { method, headers, ...(body && { body }) });
    await response.body?.cancel();
    // Ids, sessions and what one signs in with are fictitious, and a project with a risk cannot be deleted.
    // The risk model has no earlier version to return to.
    const isMany = url.endsWith('/members') || url.includes('/bulk/') || url.endsWith('/risk-model');
    const expected = isSession ? [401, 404, 422] : isMany ? [404, 422] : [404, 409];
    assert.ok(response.ok || expected.includes(response.status), `${response.status} to ${text}`);
  }
});

test('the examples of responses and webhook events match their schemas', async () => {
  const document = await (await fetch(`${app.baseUrl}/v1/openapi.json`)).json();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  const pointer = (...parts: string[]) =>
    `openapi#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
  let count = 0;
  const check = (value: unknown, ...parts: string[]) => {
    count++;
    assert.ok(ajv.validate(pointer(...parts), value), `${parts.join(' ')}: ${ajv.errorsText()}`);
  };
  for (const [path, methods] of Object.entries(document.paths as OpenApi['paths']))
    for (const [method, { responses }] of Object.entries(methods))
      for (const [status, response] of Object.entries(responses)) {
        if ('$ref' in response || Number(status) >= 400) continue;
        for (const [type, { schema }] of Object.entries(response.content ?? {}))
          if (schema && type.endsWith('json'))
            check(
              exampleValue(document, schema),
              'paths',
              path,
              method,
              'responses',
              status,
              'content',
              type,
              'schema',
            );
      }
  for (const event of eventsOf(document))
    check(
      exampleEvent(document, event),
      'webhooks',
      event.type,
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    );
  assert.ok(count > 150, `${count} examples`);
});

test('the first request for the reference does not block the event loop', async (t) => {
  const stalls: number[] = [];
  // The first request of each process would stall: other work of the machine makes some of them slow only.
  for (let round = 1; round <= 3; round++) {
    const service = await startMuster(t, temporaryFolder(t), stallEnvironment);
    await takeStallMs(service);
    await read(`${service.origin}/docs`);
    await read(`${service.origin}/v1/openapi.json`);
    stalls.push(await takeStallMs(service));
  }
  assert.ok(Math.min(...stalls) < 100, `${stalls} ms`);
});

test('an unknown error code is a problem response, not a page', async () => {
  for (const code of ['nonsense', 'constructor', '__proto__']) {
    const response = await fetch(`${app.baseUrl}/problems/${code}`);
    assert.equal(response.status, 404);
    assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
  }
});

test('a page has a strict content security policy and supports 304', async () => {
  const response = await fetch(`${app.baseUrl}/docs`);
  assert.match(
    response.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; script-src 'self'; style-src 'sha256-[\w+/]{43}='; font-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
  const again = await fetch(`${app.baseUrl}/docs`, {
    headers: { 'if-none-match': response.headers.get('etag') ?? '' },
  });
  assert.equal(again.status, 304);
});

test('the pages use the font of the console, below any base path', async () => {
  const page = await read(`${app.baseUrl}/docs`);
  const urls = [...page.matchAll(/url\((\/assets\/[^)]+\.woff2)\)/g)].map(([, url]) => url);
  assert.equal(urls.length, 2);
  for (const url of urls) {
    const response = await fetch(`${app.baseUrl}${url}`);
    assert.equal(response.headers.get('content-type'), 'font/woff2');
    assert.equal(Buffer.from(await response.arrayBuffer()).toString('latin1', 0, 4), 'wOF2');
  }
  assert.match(
    siteAt('https://example.com/risk', '@font-face{src:url(./a.woff2)}').style,
    /url\(\/risk\/assets\/a\.woff2\)/,
  );
});

test('the console is the same page at all of its paths, with a strict content security policy', async () => {
  const page = await read(`${app.baseUrl}/`);
  assert.match(page, /<base href="\/">/);
  for (const path of [
    '/overview',
    '/risks',
    '/risks/APOLLO-R7?x=1',
    '/issues/APOLLO-I3',
    '/personnel/usr_1',
    '/groups',
    '/report',
    '/reports/rpt_1',
    '/keys',
    '/sign-in?problem=expired',
    '/invitation',
    '/set-up',
    '/account',
    '/access',
    '/audit',
  ]) {
    const response = await fetch(`${app.baseUrl}${path}`);
    assert.equal(await response.text(), page);
    assert.equal(response.headers.get('cache-control'), 'no-cache');
    assert.equal(
      response.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
        "connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    );
  }
  for (const path of ['/nothing', '/v1/nothing', '/risks/a/b']) {
    const response = await fetch(`${app.baseUrl}${path}`);
    assert.equal(response.status, 404);
    assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
  }
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const path of ['/nothing', '/risks/a/b']) {
    const response = await fetch(`${app.baseUrl}${path}`, { headers: { accept } });
    assert.equal(response.status, 404);
    assert.equal(await response.text(), page);
  }
  const inApi = await fetch(`${app.baseUrl}/v1/nothing`, { headers: { accept } });
  assert.match(inApi.headers.get('content-type') ?? '', /^application\/problem\+json/);
});

test('console files are compressed and immutable', async () => {
  const [, script = ''] = /src="\.(\/assets\/[^"]+\.js)"/.exec(await read(`${app.baseUrl}/`)) ?? [];
  const as = (encoding: string) =>
    fetch(`${app.baseUrl}${script}`, { headers: { 'accept-encoding': encoding } });
  const plain = await as('identity');
  assert.equal(plain.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  const text = await plain.text();
  for (const encoding of ['br', 'gzip']) {
    const response = await as(encoding);
    assert.equal(response.headers.get('content-encoding'), encoding);
    assert.equal(await response.text(), text);
  }
  for (const [accepted, expected] of [
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0', null],
    ['br;q=0.5, gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
  ] as const) {
    const response = await as(accepted);
    assert.equal(response.headers.get('content-encoding'), expected, accepted);
    assert.equal(await response.text(), text);
  }
  for (const name of ['nothing.js', '..%2Findex.html', '..%2F..%2F..%2Fpackage.json', 'index.html']) {
    assert.equal((await fetch(`${app.baseUrl}/assets/${name}`)).status, 404);
  }
});

test('templates escape everything except markup', () => {
  const { markup } =
    html`<p title="${'"'}">${"<b> & '"}${[html`<i>`, 1, '<']}${undefined}${false}${prose('a `<c>` d')}</p>`;
  assert.equal(markup, '<p title="&#34;">&#60;b&#62; &#38; &#39;<i>1&#60;a <code>&#60;c&#62;</code> d</p>');
});

async function operations(): Promise<Operation[]> {
  const { paths } = await (await fetch(`${app.baseUrl}/v1/openapi.json`)).json();
  return Object.values(paths).flatMap((methods) => Object.values(methods as Record<string, Operation>));
}

async function read(url: string): Promise<string> {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return response.text();
}

const linksOn = (text: string) =>
  Array.from(text.matchAll(/<a [^>]*href="([^"]*)"/g), ([, target = '']) => target);

async function curlExamples() {
  const text = await read(`${app.baseUrl}/docs`);
  return Array.from(text.matchAll(/<pre class="once"><code>(.*?)<\/code>/gs), ([, markup = '']) => {
    const command = textOf(markup);
    const [, url = ''] = /curl.*? '([^']+)'/.exec(command) ?? [];
    const [, type] = /-H 'Content-Type: ([^']+)'/.exec(command) ?? [];
    const [, json] = /-d '(.*)'$/s.exec(command) ?? [];
    const body = command.endsWith('--data-binary @file')
      ? 'name,project\nExample,Apollo\n'
      : json?.replaceAll("'\\''", "'");
    const [, method = body ? 'POST' : 'GET'] = /-X (\w+)/.exec(command) ?? [];
    return { text: command, method, url, type, body };
  });
}

const textOf = (markup: string) =>
  markup.replace(/<[^>]+>/g, '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
