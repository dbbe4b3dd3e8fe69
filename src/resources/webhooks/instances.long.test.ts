import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { startMuster, temporaryFolder } from '../../../test/process.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { freshDatabase, onBothEngines, withKey } from '../../../test/service.ts';
import type { Clock } from '../../core/clock.ts';
import { createTargets } from '../../core/network/targets.ts';
import { openDatabase } from '../../store/open.ts';
import { bySystem } from '../../store/writes/change.ts';
import { recordResults } from './claims.ts';
import { createTest, leaseSeconds } from './deliveries.ts';
import { createDispatcher } from './dispatcher.ts';
import { later } from './outcome.ts';
import { createSender, noAttempt } from './send.ts';

const now = '2026-11-15T09:00:00.000Z';
const environment = { MUSTER_WEBHOOK_ALLOW: '127.0.0.1' };

/** Another instance on the same database. */
function openInstance(url: string, clock: Clock, pollMs?: number) {
  const database = openDatabase(url);
  const errors: unknown[] = [];
  const dispatcher = createDispatcher({
    database,
    clock,
    sender: createSender(createTargets(['127.0.0.1'])),
    counts: { pending: 0, delivered: 0, retried: 0, failed: 0, missed: 0 },
    onError: (error) => errors.push(error),
    maxStopMs: 100,
    ...(pollMs !== undefined && { pollMs }),
  });
  /** Before the database is dropped, so that nothing fails that would not fail otherwise. */
  async function close() {
    await dispatcher.stop();
    await database.close();
    assert.deepEqual(errors, []);
  }
  return { ...dispatcher, close };
}

onBothEngines('webhooks on several instances', (start, engine) => {
  test('are woken by the events of another instance', async (t) => {
    const clock = settableClock(now);
    const { service, key } = await withKey(start(t, { clock, environment }));
    const receiver = await startReceiver(t);
    await service.make('/v1/webhooks', key, { url: receiver.url, types: ['person.created'] });
    // It polls only once an hour.
    const instance = openInstance(service.url, clock, 3_600_000);
    instance.start();
    for (const count of [1, 2, 3]) {
      await service.make('/v1/personnel', key, { name: `Person ${count}` });
      await receiver.receive(count);
      await instance.drain();
    }
    await instance.close();
  });

  test('the result of an attempt whose claim has expired changes nothing', async (t) => {
    const clock = settableClock(now);
    const service = await start(t, { clock, environment });
    const { database } = service;
    const key = await service.key();
    const webhook = await service.make('/v1/webhooks', key, { url: 'http://127.0.0.1/', types: ['*'] });
    const claim = await database.write((db) => createTest(db, webhook, bySystem(clock()), service.origin));
    const expired = { ...claim, claimed_until: later(claim.claimed_until, -1) };
    const result = { attempt: noAttempt('Failed'), moment: clock(), isOrdinary: true };
    const stateOf = () =>
      database.db
        .selectFrom('webhook_deliveries')
        .innerJoin('webhooks', 'webhooks.id', 'webhook_id')
        .select(['attempts', 'claimed_until', 'failures', 'failing_since'])
        .execute();
    const before = await stateOf();
    assert.deepEqual(await database.write((db) => recordResults(db, [{ ...result, claim: expired }])), []);
    assert.deepEqual(await stateOf(), before);
    const outcomes = await database.write((db) => recordResults(db, [{ ...result, claim }]));
    assert.equal(outcomes.length, 1);
    assert.equal((await stateOf())[0]?.failures, 1);
  });

  test('share the deliveries without sending one twice', async (t) => {
    const clock = settableClock(now);
    const { service, key } = await withKey(start(t, { clock, environment }));
    const receivers = await Promise.all([1, 2].map(() => startReceiver(t)));
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const { url } of receivers) await service.make('/v1/webhooks', key, { url, types: ['risk.*'] });
    const rows = Array.from({ length: 300 }, (_, i) => JSON.stringify({ title: `Risk ${i}` })).join('\n');
    const imported = await service.upload(
      `/v1/projects/${id}/risks/import`,
      key,
      rows,
      'application/x-ndjson',
    );
    assert.equal(imported.status, 200);
    const others = [openInstance(service.url, clock), openInstance(service.url, clock)];
    const instances = [service.app.webhooks, ...others];
    // An instance is done when nothing is due for it, although other instances may still have claims: so repeat.
    for (let i = 0; i < 3; i++) await Promise.all(instances.map((instance) => instance.drain()));
    for (const other of others) await other.close();
    for (const { received } of receivers) {
      assert.equal(received.length, 300);
      assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 300);
    }
  });

  test('a delivery whose instance was killed is repeated by another after the lease', async (t) => {
    const { url, drop } = await freshDatabase(engine);
    const receiver = await startReceiver(t, () => {});
    const settings = { ...environment, MUSTER_DATABASE_URL: url };
    const first = await startMuster(t, temporaryFolder(t), settings);
    const send = async (path: string, body: object) => {
      const response = await fetch(first.origin + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.equal(response.status, 201);
    };
    await send('/v1/webhooks', { url: receiver.url, types: ['person.*'] });
    await send('/v1/personnel', { name: 'Ada' });
    await receiver.receive(1);
    await send('/v1/personnel', { name: 'Grace' });
    await receiver.receive(2);
    first.child.kill('SIGKILL');
    await first.exit;

    const clock = settableClock(new Date().toISOString());
    const seen: string[] = [];
    const restarted = await startReceiver(t, (response, { headers }) => {
      seen.push(String(headers['webhook-id']));
      response.writeHead(204).end();
    });
    const database = openDatabase(url);
    await database.write((db) => db.updateTable('webhooks').set({ url: restarted.url }).execute());
    const second = openInstance(url, clock);
    await second.drain();
    assert.deepEqual(seen, [], 'the lease of the killed instance still holds');
    clock.set(later(clock().now, leaseSeconds));
    await second.drain();
    const sent = receiver.received.map(({ headers }) => String(headers['webhook-id']));
    await second.close();
    await database.close();
    await drop();
    assert.deepEqual(seen.toSorted(), sent.toSorted());
  });

  test('an instance that stops leaves its deliveries to other instances at once', async (t) => {
    const clock = settableClock(now);
    const { service, key } = await withKey(start(t, { clock, environment }));
    let isHanging = true;
    const receiver = await startReceiver(t, (response) => isHanging || response.writeHead(204).end());
    await service.make('/v1/webhooks', key, { url: receiver.url, types: ['person.*'] });
    const stopping = openInstance(service.url, clock);
    await service.make('/v1/personnel', key, { name: 'Ada' });
    stopping.start();
    await receiver.receive(1);
    isHanging = false;
    await stopping.close();
    await service.app.webhooks.drain();
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.equal(ids.length, 2);
    assert.equal(ids[0], ids[1]);
  });
});
