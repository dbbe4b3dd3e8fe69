import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { describe, type Operation } from '../../../test/fuzz/document.ts';
import { type Oversized, oversizedFor } from '../../../test/fuzz/oversized.ts';
import { openAgent, send } from '../../../test/fuzz/send.ts';
import { stallEnvironment, takeStallMs } from '../../../test/loop-stall.ts';
import { startMuster, temporaryFolder } from '../../../test/process.ts';

/** `/livez` must respond within this time, whatever a client sends. */
const maxStallMs = 100;

/** Garbage collection may slow down one attempt, but hardly every one, so a slow request is repeated. */
const attempts = 3;
const longMs = maxStallMs / 2;

test('no request blocks the event loop for 100 ms', async (t) => {
  const service = await startWatched(t);
  const { operations } = describe((await service.call('GET', '/v1/openapi.json')).json as object);
  await service.fill();
  // Warm up: the first request to each route compiles schemas and prepares statements.
  for (const operation of operations) await service.attack(operation, { name: 'nothing' });
  await service.takeStallMs();

  let worst = { ms: 0, name: '' };
  let requests = 0;
  for (const operation of operations) {
    for (const oversized of oversizedFor(operation)) {
      let ms = Number.POSITIVE_INFINITY;
      for (let i = 0; i < attempts && ms >= longMs; i++) {
        await service.attack(operation, oversized);
        ms = Math.min(ms, await service.takeStallMs());
        requests++;
      }
      const name = `${operation.name} with ${oversized.name}`;
      if (ms > worst.ms) worst = { ms, name };
      assert.ok(ms < maxStallMs, `${name} held the event loop for ${ms.toFixed(0)} ms`);
    }
  }
  assert.ok(requests > 1000, String(requests));
  t.diagnostic(`${requests} requests; the longest stall was ${worst.ms.toFixed(1)} ms: ${worst.name}`);
  assert.equal((await service.call('GET', '/livez')).status, 200);
});

/** A service with data of every kind in its own process, which reports how long its event loop was blocked. */
async function startWatched(t: TestContext) {
  const running = await startMuster(t, temporaryFolder(t), {
    ...stallEnvironment,
    MUSTER_LOG_LEVEL: 'silent',
    MUSTER_FAILED_AUTH_LIMIT: '0',
  });
  const { origin, key = '' } = running;
  const agent = openAgent();
  t.after(() => agent.destroy());
  const authorization = `Bearer ${key}`;
  const ids: Record<string, string> = {};

  const call = (method: string, path: string, body?: Buffer, headers: Record<string, string> = {}) =>
    send(origin, agent, { method, path, headers: { authorization, ...headers }, ...(body && { body }) });

  async function make(kind: string, path: string, body: object): Promise<void> {
    const created = await call('POST', path, Buffer.from(JSON.stringify(body)), {
      'content-type': 'application/json',
    });
    assert.equal(created.status, 201, created.text);
    const { id, user_id } = created.json as { id?: string; user_id?: string };
    ids[kind] = id ?? user_id ?? '';
  }

  /** The ids for the parameters of a path. Nothing is deleted, so that every request finds its resource. */
  function pathOf({ method, template }: Operation): string {
    const isDelete = method === 'DELETE';
    const kind = /\{project_id\}\/(\w+)\/\{id\}|^\/v1\/(\w+)\/\{/.exec(template);
    const found = ids[kind?.[1] ?? kind?.[2] ?? ''] ?? 'x';
    return template
      .replace('{project_id}', 'APOLLO')
      .replace(/\{\w+\}/g, isDelete ? found.replace(/.$/, 'v') : found);
  }

  return {
    call,
    async fill() {
      await make('personnel', '/v1/personnel', { name: 'Ada' });
      await make('groups', '/v1/groups', { name: 'Ops' });
      await make('keys', '/v1/keys', { name: 'x', scopes: ['keys.read'] });
      await make('projects', '/v1/projects', { name: 'Apollo', key: 'APOLLO' });
      for (const kind of ['risks', 'issues', 'tasks'])
        await make(kind, `/v1/projects/APOLLO/${kind}`, { title: 'x' });
    },
    /** Ignores the response; a body that is rejected early may not be sent completely. */
    async attack(operation: Operation, { body, query, headers }: Oversized): Promise<void> {
      const path = pathOf(operation) + (query === undefined ? '' : `?${query}`);
      const type = body ? { 'content-type': 'application/json' } : {};
      await call(operation.method, path, body?.(), { ...type, ...headers }).catch(() => {});
    },
    takeStallMs: () => takeStallMs(running),
  };
}
