import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fillPeople } from '../../../test/people.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { onSqlite, pluck, withKey } from '../../../test/service.ts';

const smuggled = 'GET /v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n';

onSqlite('request sanity', (start) => {
  test('ambiguous requests are rejected, and the connection is closed', async (t) => {
    const { service, key } = await withKey(start(t));
    const head = `host: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
    const post = (headers: string, body: string) =>
      `POST /v1/groups HTTP/1.1\r\n${head}${headers}\r\n\r\n${body}${smuggled}`;
    const get = (headers: string) => `GET /v1/groups HTTP/1.1\r\n${headers}\r\n\r\n${smuggled}`;
    for (const shape of [
      post('content-length: 5\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
      post('transfer-encoding: chunked\r\ncontent-length: 5', '0\r\n\r\n'),
      post('content-length: 2\r\ncontent-length: 3', '{}'),
      post('content-length: 2\r\ncontent-length: 2', '{}'),
      post('content-length: 2, 2', '{}'),
      post('content-length: +2', '{}'),
      post('content-length: -2', '{}'),
      post('content-length: 0x2', '{}'),
      post('content-length: 99999999999999999999', '{}'),
      post('transfer-encoding: xchunked', '0\r\n\r\n'),
      post('transfer-encoding: chunked, identity', '0\r\n\r\n'),
      post('transfer-encoding: chunked\r\ntransfer-encoding: identity', '0\r\n\r\n'),
      post('transfer-encoding: gzip, chunked', '2\r\n{}\r\n0\r\n\r\n'),
      post('transfer-encoding : chunked', '0\r\n\r\n'),
      post('transfer-encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'),
      post('transfer-encoding: chunked', '2\n{}\n0\n\n'),
      post('transfer-encoding: chunked', '2\r\n{}').replace('HTTP/1.1', 'HTTP/1.0'),
      get('host: x\r\nx-folded: a\r\n b'),
      get(`host: x\r\nauthorization: Bearer\r\n ${key}`),
      get('host: x\r\nx: a\0b'),
      get('host: x\r\nx y: a'),
      get('host: x\r\n: a'),
      get('host: a\r\nhost: b'),
      get('host: a, b'),
      get('host: a b/c'),
      get('x: no host'),
      'GET /v1/groups HTTP/1.1\nhost: x\n\n',
      'GET /v1/groups HTTP/1.1\rhost: x\r\r',
      'GET * HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET v1/groups HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET ftp://x/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET /v1/groups\0 HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET /v1/groups HTTP/3.0\r\nhost: x\r\n\r\n',
      'get /v1/groups HTTP/1.1\r\nhost: x\r\n\r\n',
      'NONSENSE /v1/groups HTTP/1.1\r\nhost: x\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    ]) {
      const response = await sendRaw(service.origin, shape);
      assert.match(response, /^HTTP\/1\.1 400 /, shape);
      assert.match(response, /\r\ncontent-type: application\/problem\+json/i, shape);
      assert.match(response, /\r\nconnection: close\r\n/i, shape);
      assert.equal(response.match(/HTTP\/1\.1 \d/g)?.length, 1, shape);
    }
    assert.equal((await service.get('/v1/groups', key)).body.page.total, 0);
  });

  test('duplicate Authorization or Content-Type headers are rejected', async (t) => {
    const { service, key } = await withKey(start(t));
    const bearer = `authorization: Bearer ${key}\r\n`;
    const end = 'connection: close\r\n\r\n';
    for (const other of [bearer, 'authorization: Bearer x\r\n', 'authorization: Basic eDp5\r\n']) {
      const response = await sendRaw(
        service.origin,
        `GET /v1/me HTTP/1.1\r\nhost: x\r\n${bearer}${other}${end}`,
      );
      assert.match(response, /^HTTP\/1\.1 401 /);
    }
    const types = 'content-type: application/json\r\ncontent-type: text/plain\r\n';
    const post = `POST /v1/groups HTTP/1.1\r\nhost: x\r\n${bearer}${types}content-length: 12\r\n${end}{"name":"x"}`;
    assert.match(await sendRaw(service.origin, post), /^HTTP\/1\.1 415 /);
  });

  test('unusual but valid requests are accepted', async (t) => {
    const service = await start(t);
    const authorization = `authorization: Bearer ${await service.key()}`;
    const get = (target: string, headers = 'host: x', version = '1.1') =>
      sendRaw(
        service.origin,
        `GET ${target} HTTP/${version}\r\n${headers}\r\n${authorization}\r\nconnection: close\r\n\r\n`,
      );
    for (const target of ['http://other.example/v1/groups', 'HTTPS://x:99/v1/groups?limit=1']) {
      const response = await get(target);
      assert.match(response, /^HTTP\/1\.1 200 /, target);
      assert.match(response, /"data":\[\]/);
    }
    assert.match(await get('http://other.example/v1/nothing'), /"instance":"\/v1\/nothing"/);
    assert.match(await get('http://other.example'), /^HTTP\/1\.1 200 .*<title>/s);
    assert.match(await get('/v1/me', 'x: y', '1.0'), /^HTTP\/1\.1 200 /);
    assert.match(await get('/v1/me', 'host:'), /^HTTP\/1\.1 200 /);
    assert.match(await get('/v1/me', 'host: [::1]:8080'), /^HTTP\/1\.1 200 /);
    assert.match(await get('/v1/me', 'host: x\r\nupgrade: websocket'), /^HTTP\/1\.1 200 /);
    assert.match(await get('/v1/me', 'host: x\r\ncontent-encoding: gzip'), /^HTTP\/1\.1 200 /);
    assert.match(await get('/v1/me', 'host: x\r\n__proto__: x\r\nconstructor: y'), /^HTTP\/1\.1 200 /);
    const options = await sendRaw(
      service.origin,
      'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    );
    assert.match(options, /^HTTP\/1\.1 204 .*\r\nallow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n/s);
  });

  test('Expect: 100-continue gets 100 Continue', async (t) => {
    const service = await start(t);
    const response = await sendRaw(
      service.origin,
      `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${await service.key()}\r\n` +
        'content-type: application/json\r\nexpect: 100-Continue\r\ncontent-length: 12\r\nconnection: close\r\n\r\n' +
        '{"name":"x"}',
    );
    assert.match(response, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });

  test('rejects encoded bodies and unsupported methods', async (t) => {
    const { service, key } = await withKey(start(t));
    const gzipped = await service.post('/v1/groups', key, '{"name":"x"}', { 'content-encoding': 'gzip' });
    assert.equal(gzipped.body.code, 'unsupported_media_type');
    assert.equal(gzipped.headers.get('accept-encoding'), 'identity');

    const send = (method: string, target = '/v1/me') =>
      sendRaw(
        service.origin,
        `${method} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
      );
    for (const method of ['TRACE', 'PROPFIND', 'LINK', 'QUERY']) {
      const response = await send(method);
      assert.match(response, /^HTTP\/1\.1 405 .*"code":"method_not_allowed"/s, method);
      assert.ok(!response.includes(key), 'the key is not echoed');
    }
    assert.equal(await send('CONNECT', 'example.com:443'), '');
  });

  test('complete requests before broken bytes get their responses, and the connection is closed', async (t) => {
    const { service, key } = await withKey(start(t));
    const authorized = `host: x\r\nauthorization: Bearer ${key}\r\n`;
    const get = (path: string) => `GET ${path} HTTP/1.1\r\n${authorized}\r\n`;
    const post = (name: string, rest = '') =>
      `POST /v1/groups HTTP/1.1\r\n${authorized}content-type: application/json\r\ncontent-length: ${name.length + 11}` +
      `\r\n\r\n{"name":"${name}"}${rest}`;
    const statuses = async (...parts: string[]) =>
      (await sendRaw(service.origin, ...parts)).match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(9));
    assert.deepEqual(await statuses(`${get('/v1/personnel')}NONSENSE\r\n\r\n`), ['200']);
    assert.deepEqual(await statuses(post('After', '}\r\n')), ['201']);
    assert.deepEqual(await statuses(post('First') + post('Second', '}}')), ['201', '201']);
    assert.deepEqual(await statuses(post('Large'), 'x'.repeat(2_000_000)), ['201']);
    const broken = post('Never').replace(/content-length: \d+/, 'transfer-encoding: chunked');
    assert.deepEqual(await statuses(post('Before') + broken), ['201']);
    const groups = await service.list('/v1/groups', key);
    assert.deepEqual(pluck(groups, 'name').sort(), ['After', 'Before', 'First', 'Large', 'Second']);

    // In the middle of a long response.
    await fillPeople(service.database, 20_000);
    const response = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1', () => {
        socket.write(get('/v1/personnel'));
        socket.once('data', () => socket.write('NONSENSE\r\n\r\n'));
      });
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    assert.match(response, /^HTTP\/1\.1 200 .*"total":20000.*\r\n0\r\n\r\n$/s);
    assert.doesNotMatch(response, /HTTP\/1\.1 400|malformed_request/);
  });
});
