import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import {
  type PostgresServer,
  replicateSynchronously,
  startPostgresServer,
} from '../../../test/postgres-server.ts';
import { pluck, startTestService, type TestService } from '../../../test/service.ts';
import { startForwarder } from '../../../test/tcp-forwarder.ts';
import { openDatabase } from '../../store/open.ts';

const portOf = ({ url }: PostgresServer) => Number(new URL(url).port);

const whenReady = async (services: readonly TestService[], status = 200) => {
  for (const { get } of services) while ((await get('/readyz')).status !== status) await setTimeout(50);
};

/** Starts a standby. `disconnect` waits until it has everything; later commits are lost with the primary. */
async function startStandby(t: TestContext, primary: PostgresServer) {
  let cut = () => {};
  const link = {
    after(end: unknown) {
      cut = end as () => void;
    },
  };
  const port = await startForwarder(link, portOf(primary));
  const url = Object.assign(new URL(primary.url), { port: String(port) }).href;
  const standby = await startPostgresServer([], url);
  t.after(async () => {
    cut();
    await standby.stop();
  });
  const disconnect = async () => {
    const [lsn] = await primary.run('select pg_current_wal_lsn() as now');
    const isBehind = `select pg_last_wal_replay_lsn() < '${lsn?.now}' as behind`;
    while ((await standby.run(isBehind))[0]?.behind) await setTimeout(50);
    cut();
  };
  return { standby, disconnect };
}

test('after a failover that lost commits, all instances show what was kept, and followers learn of it', {
  timeout: 300_000,
}, async (t) => {
  const primary = await startPostgresServer(['wal_level=replica']);
  t.after(() => primary.stop());
  const database = await migratedOn(primary);
  const { standby, disconnect } = await startStandby(t, primary);
  const port = await startForwarder(t, portOf(primary), portOf(standby));
  const url = Object.assign(new URL(database), { port: String(port) }).href;
  const target = { url, drop: async () => {} };
  const start = () => startTestService(t, 'postgres', { target });
  const first = await start();
  const second = await start();
  const services = [first, second];

  const key = await first.key();
  const limited = await first.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
  const limitedKey = await first.limitedKey([limited.id], 'events.read', 'personnel.read');
  const makeKey = (name: string) => first.make('/v1/keys', key, { name, scopes: ['personnel.read'] });
  const [revokedBefore, revokedAfter] = [await makeKey('Revoked before'), await makeKey('Revoked after')];
  await first.make('/v1/personnel', key, { name: 'Kept' });
  const kept = (await first.get('/v1/events', key)).body.meta.next_after;
  await disconnect();

  for (const name of ['Lost 1', 'Lost 2', 'Lost 3']) await first.make('/v1/personnel', key, { name });
  for (const name of ['Lost 4', 'Lost 5']) await makeKey(name);
  assert.equal((await first.delete(`/v1/keys/${revokedBefore.id}`, key)).status, 204);
  const lost = (await first.get('/v1/events', key)).body.meta.next_after;
  const etags: (string | null)[] = [];
  const paths = ['/v1/personnel?limit=10', '/v1/personnel', '/v1/risks/summary'];
  const read = async ({ get }: TestService, secret = key) =>
    pluck((await get('/v1/personnel?limit=10', secret)).body.data, 'name');
  for (const service of services) {
    // The third response comes from the cache.
    for (const path of [...paths, ...paths, ...paths])
      etags.push((await service.get(path, key)).headers.get('etag'));
    assert.deepEqual(await read(service, revokedAfter.secret), ['Kept', 'Lost 1', 'Lost 2', 'Lost 3']);
    assert.equal((await service.get('/v1/me', revokedBefore.secret)).status, 401);
  }
  const streams = await Promise.all(
    services.map(({ origin }) =>
      fetch(`${origin}/v1/events/stream?after=${kept}`, { headers: { authorization: `Bearer ${key}` } }),
    ),
  );
  const texts = streams.map(() => '');
  const ended = streams.map(async ({ body }, i) => {
    for await (const bytes of body ?? []) texts[i] += Buffer.from(bytes).toString();
  });
  // A stream that still reads the past when the server is gone breaks off.
  while (!texts.every((text) => text.includes(`id: ${lost}\n`))) await setTimeout(20);

  await primary.kill9();
  await whenReady(services, 503);
  await standby.run('select pg_promote()');
  await whenReady(services);
  const firstRead = await Promise.all(services.map((service) => read(service)));
  assert.deepEqual(firstRead, [['Kept'], ['Kept']]);
  assert.equal((await first.delete(`/v1/keys/${revokedAfter.id}`, key)).status, 204);
  await first.make('/v1/personnel', key, { name: 'New' });
  for (const service of services) {
    assert.equal(
      (await service.get('/v1/me', revokedAfter.secret)).status,
      401,
      'revoked on another instance',
    );
    assert.equal((await service.get('/v1/me', revokedBefore.secret)).status, 200, 'its revocation was lost');
    assert.deepEqual(await read(service), ['Kept', 'New']);
    for (const etag of etags)
      for (const path of paths.slice(0, 2)) {
        const { status } = await service.get(path, key, { 'if-none-match': etag ?? '' });
        assert.equal(status, 200, path);
      }
    const follow = (after: number, secret = key) => service.get(`/v1/events?after=${after}`, secret);
    const gone = await follow(lost);
    assert.deepEqual([gone.status, gone.body.code], [410, 'events_expired']);
    assert.match(gone.body.detail, /has lost events/);
    assert.equal((await follow(lost, limitedKey)).status, 410);
    assert.deepEqual((await follow(gone.body.next_after)).body.data, []);
    assert.deepEqual(pluck((await follow(kept)).body.data, 'type'), ['key.revoked', 'person.created']);
    assert.deepEqual(pluck((await follow(kept, limitedKey)).body.data, 'type'), ['person.created']);
  }
  await Promise.all(ended);
  for (const text of texts) {
    assert.match(text, /event: closed\ndata: {"reason":"events_lost"}/);
    const [id = ''] = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id).slice(-1);
    assert.equal(Number(id), lost);
    const headers = { 'last-event-id': id };
    assert.equal((await first.get('/v1/events/stream', key, headers)).status, 410);
  }

  // The forwarder leads to the former primary again.
  await primary.restart();
  await standby.terminateBackends(url);
  await whenReady(services, 503);
  for (const { get } of services) {
    const { status, body } = await get('/v1/personnel?limit=10', key);
    assert.equal(status, 503);
    assert.match(body.detail, /former primary/);
  }
  await primary.kill9();
  await whenReady(services);
  for (const service of services) assert.deepEqual(await read(service), ['Kept', 'New']);
});

test('a commit that no standby has confirmed is reported as unknown', { timeout: 300_000 }, async (t) => {
  const primary = await startPostgresServer(['wal_level=replica']);
  t.after(() => primary.stop());
  const standby = await startPostgresServer([], primary.url);
  t.after(() => standby.stop());
  await replicateSynchronously(primary);
  const service = await startTestService(t, 'postgres', {
    target: { url: await migratedOn(primary), drop: async () => {} },
  });
  const key = await service.key();
  await service.list('/v1/groups', key);
  await standby.freeze();
  const canceled = service.post('/v1/groups', key, { name: 'Canceled' });
  const waiting = "select pid from pg_stat_activity where wait_event = 'SyncRep'";
  while ((await primary.run(waiting)).length === 0) await setTimeout(20);
  await primary.run(`select pg_cancel_backend(pid) from (${waiting}) as waiting`);
  const { status, body } = await canceled;
  assert.deepEqual([status, body.may_be_saved], [503, true]);
  assert.match(body.detail, /did not confirm the commit/);

  const start = performance.now();
  const overdue = await service.post('/v1/groups', key, { name: 'Overdue' });
  assert.deepEqual([overdue.status, overdue.body.may_be_saved], [503, true]);
  t.diagnostic(`503 after ${Math.round(performance.now() - start)} ms`);
  await standby.thaw();
  while ((await primary.run(waiting)).length > 0) await setTimeout(20);
  assert.equal((await service.post('/v1/groups', key, { name: 'Saved' })).status, 201);
  assert.deepEqual(pluck(await service.list('/v1/groups', key), 'name'), ['Canceled', 'Overdue', 'Saved']);
});

async function migratedOn(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  const database = openDatabase(url);
  await database.migrate();
  await database.close();
  return url;
}
