import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw } from '../../../test/raw-http.ts';
import { onSqlite, pluck, withKey } from '../../../test/service.ts';

onSqlite('strictness', (start) => {
  test('explains why a body cannot be parsed', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const post = async (body: string | Uint8Array, type = 'application/json') => {
      const response = await service.post('/v1/personnel', key, body, { 'content-type': type });
      assert.equal(response.headers.get('content-type')?.split(';')[0], 'application/problem+json');
      assert.equal(response.body.status, response.status);
      assert.equal(response.body.type, `${service.origin}/problems/${response.body.code}`);
      assert.ok(response.body.request_id);
      return `${response.status} ${response.body.code}`;
    };
    assert.equal(await post('{"name": '), '400 malformed_request');
    assert.equal(await post(''), '422 invalid_body');
    assert.equal(await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])), '400 malformed_request');
    assert.equal(await post('{"name":"x","__proto__":{"a":1}}'), '400 malformed_request');
    assert.equal(await post('{"name":"x","constructor":{"prototype":{}}}'), '400 malformed_request');
    assert.equal(
      await post(`{"name":"x","attributes":${'['.repeat(30)}${']'.repeat(30)}}`),
      '400 malformed_request',
    );
    assert.equal(await post(`${'['.repeat(50_000)}`), '400 malformed_request');
    assert.equal(await post('name=x', 'application/x-www-form-urlencoded'), '415 unsupported_media_type');
    assert.equal(await post('{"name":"x"}', 'text/plain'), '415 unsupported_media_type');
    assert.equal(await post(JSON.stringify({ name: 'x'.repeat(1024 * 1024) })), '413 too_large');
    assert.equal(await post('[]'), '422 invalid_body');
    assert.equal(await post('null'), '422 invalid_body');
    assert.equal(await post('"Ada"'), '422 invalid_body');
  });

  test('rejects a charset other than UTF-8, whose text would be read wrongly', async (t) => {
    const { service, key } = await withKey(start(t));
    const post = (path: string, type: string, body: string | Uint8Array) =>
      service.post(path, key, body, { 'content-type': type });
    for (const charset of ['iso-8859-1', 'ISO-8859-1', '"windows-1252"', 'utf-16', 'us-ascii', 'nothing']) {
      const response = await post(
        '/v1/personnel',
        `application/json; charset=${charset}`,
        Buffer.from('{"name":"Zo\u00eb"}', 'latin1'),
      );
      assert.deepEqual([response.status, response.body.code], [415, 'unsupported_media_type'], charset);
      assert.match(
        response.body.detail,
        /^The charset “[\w-]+” is not supported\. Send JSON encoded as UTF-8\.$/,
      );
    }
    const lines = await post(
      '/v1/personnel/import',
      'application/x-ndjson; charset=latin1',
      '{"name":"Ada"}\n',
    );
    assert.deepEqual([lines.status, lines.body.code], [415, 'unsupported_media_type']);
    assert.match(lines.body.detail, /Send NDJSON encoded as UTF-8/);
    assert.equal((await service.get('/v1/personnel', key)).body.data.length, 0);
    for (const charset of ['utf-8', 'UTF-8', '"utf8"'])
      assert.equal(
        (await post('/v1/personnel', `application/json;charset=${charset}`, '{"name":"Zo\u00eb"}')).status,
        201,
        charset,
      );
    // The charset of a CSV file is honored.
    const file = Buffer.from('name\nZo\u00eb\n', 'latin1');
    assert.equal((await post('/v1/personnel/import', 'text/csv; charset="Windows-1252"', file)).status, 200);
    const data = await service.list('/v1/personnel', key);
    assert.deepEqual(pluck(data, 'name'), Array(4).fill('Zo\u00eb'));
  });

  test('a required text without anything visible is empty, in JSON and in files', async (t) => {
    const { service, key } = await withKey(start(t));
    const project = await service.make('/v1/projects', key, { name: 'Apollo' });
    const at = (path: string) => `/v1/projects/${project.id}/${path}`;
    for (const blank of ['\u200b', ' \u200e\u00ad ', '\u3164', '\u2800', '\ufe0f', '\u{e0020}']) {
      for (const [path, body] of [
        ['/v1/personnel', { name: blank }],
        ['/v1/groups', { name: blank }],
        ['/v1/projects', { name: blank, key: 'BLANK' }],
        [at('risks'), { title: blank }],
        [at('issues'), { title: blank }],
        [at('tasks'), { title: blank }],
        [at('comments'), { body: blank }],
        ['/v1/views', { list: 'risks', name: blank, query: '' }],
      ] as const) {
        const { status, body: problem } = await service.post(path, key, body);
        assert.deepEqual([status, problem.code], [422, 'invalid_body'], path);
        assert.match(problem.errors[0].pointer, /^#\/(name|title|body)$/);
        assert.match(problem.detail, /^This must not be empty/);
      }
      const csv = await service.upload('/v1/personnel/import', key, `name,email\n"${blank}",a@example.com\n`);
      assert.deepEqual([csv.body.summary.failed, csv.body.summary.created], [1, 0], csv.text);
      const search = await service.get(`/v1/personnel?q=${encodeURIComponent(blank)}`, key);
      assert.deepEqual([search.status, search.body.code], [400, 'invalid_parameter']);
    }
    for (const path of [
      '/v1/personnel',
      '/v1/groups',
      at('risks'),
      at('issues'),
      at('tasks'),
      '/v1/views?list=risks',
    ])
      assert.deepEqual(await service.list(path, key), [], path);
    assert.equal((await service.get('/v1/projects', key)).body.data.length, 1);
    // Invisible characters within a text have a meaning, as in this emoji.
    assert.equal((await service.make('/v1/personnel', key, { name: '👩‍🚀' })).name, '👩‍🚀');
  });

  test('distinguishes invalid JSON from forbidden member names', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const detail = async (body: string) => (await service.post('/v1/personnel', key, body)).body.detail;
    assert.match(await detail('{"name": }'), /^The body is not valid JSON: Unexpected token '}'/);
    const named = /^A member of the body is named `__proto__`/;
    assert.match(await detail('{"name":"x","attributes":{"__proto__":"y"}}'), named);
    assert.match(await detail('{"name":"x","constructor":{"prototype":{}}}'), named);
  });

  test('rejects an object with a member twice, wherever it is', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [body, name] of [
      ['{"name":"x","name":"y"}', 'name'],
      ['{"name":"x","n\\u0061me" : "y"}', 'name'],
      ['{"name":"x","attributes":{"a":"1","b":"{\\"c\\":","a":"2"}}', 'a'],
      [`{"name":"x","skills":["${'\\\\'.repeat(40)}"],"skills":[]}`, 'skills'],
      [`{"description":"${'"name":'.replaceAll('"', '\\"').repeat(20_000)}","name":"x","name":"x"}`, 'name'],
    ] as const) {
      const response = await service.post('/v1/personnel', key, body);
      assert.deepEqual([response.status, response.body.code], [400, 'malformed_request'], body.slice(0, 99));
      assert.ok(response.body.detail.includes(`the member “${name}” twice`), response.body.detail);
    }
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, 0);
    const attributes = { 'a:': '"a":"b","a":', 'b\\': '\\":\\', '"': ':', c: '\\' };
    const made = await service.make('/v1/personnel', key, { name: 'Ada', skills: ['":', ':'], attributes });
    assert.deepEqual([made.attributes, made.skills], [attributes, ['":', ':']]);
  });

  test('reports all errors of a body at once, each with a pointer and what to do', async (t) => {
    const service = await start(t);
    const response = await service.post('/v1/personnel', await service.key('personnel.manage'), {
      nmae: 'Ada',
      email: 'not an address',
      kind: 'robot',
      skills: ['a', 'a', 5],
      start_on: '2026-02-30',
      time_zone: 'Mars/Olympus',
      version: 7,
      attributes: { a: 1 },
      title: '',
      phone: 'a\nb',
    });
    assert.equal(response.status, 422);
    const errors = Object.fromEntries(pluck(response.body.errors, 'pointer', 'detail'));
    assert.deepEqual(Object.keys(errors).sort(), [
      '#/attributes/a',
      '#/email',
      '#/kind',
      '#/name',
      '#/nmae',
      '#/phone',
      '#/skills',
      '#/skills/2',
      '#/start_on',
      '#/time_zone',
      '#/title',
      '#/version',
    ]);
    assert.match(errors['#/nmae'], /Did you mean `name`\?/);
    assert.match(errors['#/version'], /set by the service/);
    assert.match(errors['#/kind'], /"human"/);
  });

  test('finds errors in known fields among many unknown fields', async (t) => {
    const { service, key } = await withKey(start(t));
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, 1]));
    for (const body of [
      { ...many, name: 'x', status: 'bogus' },
      { ...many, name: { a: 1 } },
      { ...many, name: 'x' },
    ]) {
      const response = await service.post('/v1/projects', key, body);
      assert.equal(response.status, 422);
      assert.ok(response.body.errors.length > 0 && response.body.errors.length <= 100);
    }
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const patch = await service.patch('/v1/projects/APOLLO', key, {
      ...many,
      version: 7,
      key: 'ZEUS',
    });
    assert.equal(patch.status, 422);
    const skills = Array.from({ length: 3000 }, (_, i) => i);
    assert.equal((await service.post('/v1/personnel', key, { name: 'x', skills })).status, 422);
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, 0);
  });

  test('rejects more values than any body needs before it parses them', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const body of [
      `[${'1,'.repeat(10_000)}1]`,
      `{"scopes":[${'"keys.read",'.repeat(60_000)}"x"]}`,
      `{${Array.from({ length: 12_000 }, (_, i) => `"f${i}":1`).join(',')}}`,
    ]) {
      const response = await service.post('/v1/keys', key, body);
      assert.deepEqual([response.status, response.body.code], [413, 'too_large']);
      assert.match(response.body.detail, /more than 10000 values/);
    }
    const description = `,[]{}"\\`.repeat(1200);
    const created = await service.make('/v1/projects', key, {
      name: 'x',
      description,
      attributes: { a: description },
    });
    assert.equal(created.description, description, 'commas inside a text do not count');
    const skills = Array(9000).fill('x');
    const response = await service.post('/v1/personnel', key, { name: 'x', skills });
    assert.deepEqual(pluck(response.body.errors, 'code'), ['maxItems', 'uniqueItems']);
  });

  test('lists the first 100 errors without duplicates, and reports the total', async (t) => {
    const { service, key } = await withKey(start(t));
    const unknown = Array.from({ length: 3000 }, (_, i) => `x${i}`);
    const query = await service.get(`/v1/risks?${unknown.slice(0, 2000).join('&')}`, key);
    assert.equal(query.status, 400);
    assert.match(
      query.body.detail,
      /^There are 2000 errors\. `errors` lists the first 100, .*\. Allowed are project,/,
    );
    assert.equal(query.body.errors.length, 100);
    assert.doesNotMatch(JSON.stringify(query.body.errors), /Allowed are/);
    const body = Object.fromEntries(unknown.map((name) => [name, 1]));
    const posted = await service.post('/v1/personnel', key, { name: 'x', ...body });
    assert.match(
      posted.body.detail,
      /^There are 3000 errors\. `errors` lists the first 100, .*\. Its fields are name,/,
    );
    assert.equal(posted.body.errors.length, 100);
    const texts = await service.post('/v1/personnel', key, {
      attributes: Object.fromEntries(unknown.map((name) => [name, '\u0000'])),
    });
    assert.match(texts.body.detail, /`errors` lists the first 100 of 3000\./);
    const values = await service.get(`/v1/risks?check=${Array(400).fill('x').join(',')}`, key);
    assert.equal(values.body.errors.length, 1, 'the same error of the same parameter is listed once');
    for (const { text } of [query, posted, texts, values])
      assert.ok(text.length < 20_000, String(text.length));

    const name = 'n'.repeat(5000);
    const [long] = (await service.get(`/v1/risks?${name}=1`, key)).body.errors;
    assert.equal(long.parameter, `${'n'.repeat(100)}…`);
    const { text } = await service.post('/v1/personnel', key, { name: 'x', [name]: 1 });
    assert.ok(text.length < 2000, String(text.length));
    assert.ok((await service.get(`/v1/${name}`, key)).body.detail.length < 400);
  });

  test('distinguishes a null body from a missing body', async (t) => {
    const { service, key } = await withKey(start(t));
    const { id, version } = await service.make('/v1/keys', key, { name: 'x', scopes: ['keys.read'] });
    const rotated = await service.post(`/v1/keys/${id}/rotate`, key, 'null');
    assert.deepEqual([rotated.status, rotated.body.errors[0].code], [422, 'type']);
    assert.equal((await service.get(`/v1/keys/${id}`, key)).body.version, version);
  });

  test('accepts an empty body if nothing is required, and only valid years in dates', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const json = { 'content-type': 'application/json' };
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const risk = '/v1/projects/APOLLO/risks/APOLLO-R1';
    assert.equal((await service.call('POST', `${risk}/materialize`, key, undefined, json)).status, 201);
    assert.equal(
      (await service.call('POST', '/v1/projects/APOLLO/archive', key, undefined, json)).status,
      200,
    );
    assert.equal((await service.call('POST', '/v1/projects/APOLLO/unarchive', key)).status, 200);
    for (const raised_on of ['0000-01-01', '2026-02-30', '2999-01-01', '10000-01-01']) {
      const response = await service.post('/v1/projects/APOLLO/issues', key, { title: 'x', raised_on });
      assert.equal(response.status, 422, raised_on);
    }
    for (const query of [
      'q=%CC%81',
      'updated_since=9999-12-31T23:59:59-23:59',
      'updated_since=2026-02-30T00:00:00Z',
    ]) {
      assert.equal((await service.get(`/v1/risks?${query}`, key)).status, 400, query);
    }
  });

  test('accepts only complete http and https URLs', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const post = (source_url: string) =>
      service.post('/v1/projects/APOLLO/risks', key, { title: 'x', source_url });
    for (const source_url of ['http://', 'https://?', 'http:// x', 'https://[::1', 'ftp://example.com/']) {
      const { status, body } = await post(source_url);
      assert.deepEqual([status, body.errors[0].pointer], [422, '#/source_url'], source_url);
    }
    assert.equal((await post('https://example.com/a?b=c#d')).status, 201);
  });

  test('rejects NUL, control characters and broken Unicode in text', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    for (const bad of ['a\u0000b', 'a\u0007', '\u009b', '\ud800', `a${'\u0301\u0323'.repeat(100)}`]) {
      const response = await service.post('/v1/personnel', key, { name: bad });
      assert.equal(response.status, 422, JSON.stringify(bad));
      assert.equal(response.body.errors[0].code, 'forbidden_characters');
      const inKey = await service.post('/v1/personnel', key, { name: 'x', attributes: { [bad]: 'x' } });
      assert.equal(inKey.status, 422);
    }
    const created = await service.make('/v1/personnel', key, {
      name: 'e\u0301',
      attributes: { note: 'a\n\tb' },
    });
    assert.deepEqual([created.name, created.attributes.note], ['\u00e9', 'a\n\tb']);
  });

  test('a list parameter accepts commas, repetition and brackets', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const query of [
      'status=active,inactive',
      'status=active&status=inactive',
      'status[]=active&status[]=inactive',
      'status%5B%5D=active&status=inactive',
    ]) {
      const { status, body } = await service.get(`/v1/personnel?${query}`, key);
      assert.deepEqual([status, body.meta?.filters.status], [200, ['active', 'inactive']], query);
    }
    // Far more values than a request has parameters.
    const many = 'status=active&'.repeat(400);
    assert.equal((await service.get(`/v1/personnel?${many}`, key)).status, 200);
    const tooMany = Array.from({ length: 150 }, (_, i) => `x${i}=1`).join('&');
    assert.equal((await service.get(`/v1/personnel?${tooMany}`, key)).body.code, 'unknown_parameter');
  });

  test('rejects unknown, repeated, empty and badly encoded query parameters', async (t) => {
    const { service, key } = await withKey(start(t));
    const get = async (query: string, path = '/v1/personnel') => {
      const { status, body } = await service.get(`${path}?${query}`, key);
      return [status, body.code, body.errors?.[0]?.parameter];
    };
    assert.deepEqual(await get('limt=5'), [400, 'unknown_parameter', 'limt']);
    assert.deepEqual(await get('limit=5&limit=6'), [400, 'invalid_parameter', 'limit']);
    assert.deepEqual(await get('q='), [400, 'invalid_parameter', 'q']);
    assert.deepEqual(await get('q=%ff'), [400, 'invalid_parameter', 'q']);
    assert.deepEqual(await get('q=%00'), [400, 'invalid_parameter', 'q']);
    assert.deepEqual(await get('q=%zz'), [400, 'invalid_parameter', 'q']);
    assert.deepEqual(await get('__proto__=1'), [400, 'unknown_parameter', '__proto__']);
    assert.deepEqual(await get('status=active&status=nope'), [400, 'invalid_parameter', 'status']);
    assert.deepEqual(await get('status=active&status='), [400, 'invalid_parameter', 'status']);
    assert.deepEqual(await get('limit[]=5'), [400, 'unknown_parameter', 'limit[]']);
    assert.deepEqual(await get('nope[]=5'), [400, 'unknown_parameter', 'nope[]']);
    assert.deepEqual(await get('status=,'), [400, 'invalid_parameter', 'status']);
    assert.deepEqual(await get('x=1', '/v1/me'), [400, 'unknown_parameter', 'x']);
    assert.deepEqual(await get('updated_since=2026-12-31T23:59:60Z'), [
      400,
      'invalid_parameter',
      'updated_since',
    ]);
    for (const limit of [
      '0',
      '1001',
      '-1',
      '1e3',
      '%201',
      '+1',
      '01',
      '1.0',
      'ten',
      '0x10',
      '9'.repeat(30),
    ]) {
      assert.deepEqual(await get(`limit=${limit}`), [400, 'invalid_parameter', 'limit'], limit);
    }
    const { body } = await service.get('/v1/personnel?limt=5', key);
    assert.match(body.detail, /Did you mean `limit`\? Allowed are q, status/);
    const unknownPost = await service.post('/v1/personnel?dry=1', key, { name: 'x' });
    assert.equal(unknownPost.body.code, 'unknown_parameter');
  });

  test('returns 404 for unknown paths and 405 for unsupported methods', async (t) => {
    const { service, key } = await withKey(start(t));
    assert.equal((await service.get('/v2/risks', key)).body.code, 'not_found');
    assert.equal((await service.get('/v1/risks/', key)).status, 404);
    assert.equal((await service.get('/v1/groups/%zz', key)).body.code, 'malformed_request');
    assert.equal((await service.get(`/v1/groups/${'x'.repeat(500)}`, key)).body.code, 'uri_too_long');
    for (const path of ['/v1/risks', '/v1/issues']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const response = await service.call(method, path, key);
        assert.deepEqual([response.status, response.body.code], [405, 'method_not_allowed']);
        assert.equal(response.headers.get('allow'), 'GET, HEAD, OPTIONS');
      }
    }
    for (const path of ['/v1/personnel/import', '/v1/projects/APOLLO/risks/import?a=b']) {
      for (const method of ['GET', 'PATCH', 'DELETE', 'PURGE']) {
        const { status, headers } = await service.call(method, path);
        assert.deepEqual([status, headers.get('allow')], [405, 'OPTIONS, POST'], `${method} ${path}`);
      }
    }
    const options = await service.call('OPTIONS', '/v1/personnel');
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS, POST']);
  });

  test('names the URL under the project for a write to a read-only view across projects', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { MUSTER_BASE_URL: 'https://ops.example.com/muster' } }),
    );
    const id = 'rsk_01jd3k9m5vqs8h2n6r4t0c7e1b';
    const expected = {
      'PATCH /v1/risks/APOLLO-R7': 'APOLLO/risks/APOLLO-R7, which supports DELETE, PATCH.',
      'PUT /v1/issues/apollo-i12': 'APOLLO/issues/APOLLO-I12, which supports DELETE, PATCH.',
      'DELETE /v1/tasks/Apollo-t1': 'APOLLO/tasks/APOLLO-T1, which supports DELETE, PATCH.',
      [`PATCH /v1/risks/${id}`]: `{project_id}/risks/${id}, which supports DELETE, PATCH.`,
      'POST /v1/risks': '{project_id}/risks, which supports POST.',
    };
    for (const [line, url] of Object.entries(expected)) {
      const [method = '', path = ''] = line.split(' ');
      const { status, headers, body } = await service.call(method, path, key, { title: 'x' });
      assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD, OPTIONS'], line);
      assert.equal(
        body.detail,
        `${path} does not support ${method}. It supports GET, HEAD, OPTIONS. ` +
          `Writes go to https://ops.example.com/muster/v1/projects/${url}`,
      );
    }
    // None of these names an item of this kind.
    for (const path of ['/v1/risks/summary', '/v1/risks/APOLLO-I7', '/v1/me']) {
      const { status, body } = await service.patch(path, key, { title: 'x' });
      assert.equal(status, 405);
      assert.doesNotMatch(body.detail, /Writes go to/, path);
    }
  });

  test('returns a problem document for invalid HTTP, and 414 or 431 for oversized requests', async (t) => {
    const service = await start(t);
    assert.match(
      await sendRaw(service.origin, 'NONSENSE\r\n\r\n'),
      /^HTTP\/1\.1 400 .*"code":"malformed_request"/s,
    );
    const large = `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`;
    assert.match(await sendRaw(service.origin, large), /^HTTP\/1\.1 431 .*"code":"headers_too_large"/s);
    const long = `GET /v1/risks?q=${'y'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`;
    assert.match(await sendRaw(service.origin, long), /^HTTP\/1\.1 414 .*"code":"uri_too_long"/s);
  });

  test('ignores an unknown Expect header', async (t) => {
    const { origin } = await start(t);
    const request = 'GET /livez HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n';
    assert.match(await sendRaw(origin, request), /^HTTP\/1\.1 200 .*\{"status":"ok"\}/s);
  });
});
