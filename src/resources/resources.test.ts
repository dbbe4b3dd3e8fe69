import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, withKey } from '../../test/service.ts';

/** A resource of each kind: its collection, a new one, and a change of it. */
const resources: Record<string, [collection: string, body: object, change: Record<string, unknown>]> = {
  person: ['/v1/personnel', { name: 'Ada' }, { title: 'Countess' }],
  group: ['/v1/groups', { name: 'Ops' }, { description: 'On call.' }],
  project: ['/v1/projects', { name: 'Gemini' }, { appetite: 9 }],
  risk: ['/v1/projects/APOLLO/risks', { title: 'x' }, { impact: 5 }],
  issue: ['/v1/projects/APOLLO/issues', { title: 'x' }, { priority: 'high' }],
  task: ['/v1/projects/APOLLO/tasks', { title: 'x' }, { due_on: '2999-01-01' }],
  comment: ['/v1/projects/APOLLO/comments', { body: 'x' }, { body: 'y' }],
  key: ['/v1/keys', { name: 'x', scopes: ['keys.read'] }, { name: 'y' }],
  view: ['/v1/views', { list: 'tasks', name: 'x', query: '' }, { name: 'y' }],
  mapping: ['/v1/mappings', { list: 'tasks', name: 'x', query: '' }, { name: 'y' }],
  webhook: ['/v1/webhooks', { url: 'https://example.com/', types: ['*'] }, { description: 'chat' }],
};

onBothEngines('each kind of resource', (start) => {
  test('is created once per idempotency key, changed only with its current ETag, and has a history', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const [kind, [collection, body, change]] of Object.entries(resources)) {
      await t.test(kind, async () => {
        const create = () => service.post(collection, key, body, { 'idempotency-key': 'once' });
        const created = await create();
        const { secret, ...resource } = created.body;
        assert.equal(created.status, 201, created.text);
        assert.match(created.headers.get('etag') ?? '', /^"1-/);
        const repeated = await create();
        assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
        assert.deepEqual(repeated.body, secret ? { ...resource, secret: null } : resource);

        const path = new URL(created.headers.get('location') ?? '').pathname;
        assert.equal(path.split('/').at(-1), resource.user_id ?? resource.id);
        assert.deepEqual((await service.get(path, key)).body, resource);
        const missing = path.replace(/[^_]*$/, '0'.repeat(26));
        for (const unknown of [
          missing,
          `${collection}/x`,
          `${collection}/%00`,
          `${collection}/%F0%9F%92%A9`,
        ]) {
          const { status, body: problem } = await service.get(unknown, key);
          assert.deepEqual([status, problem.code], [404, 'not_found'], unknown);
        }

        const patch = (fields: object, tag = '*') => service.patch(path, key, fields, { 'if-match': tag });
        const stale = await patch(change, '"7"');
        assert.deepEqual([stale.status, stale.body.code, stale.headers.get('etag')], [412, 'stale', '"1"']);
        const reason = ['key', 'view', 'mapping', 'webhook'].includes(kind) ? null : 'Because.';
        const changed = await patch({ ...change, ...(reason && { reason }) }, '"1"');
        const { updated_at, edited_at } = changed.body;
        const expected = { ...resource, ...change, version: 2, updated_at, ...(edited_at && { edited_at }) };
        assert.deepEqual(changed.body, expected);
        assert.match(changed.headers.get('etag') ?? '', /^"2-/);
        const merged = { 'content-type': 'application/merge-patch+json' };
        assert.equal((await service.patch(path, key, change, merged)).body.version, 2, 'nothing has changed');
        const text = await service.patch(path, key, 'x', { 'content-type': 'text/plain' });
        assert.equal(text.status, 415);
        assert.match(text.headers.get('accept-patch') ?? '', /application\/merge-patch\+json/);
        assert.equal((await patch({ nonsense: 1 })).body.errors[0].code, 'unknown_field');
        if (!['view', 'mapping'].includes(kind)) {
          const history = await service.list(`${path}/history`, key);
          const [[field, to] = []] = Object.entries(change);
          assert.deepEqual(pluck(history, 'field', 'to', 'reason', 'actor.name').slice(1), [
            [field, to, reason, 'all'],
          ]);
        }

        assert.equal((await service.delete(path, key, { 'if-match': '"1"' })).body.code, 'stale');
        assert.equal((await service.delete(path, key, { 'if-match': '"2"' })).status, 204);
        // A revoked key is still listed.
        assert.equal((await service.get(path, key)).status, kind === 'key' ? 200 : 404);
      });
    }
  });
});
