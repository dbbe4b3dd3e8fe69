import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, type TestService } from '../../../test/service.ts';
import { createApp } from '../../app.ts';
import { readConfig } from '../../config.ts';
import { momentOf, systemClock } from '../../core/clock.ts';
import { grants, scopes } from '../../core/scopes.ts';
import { createKey, revokeKey } from '../../resources/keys/queries.ts';
import { newSecret } from '../../store/access/secret.ts';
import { openDatabase } from '../../store/open.ts';
import type { Access } from './auth.ts';

type Route = { method: string; path: string; access: Access };

onSqlite('access', (start) => {
  test('every route accepts only keys with the declared access', async (t) => {
    const service = await start(t);
    const routes = routesOf(service);
    assert.ok(routes.length >= 20);
    const { revoked, expired } = await deadKeys(service);
    await service.make('/v1/projects', await service.key(), { name: 'Apollo' });
    const single = await Promise.all(
      scopes.flatMap((scope) => [
        service.key(scope).then((key) => ({ scope, key })),
        service.limitedKey(['APOLLO'], scope).then((key) => ({ scope, key })),
      ]),
    );

    for (const { method, path, access } of routes) {
      const sameOrigin = { 'sec-fetch-site': 'same-origin' };
      const status = async (key?: string) =>
        (await service.call(method, path, key, undefined, sameOrigin)).status;
      const opened = (response: number) => ![401, 403].includes(response);
      const name = `${method} ${path}`;
      if (access === 'public') {
        assert.ok(opened(await status()), name);
        continue;
      }
      for (const key of [undefined, 'nonsense', newSecret(), revoked, expired]) {
        assert.equal(await status(key), 401, `${name} with ${key}`);
      }
      for (const { scope, key } of single) {
        const allowed: boolean = access !== 'person' && (access === 'any' || grants([scope], access));
        const response = await service.call(method, path, key);
        // Routes that affect all projects reject a limited key with a code of their own.
        const isOpened = opened(response.status) || response.body?.code === 'key_limited';
        assert.equal(isOpened, allowed, `${name} with ${scope}`);
      }
    }
  });

  test('authentication errors carry the challenges of RFC 6750', async (t) => {
    const service = await start(t);
    const none = await service.get('/v1/risks');
    assert.deepEqual([none.status, none.headers.get('www-authenticate')], [401, 'Bearer realm="muster"']);
    assert.equal(none.body.code, 'unauthenticated');

    const unknown = await service.get('/v1/risks', newSecret());
    assert.match(unknown.headers.get('www-authenticate') ?? '', /error="invalid_token"/);

    const personnel = await service.key('personnel.manage');
    assert.equal((await service.get('/v1/personnel', personnel)).status, 200);
    assert.equal((await service.get('/v1/groups', personnel)).status, 200);
    const risks = await service.get('/v1/risks', personnel);
    assert.deepEqual([risks.status, risks.body.code], [403, 'insufficient_scope']);
    assert.match(
      risks.headers.get('www-authenticate') ?? '',
      /error="insufficient_scope", scope="projects.read"/,
    );

    const projects = await service.key('projects.manage');
    assert.equal((await service.get('/v1/risks', projects)).status, 200);
    assert.equal((await service.post('/v1/personnel', projects, { name: 'Ada' })).status, 403);
  });

  test('another scheme than Bearer gets the advice to use it', async (t) => {
    const service = await start(t);
    for (const [authorization, detail] of [
      ['Basic eDp5', '`Basic` is not supported. Send an API key: `Authorization: Bearer <API_KEY>`.'],
      [await service.key(), 'Send an API key: `Authorization: Bearer <API_KEY>`.'],
    ] as const) {
      const { status, body, headers } = await service.get('/v1/me', undefined, { authorization });
      assert.deepEqual([status, body.detail], [401, detail]);
      assert.equal(headers.get('www-authenticate'), 'Bearer realm="muster"');
    }
  });
});

test('a route that declares no access stops the service from starting', async () => {
  const config = readConfig({ MUSTER_DATABASE_URL: 'sqlite:never-opened.db', MUSTER_LOG_LEVEL: 'silent' });
  const database = openDatabase(config.database_url);
  const app = await createApp({ config, database, clock: systemClock, readiness: { state: 'ready' } });
  assert.throws(() => app.get('/v1/open-to-all', () => 'oops'), /declares no access/);
});

function routesOf({ app }: TestService): Route[] {
  const paths = app.swagger().paths as Record<string, Record<string, { security: { key?: Access[] }[] }>>;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security }]) => ({
      // A HEAD request gets the same status from the stream, which has no end.
      method: path === '/v1/events/stream' ? 'HEAD' : method.toUpperCase(),
      path: path.replace('{project_id}', 'NOPE').replace(/\{\w+\}/g, 'nothing'),
      access: accessOf(security),
    })),
  );
}

function accessOf([first]: { key?: Access[] }[]): Access {
  if (!first) return 'public';
  return first.key ? (first.key[0] ?? 'any') : 'person';
}

async function deadKeys({ database }: TestService) {
  const input = { name: 'dead', scopes: [...scopes] };
  const revoked = await database.write((db) => createKey(db, input, systemClock()));
  await database.write((db) => revokeKey(db, revoked.id, systemClock()));
  const past = momentOf(new Date(Date.now() - 1000)).now;
  const expired = await database.write((db) => createKey(db, { ...input, expires_at: past }, systemClock()));
  return { revoked: revoked.secret, expired: expired.secret };
}
