import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw } from '../../../test/raw-http.ts';
import { onSqlite, withKey } from '../../../test/service.ts';
import { requestIdOf, traceIdOf } from '../request/request-ids.ts';

const origin = 'https://console.example.com';

onSqlite('headers', (start) => {
  test('every response has security headers and reveals no software', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_BASE_URL: 'https://ops.example.com' } }),
    );
    const paths = [
      '/v1/risks',
      '/v1/me',
      '/v1/nothing',
      '/v1/groups/%zz',
      '/livez',
      '/docs',
      '/v1/openapi.json',
    ];
    for (const path of paths) {
      const { headers } = await service.get(path, key);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path);
      assert.match(
        headers.get('content-security-policy') ?? '',
        /default-src 'none'.*frame-ancestors 'none'/,
        path,
      );
      assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', path);
      assert.match(headers.get('vary') ?? '', /accept-encoding/, path);
      assert.ok(headers.get('x-request-id'), path);
      for (const banner of ['server', 'x-powered-by', 'via']) assert.equal(headers.get(banner), null, path);
      assert.equal(headers.get('access-control-allow-origin'), null, path);
    }
    const broken = await sendRaw(service.origin, 'NONSENSE\r\n\r\n');
    assert.match(broken, /x-content-type-options: nosniff\r\n/);
    assert.match(broken, /"request_id":"[0-9a-f-]{36}"/);
  });

  test('links contain the path of the base URL, and requests work with and without it', async (t) => {
    const base = 'https://ops.example.com/api';
    const { service, key } = await withKey(start(t, { environment: { MUSTER_BASE_URL: base } }));
    for (const prefix of ['', '/api']) {
      const created = await service.post(`${prefix}/v1/groups`, key, { name: `Group ${prefix}` });
      assert.equal(created.headers.get('location'), `${base}/v1/groups/${created.body.id}`);
      const missing = await service.get(`${prefix}/v1/groups/none`, key);
      assert.equal(missing.body.type, `${base}/problems/not_found`);
    }
    const page = await service.get('/api/v1/groups?limit=1', key);
    assert.ok(page.headers.get('link')?.startsWith(`<${base}/v1/groups?limit=1&cursor=`), page.text);
    assert.equal((await service.get('/apiv1/groups', key)).status, 404);
    for (const path of ['/api', '/api/', '/api?x=1', '/api/?x=1'])
      assert.equal((await service.get(path)).status, 200, path);
    assert.equal((await service.get('/apix?x=1')).status, 404);
  });

  test('a response that depends on the accepted formats says so', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [path, accept, type] of [
      ['/nothing', 'text/html', /text\/html|problem/],
      ['/nothing', '*/*', /problem\+json/],
      ['/v1/groups', 'text/csv', /text\/csv/],
    ] as const) {
      const { headers } = await service.get(path, key, { accept });
      assert.match(headers.get('content-type') ?? '', type, path);
      assert.match(headers.get('vary') ?? '', /\baccept(,|$)/, path);
    }
  });

  test('HSTS is sent only if the base URL is HTTPS', async (t) => {
    const service = await start(t);
    assert.equal((await service.get('/livez')).headers.get('strict-transport-security'), null);
  });

  test('CORS allows only the configured origins, and never credentials', async (t) => {
    const { service, key } = await withKey(
      start(t, {
        environment: { MUSTER_CORS_ORIGINS: `${origin}, http://localhost:5173` },
      }),
    );
    for (const path of ['/v1/risks', '/v1/nothing', '/v1/groups/%zz']) {
      const { headers } = await service.get(path, key, { origin });
      assert.equal(headers.get('access-control-allow-origin'), origin, path);
      assert.equal(headers.get('access-control-allow-credentials'), null);
      assert.match(headers.get('vary') ?? '', /\borigin\b/);
      for (const name of ['etag', 'link', 'location', 'ratelimit', 'ratelimit-policy', 'retry-after'])
        assert.ok(headers.get('access-control-expose-headers')?.split(', ').includes(name), name);
    }
    for (const other of ['https://evil.example', `${origin}.evil.example`, 'null', origin.toUpperCase()]) {
      const { headers, status } = await service.get('/v1/risks', key, { origin: other });
      assert.equal(status, 200);
      assert.equal(headers.get('access-control-allow-origin'), null, other);
      assert.match(headers.get('vary') ?? '', /\borigin\b/);
    }
  });

  test('a preflight response lists the allowed methods and headers', async (t) => {
    const service = await start(t, { environment: { MUSTER_CORS_ORIGINS: origin } });
    const preflight = (path: string, from: string) =>
      service.call('OPTIONS', path, undefined, undefined, {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      });
    const { status, headers, text } = await preflight('/v1/personnel', origin);
    assert.equal(status, 204);
    assert.equal(text, '');
    assert.equal(headers.get('access-control-allow-origin'), origin);
    assert.equal(headers.get('access-control-allow-methods'), 'GET, HEAD, OPTIONS, POST');
    for (const name of ['authorization', 'content-type', 'if-match', 'if-none-match', 'idempotency-key'])
      assert.ok(headers.get('access-control-allow-headers')?.split(', ').includes(name), name);
    assert.ok(Number(headers.get('access-control-max-age')) > 0);
    assert.equal(headers.get('access-control-allow-credentials'), null);

    const other = await preflight('/v1/personnel', 'https://evil.example');
    for (const name of ['origin', 'methods', 'headers'])
      assert.equal(other.headers.get(`access-control-allow-${name}`), null);
    assert.equal((await preflight('/v1/nothing', origin)).status, 404);
  });

  test('an asterisk allows all origins', async (t) => {
    const service = await start(t, { environment: { MUSTER_CORS_ORIGINS: '*' } });
    const { headers } = await service.get('/v1/risks', await service.key(), { origin });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('access-control-allow-credentials'), null);
    assert.doesNotMatch(headers.get('vary') ?? '', /origin/);
  });

  test('a valid request id is returned in the response header and in problem documents', async (t) => {
    const service = await start(t);
    const ask = (id: string) => service.get('/v1/nothing', undefined, { 'x-request-id': id });
    const kept = await ask('01HX:a/b+c=d~e_f.g-h');
    assert.equal(kept.headers.get('x-request-id'), '01HX:a/b+c=d~e_f.g-h');
    assert.equal(kept.body.request_id, '01HX:a/b+c=d~e_f.g-h');
    for (const strange of ['', 'a b', 'a"b', 'x'.repeat(129), '{}', 'a, b', '<script>']) {
      const { headers, body } = await ask(strange);
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, strange);
      assert.equal(body.request_id, headers.get('x-request-id'));
    }
  });
});

test('an API key sent as a request id is replaced', () => {
  const id = `mst_${'a'.repeat(38)}`;
  assert.notEqual(requestIdOf({ 'x-request-id': id }), id);
});

test('request ids are not predictable', () => {
  const ids = Array.from({ length: 100 }, () => requestIdOf({}));
  assert.equal(new Set(ids.map((id) => id.slice(0, 8))).size, 100);
  assert.equal(new Set(ids.map((id) => id.slice(-12))).size, 100);
});

test('reads valid trace ids, and ignores invalid ones', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';
  const traceOf = (traceparent?: string) => traceIdOf(traceparent === undefined ? {} : { traceparent });
  assert.equal(traceOf(`00-${trace}-${parent}-01`), trace);
  assert.equal(traceOf(`cc-${trace}-${parent}-01-what-a-later-version-adds`), trace);
  for (const invalid of [
    undefined,
    '',
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}0-${parent}-01`,
    `00-${trace}-${parent}-1`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
  ])
    assert.equal(traceOf(invalid), undefined, String(invalid));
});
