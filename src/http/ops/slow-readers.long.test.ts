import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fillPeople } from '../../../test/people.ts';
import { onSqlite, type TestService, withKey } from '../../../test/service.ts';

/** A page of 200 of these people takes 8 MB, more than the buffers of a connection hold. */
const fill = ({ database }: TestService) =>
  fillPeople(database, 200, {
    attributes: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, 'x'.repeat(1000)])),
  });
const page = '/v1/personnel?limit=200';

onSqlite('clients that do not read', (start) => {
  test('lose their connections after a while, those that read slowly do not', async (t) => {
    const { service, key } = await withKey(start(t));
    await fill(service);
    service.app.slowReaders.limits.periodMs = 2500;
    const [stalled, slow] = [await open(service, page, key), await open(service, page, key)];
    let received = 0;
    for (let length = Number.POSITIVE_INFINITY; received < length; await setTimeout(25)) {
      const chunk: Buffer | null = slow.read(40_000) ?? slow.read();
      received += chunk?.length ?? 0;
      length = Math.min(
        length,
        Number(/content-length: (\d+)/.exec(String(chunk))?.[1] ?? Number.NaN) || length,
      );
    }
    const { slowReaders } = service.app;
    while (slowReaders.closed === 0) await setTimeout(20);
    stalled.destroy();
    slow.destroy();
    assert.equal(slowReaders.closed, 1);
    await service.app.load.idle();
    assert.equal(service.app.slowReaders.unsentBytes, 0);
  });

  test('cannot keep more than the limit in memory: those that stalled lose their connections', async (t) => {
    const service = await start(t, { environment: { MUSTER_CACHE_MB: '0' } });
    const [greedy, other] = [await service.key(), await service.key()];
    await fill(service);
    const { slowReaders } = service.app;
    Object.assign(slowReaders.limits, { maxBytesPerClient: 20_000_000, maxBytes: 40_000_000 });
    const sockets = [await open(service, page, greedy), await open(service, page, greedy)];
    const tooMuch = await service.get(page, greedy);
    assert.deepEqual([tooMuch.status, tooMuch.headers.get('retry-after')], [503, '1']);
    assert.equal(tooMuch.headers.get('etag'), null);
    assert.equal((await service.get('/v1/personnel?limit=1', greedy)).status, 200);
    assert.equal((await service.get(page, other)).status, 200, 'other keys are not affected');
    await setTimeout(slowReaders.limits.maxStallMs);
    for (let i = 0; i < 4; i++) {
      sockets.push(await open(service, page, greedy));
      assert.ok(slowReaders.unsentBytes <= 20_000_000, `${slowReaders.unsentBytes}`);
      await setTimeout(slowReaders.limits.maxStallMs);
    }
    assert.equal(slowReaders.closed, 4);
    for (const socket of sockets) socket.destroy();
    await service.app.load.idle();
    assert.equal(slowReaders.unsentBytes, 0);
  });

  test('cannot keep out others by reading a little: the slowest lose their connections', async (t) => {
    const service = await start(t, { environment: { MUSTER_CACHE_MB: '0' } });
    const [slow, other] = [await service.key(), await service.key()];
    await fill(service);
    const { slowReaders } = service.app;
    slowReaders.limits.maxBytes = 10_000_000;
    const socket = await open(service, page, slow);
    const reading = setInterval(() => socket.read(60_000) ?? socket.read(), 50);
    t.after(() => clearInterval(reading));
    await setTimeout(slowReaders.limits.maxStallMs + 100);
    assert.equal((await service.get(page, other)).status, 200);
    assert.equal(slowReaders.closed, 1);
    socket.destroy();
    await service.app.load.idle();
  });
});

/** Sends a request and reads only the start of the response. */
async function open({ origin }: TestService, path: string, key: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}
