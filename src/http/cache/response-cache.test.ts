import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, withKey } from '../../../test/service.ts';

/** A request that waits for another one never gets a response. */
const limits = { timeout: 60_000 };

onBothEngines('the response cache', (start) => {
  for (const path of ['/v1/groups?limit=10', '/v1/groups', '/v1/groups?limit=10&count=true']) {
    test(`serves a client that only revalidates its copy: ${path}`, async (t) => {
      const { service, key } = await withKey(start(t));
      await service.make('/v1/groups', key, { name: 'Ops' });
      const { hits } = service.app.responseCache;
      const cacheHits = () => service.app.responseCache.hits - hits;
      const tag = (await service.get(path, key)).headers.get('etag') ?? '';
      const revalidate = async (etag: string) => {
        const { status, headers } = await service.get(path, key, { 'if-none-match': etag });
        return [status, headers.get('etag')];
      };
      assert.deepEqual(await revalidate(tag), [304, tag]);
      assert.equal(cacheHits(), 0);
      assert.deepEqual(await revalidate(tag), [304, tag]);
      assert.deepEqual(await revalidate(`"other", W/${tag}`), [304, tag]);
      assert.equal(cacheHits(), 2);

      const full = await service.get(path, key);
      assert.deepEqual([full.status, full.headers.get('etag'), full.body.data.length], [200, tag, 1]);
      assert.equal(cacheHits(), 2, 'the body was not cached');
      assert.deepEqual((await service.get(path, key)).body, full.body);
      assert.deepEqual(await revalidate(tag), [304, tag]);
      assert.equal(cacheHits(), 4);

      await service.make('/v1/groups', key, { name: 'Works' });
      const [status, next] = await revalidate(tag);
      assert.deepEqual([status, next === tag], [200, false]);
      assert.deepEqual(await revalidate(String(next)), [304, next]);
    });
  }

  test(
    'a client that disconnects during the version check does not block those after it',
    limits,
    async (t) => {
      const { service, key } = await withKey(start(t));
      const path = '/v1/groups?limit=10';
      await service.get(path, key);
      await service.get(path, key);
      await service.make('/v1/groups', key, { name: 'Ops' });
      const { database, server } = service.app;
      const { versions } = database;
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { promise: started, resolve: begin } = Promise.withResolvers<void>();
      t.mock.method(database, 'versions', async () => {
        begin();
        await released;
        return versions();
      });
      const closed = new Promise((resolve) => {
        server.once('request', (_, response) => response.once('close', resolve));
      });
      const client = new AbortController();
      const aborted = fetch(`${service.origin}${path}`, {
        headers: { authorization: `Bearer ${key}` },
        signal: client.signal,
      });
      await started;
      client.abort();
      await assert.rejects(aborted);
      await closed;
      release();
      assert.equal((await service.get(path, key)).body.data.length, 1);
    },
  );

  test(
    'nobody waits until another client has received a list that is too long to be cached',
    limits,
    async (t) => {
      const { service, key } = await withKey(start(t));
      const attributes = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${i}`, 'x'.repeat(500)]));
      const file = Array.from({ length: 1500 }, (_, i) =>
        JSON.stringify({ name: `Person ${i}`, attributes }),
      );
      const imported = await service.upload(
        '/v1/personnel/import',
        key,
        file.join('\n'),
        'application/x-ndjson',
      );
      assert.equal(imported.body.summary.created, 1500, imported.text.slice(0, 500));
      const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
      const slow = await fetch(`${service.origin}/v1/personnel`, { headers });
      const etag = slow.headers.get('etag') ?? '';
      await slow.body?.cancel();
      for (let i = 0; i < 2; i++) {
        const known = await fetch(`${service.origin}/v1/personnel`, {
          headers: { ...headers, 'if-none-match': etag },
        });
        assert.equal(known.status, 304);
      }
      const stalled = await fetch(`${service.origin}/v1/personnel`, { headers });
      const whole = await fetch(`${service.origin}/v1/personnel`, { headers });
      assert.equal(((await whole.json()) as { data: unknown[] }).data.length, 1500);
      await stalled.body?.cancel();
    },
  );

  test('the download of a list that is too long to be cached leaves its ETag in the cache', async (t) => {
    const { service, key } = await withKey(start(t));
    const attributes = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${i}`, 'x'.repeat(500)]));
    const file = Array.from({ length: 60 }, (_, i) => JSON.stringify({ name: `Person ${i}`, attributes }));
    const type = { 'content-type': 'application/x-ndjson' };
    await service.post('/v1/personnel/import', key, file.join('\n'), type);
    for (const path of ['/v1/personnel', '/v1/personnel?format=csv']) {
      for (const encoding of ['identity', 'gzip']) {
        const get = (headers = {}) => service.get(path, key, { 'accept-encoding': encoding, ...headers });
        const etag = (await get()).headers.get('etag') ?? '';
        const isKnown = async () => {
          const { hits } = service.app.responseCache;
          const { status, headers } = await get({ 'if-none-match': etag });
          assert.deepEqual([status, headers.get('etag')], [304, etag]);
          return service.app.responseCache.hits > hits;
        };
        assert.equal(await isKnown(), false);
        for (let i = 0; i < 2; i++) {
          assert.equal(await isKnown(), true);
          const download = await get();
          assert.deepEqual([download.status, download.headers.get('etag')], [200, etag]);
          assert.ok(download.text.length > 600_000);
        }
        await service.make('/v1/personnel', key, { name: `${path} ${encoding}` });
        assert.equal((await get({ 'if-none-match': etag })).status, 200);
        assert.equal((await get()).headers.get('etag') === etag, false);
      }
    }
  });

  test('a 304 after an unrelated change keeps the cached body', async (t) => {
    const { service, key } = await withKey(start(t));
    const { id } = await service.make('/v1/groups', key, { name: 'Ops' });
    const path = '/v1/groups?limit=10&q=ops';
    const tag = (await service.get(path, key)).headers.get('etag') ?? '';
    assert.equal((await service.get(path, key)).status, 200);
    await service.make('/v1/groups', key, { name: 'Works' });
    const known = await service.get(path, key, { 'if-none-match': tag });
    assert.equal(known.status, 304);
    const { hits } = service.app.responseCache;
    assert.equal((await service.list(path, key))[0].id, id);
    assert.equal(service.app.responseCache.hits, hits + 1);
  });
});
