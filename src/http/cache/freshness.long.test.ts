import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockAhead, startMuster, temporaryFolder } from '../../../test/process.ts';
import { freshDatabase, onBothEngines } from '../../../test/service.ts';

const checks = 4_000;
const revocations = 20;
const readers = 8;

onBothEngines('freshness', (_, engine) => {
  test('a read that starts after an acknowledged write includes it, in either of two processes', async (t) => {
    const { url, drop } = await freshDatabase(engine);
    t.after(drop);
    const environment = { MUSTER_DATABASE_URL: url, MUSTER_RATE_LIMIT: '0' };
    const first = await startMuster(t, temporaryFolder(t), environment);
    const second = await startMuster(t, temporaryFolder(t), { ...environment, ...clockAhead(1500) });
    const instances = [first.origin, second.origin];
    const ask = async (method: string, path: string, body?: object) => {
      const origin = instances[Math.floor(Math.random() * instances.length)];
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${first.key}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      assert.ok(response.ok, `${method} ${path}: ${response.status}`);
      return response.json();
    };
    await ask('POST', '/v1/projects', { name: 'Apollo', key: 'APOLLO' });
    await ask('POST', '/v1/projects/APOLLO/risks', { title: 'R0', probability: 3, impact: 3 });
    await ask('POST', '/v1/projects/APOLLO/risks', { title: 'R0', probability: 2, impact: 2 });

    const paths = ['/v1/risks?limit=10', '/v1/risks', '/v1/projects/APOLLO/risks?limit=10'];
    /** The last acknowledged number in the title of each risk. */
    const acknowledged: Record<string, number> = {};
    let read = 0;
    const write = async (risk: string) => {
      for (let n = 1; read < checks; n++) {
        await ask('PATCH', `/v1/projects/APOLLO/risks/${risk}`, { title: `R${n}` });
        acknowledged[risk] = n;
        // Long enough to cache responses and to serve them from the cache in between.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      }
    };
    const check = async (path = '') => {
      while (read < checks) {
        read++;
        const before = { ...acknowledged };
        const { data } = await ask('GET', path);
        for (const { key, title } of data as { key: string; title: string }[]) {
          const seen = Number(title.slice(1));
          assert.ok(seen >= (before[key] ?? 0), `${key} was R${before[key]} and is read as ${title}`);
        }
      }
    };
    const works = Array.from({ length: readers }, (_, i) => check(paths[i % paths.length]));
    await Promise.all([write('APOLLO-R1'), write('APOLLO-R2'), ...works]);
    assert.ok(Object.values(acknowledged).every((writes) => writes > 10));
  });

  test('a key change in one process applies to the next request to the other', async (t) => {
    const { url, drop } = await freshDatabase(engine);
    t.after(drop);
    const environment = { MUSTER_DATABASE_URL: url, MUSTER_FAILED_AUTH_LIMIT: '0' };
    const first = await startMuster(t, temporaryFolder(t), environment);
    const second = await startMuster(t, temporaryFolder(t), { ...environment, ...clockAhead(1500) });
    const ask = (origin: string, method: string, path: string, key = first.key, body?: object) =>
      fetch(origin + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    const path = '/v1/personnel?limit=5';
    for (let i = 0; i < revocations; i++) {
      const [one, other] = i % 2 === 0 ? [first, second] : [second, first];
      const input = { name: 'x', scopes: ['personnel.read'] };
      const created = await ask(one.origin, 'POST', '/v1/keys', undefined, input);
      const { id, secret } = await created.json();
      // The third response comes from the cache, with the key from the key cache.
      for (let n = 0; n < 3; n++) assert.equal((await ask(other.origin, 'GET', path, secret)).status, 200);
      const change = await ask(one.origin, 'PATCH', `/v1/keys/${id}`, undefined, { scopes: ['keys.read'] });
      assert.equal(change.status, 200);
      assert.equal((await ask(other.origin, 'GET', path, secret)).status, 403);
      assert.equal((await ask(one.origin, 'DELETE', `/v1/keys/${id}`)).status, 204);
      assert.equal((await ask(other.origin, 'GET', path, secret)).status, 401);
    }
  });
});
