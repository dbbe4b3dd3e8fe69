import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { isInstalled } from '../../../test/programs.ts';
import { proxies } from '../../../test/proxies.ts';
import { onSqlite, startTestService, withKey } from '../../../test/service.ts';

onSqlite('ETags', (start) => {
  test('a resource gets 304 only if the whole response is unchanged, not only its version', async (t) => {
    const { service, key } = await withKey(start(t, { clock: settableClock('2026-11-15T12:00:00.000Z') }));
    const created = await service.post('/v1/projects', key, { name: 'Apollo' });
    const get = (tag: string) => service.get('/v1/projects/APOLLO', key, { 'if-none-match': tag });
    const tag = created.headers.get('etag') ?? '';
    assert.match(tag, /^"1-[\da-z]+\.[\w-]{22}"$/);

    const known = await get(tag);
    assert.deepEqual([known.status, known.text, known.headers.get('etag')], [304, '', tag]);
    assert.equal(known.headers.get('cache-control'), 'private, no-cache');
    assert.ok(known.headers.get('vary'));
    assert.equal(known.headers.get('content-type'), null);
    assert.equal((await get(`W/${tag}`)).status, 304);
    assert.equal((await get('"1"')).status, 200);

    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', probability: 5, impact: 5 });
    const changed = await get(tag);
    assert.deepEqual([changed.status, changed.body.version], [200, 1]);
    assert.equal(changed.body.health.state, 'off_track');
    assert.match(changed.headers.get('etag') ?? '', /^"1-/);
  });

  test('a 304 to GET or HEAD has no Content-Length', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const path of ['/v1/risks', '/v1/risks/summary', '/v1/me', '/v1/openapi.json']) {
      for (const method of ['GET', 'HEAD']) {
        const known = await service.call(method, path, key, undefined, { 'if-none-match': '*' });
        assert.deepEqual([known.status, known.headers.get('content-length')], [304, null], method + path);
        const length = (await service.call(method, path, key)).headers.get('content-length');
        assert.notEqual(length, '0', `${method} ${path} has a length`);
      }
    }
  });

  test('If-Match accepts the full ETag or only the version', async (t) => {
    const { service, key } = await withKey(start(t));
    const { headers } = await service.post('/v1/projects', key, { name: 'Apollo' });
    const tag = headers.get('etag') ?? '';
    const patch = (name: string, match: string) =>
      service.patch('/v1/projects/APOLLO', key, { name }, { 'if-match': match });
    const second = await patch('Apollo 2', tag);
    assert.equal(second.status, 200);
    assert.match(second.headers.get('etag') ?? '', /^"2-/);
    assert.equal((await patch('Apollo 3', '"2"')).body.version, 3);
    assert.equal((await patch('Apollo 3', '*')).status, 200, 'whatever is there');

    // Derived data may have changed since; If-Match compares only the version.
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    assert.equal((await patch('Apollo 4', '"3-anything"')).body.version, 4);
    for (const stale of [tag, '"1"', '"3"', '"40"', 'W/"3"', '"4x"', '"04x"', '""', '"-4"', '"1", "2,4"']) {
      const response = await patch('Apollo 5', stale);
      assert.equal(response.status, 412, stale);
      assert.equal(response.headers.get('etag'), '"4"');
    }
  });

  test('If-Match refuses a version that was lost, whose number came again', async (t) => {
    const clock = settableClock('2026-11-15T12:00:00.000Z');
    const { service, key } = await withKey(start(t, { clock }));
    const { body: first } = await service.post('/v1/projects', key, { name: 'Apollo' });
    const patch = (name: string, match = '"1"') =>
      service.patch('/v1/projects/APOLLO', key, { name }, { 'if-match': match });
    clock.set('2026-11-15T12:01:00.000Z');
    const lost = (await patch('Lost')).headers.get('etag') ?? '';
    // A backup of the first version is restored.
    const { name, version, updated_at } = first;
    await service.database.write((db) =>
      db.updateTable('projects').set({ name, version, updated_at }).where('id', '=', first.id).execute(),
    );
    clock.set('2026-11-15T12:02:00.000Z');
    const kept = (await patch('Kept')).headers.get('etag') ?? '';
    assert.equal((await patch('Overwritten', lost)).status, 412);
    assert.equal((await service.get('/v1/projects/APOLLO', key)).body.name, 'Kept');
    assert.equal((await patch('After it', kept)).body.version, 3);
  });

  test('If-Match accepts the weak ETag of a proxy that compresses, and lists', async (t) => {
    const { service, key } = await withKey(start(t));
    const { headers } = await service.post('/v1/projects', key, { name: 'Apollo' });
    let version = 1;
    const weak = `W/${headers.get('etag')}`;
    const tags = [weak, 'W/"2"', '"3-a-gzip"', '"9,9", W/"4-x" , "7"', ', "5",,', '"x","6"'];
    for (const tag of tags) {
      const change = { name: `Apollo ${++version}` };
      const response = await service.patch('/v1/projects/APOLLO', key, change, { 'if-match': tag });
      assert.deepEqual([response.status, response.body.version], [200, version], tag);
    }
  });

  test('a malformed If-Match is 400 and changes nothing', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const malformed of [
      '"1',
      '1',
      '',
      ',',
      'w/"1"',
      'W/1',
      'W/ "1"',
      '"1""',
      '"1" "1"',
      '"1", x',
      '*, "1"',
    ]) {
      for (const [method, body] of [
        ['PATCH', { name: 'x' }],
        ['DELETE', undefined],
      ] as const) {
        const response = await service.call(method, '/v1/projects/APOLLO', key, body, {
          'if-match': malformed,
        });
        assert.deepEqual([response.status, response.body?.code], [400, 'malformed_request'], malformed);
        assert.match(response.body.detail, /`If-Match`/);
      }
    }
    assert.equal((await service.get('/v1/projects/APOLLO', key)).body.name, 'Apollo');
  });
});

for (const { name, program, start } of proxies) {
  test(`If-Match accepts the ETag of a response that ${name} compressed`, async (t) => {
    if (!isInstalled(program)) return t.skip(`${program} is not installed`);
    const { service, key } = await withKey(startTestService(t, 'sqlite'));
    await service.make('/v1/projects', key, { name: 'Apollo', description: 'x'.repeat(700) });
    const url = `${await start(t, service.origin)}/v1/projects/APOLLO`;
    const authorization = `Bearer ${key}`;
    const read = await fetch(url, { headers: { authorization, 'accept-encoding': 'gzip' } });
    if (program === 'nginx') assert.match(read.headers.get('etag') ?? '', /^W\//);
    const change = (tag: string) =>
      fetch(url, {
        method: 'PATCH',
        headers: { authorization, 'if-match': tag, 'content-type': 'application/json' },
        body: '{"description":"changed"}',
      });
    const tag = read.headers.get('etag') ?? '';
    assert.deepEqual([(await change(tag)).status, (await change(tag)).status], [200, 412]);
  });
}
