import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEveryResource } from '../../../test/every-resource.ts';
import { onBothEngines, withKey } from '../../../test/service.ts';
import { presets } from '../../resources/risk-model/presets.ts';
import { readOpenapiFile } from './openapi-file.ts';

const { paths } = JSON.parse(readOpenapiFile()) as {
  paths: Record<string, Record<string, { parameters?: { $ref?: string }[] }>>;
};
const versioned = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, { parameters }]) => parameters?.some(({ $ref }) => $ref?.endsWith('/IfMatch')))
    .map(([method]) => ({ method: method.toUpperCase(), path })),
);

onBothEngines('If-Match', (start) => {
  test('is honored by every operation that documents it, and a stale one changes nothing', async (t) => {
    const environment = { MUSTER_WEBHOOK_ALLOW: '127.0.0.1' };
    const { service, key } = await withKey(start(t, { environment }));
    const resolve = await createEveryResource(service, key);
    const other = (await service.list('/v1/categories', key))[0].id;
    const bodies: Record<string, object> = {
      'POST /v1/webhooks/{id}/replay': { after: 0 },
      'POST /v1/categories/{id}/merge': { into: other },
      'PUT /v1/personnel/{user_id}/access': { scopes: ['projects.read'] },
      'PUT /v1/risk-model': presets[2]?.model ?? {},
    };
    const left = async () => [
      (await service.get('/v1/events', key)).body.page.total,
      await service.list(resolve('/v1/webhooks/{id}/deliveries'), key),
    ];
    const before = await left();
    assert.ok(versioned.length > 40);
    for (const { method, path } of versioned) {
      const body = bodies[`${method} ${path}`] ?? (method === 'DELETE' ? undefined : {});
      const stale = await service.call(method, resolve(path), key, body, { 'if-match': '"999"' });
      // Nobody has given access to this person.
      const expected = `${method} ${path}` === 'DELETE /v1/personnel/{user_id}/access' ? 404 : 412;
      assert.equal(stale.status, expected, `${method} ${path} ${stale.text}`);
    }
    assert.deepEqual(await left(), before);
  });
});
