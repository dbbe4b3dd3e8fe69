import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../../test/service.ts';

onBothEngines('the response cache', (start) => {
  for (const path of ['/v1/groups?limit=10', '/v1/groups', '/v1/groups?limit=10&count=true']) {
    test(`serves a client that only revalidates its copy: ${path}`, async (t) => {
      const service = await start(t);
      const key = await service.key();
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

  test('a 304 after an unrelated change keeps the cached body', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { id } = await service.make('/v1/groups', key, { name: 'Ops' });
    const path = '/v1/groups?limit=10&q=ops';
    const tag = (await service.get(path, key)).headers.get('etag') ?? '';
    assert.equal((await service.get(path, key)).status, 200);
    await service.make('/v1/groups', key, { name: 'Works' });
    const known = await service.get(path, key, { 'if-none-match': tag });
    assert.equal(known.status, 304);
    const { hits } = service.app.responseCache;
    assert.equal((await service.get(path, key)).body.data[0].id, id);
    assert.equal(service.app.responseCache.hits, hits + 1);
  });
});
