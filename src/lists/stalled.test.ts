import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fillPeople } from '../../test/people.ts';
import { onBothEngines, type TestService } from '../../test/service.ts';
import type { Database } from '../database/open.ts';

const people = 2000;
/** A list far longer than what connections take in that nobody reads from. */
const fill = (database: Database) =>
  fillPeople(database, people, { attributes: { a: 'x'.repeat(9000), b: 'x'.repeat(9000) } });

onBothEngines('readers who do not read', (start) => {
  test('keep no one else from pages, counts and single things', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await fill(service.database);
    const others = ['/v1/risks/summary', '/v1/personnel?limit=1&q=person', '/v1/risks?limit=1', '/v1/me'];
    for (const path of ['/v1/personnel', '/v1/personnel?limit=1000', '/v1/personnel?limit=1000&q=person']) {
      const sockets = await openReaders(service, path, key, 8);
      for (const other of others) assert.equal((await service.get(other, key)).status, 200, other);
      for (const socket of sockets) socket.destroy();
    }
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, people);
  });

  test('give their connections back when their snapshots have been open for too long', async (t) => {
    const service = await start(t);
    service.app.listSpool.maxSnapshotMs = 100;
    const key = await service.key();
    await fill(service.database);
    const sockets = await openReaders(service, '/v1/personnel', key, 8);
    assert.equal((await service.get('/v1/personnel', key)).body?.page.total, people);
    while (service.database.pools().stream?.used !== 0) await setTimeout(10);
    for (const socket of sockets) socket.destroy();
  });

  test('are waited for by a few, not by all', async (t) => {
    const service = await start(t);
    service.app.listSpool.maxSnapshotMs = 600_000;
    const key = await service.key();
    await fill(service.database);
    const readers = await openReaders(service, '/v1/personnel', key, 8);
    const waiting = Array.from({ length: 33 }, () => ask(service, '/v1/personnel', key));
    const answer = await Promise.race(
      waiting.map(
        (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
      ),
    );
    assert.match(answer, /^HTTP\/1\.1 503 .*retry-after: \d/s);
    assert.equal(service.database.pools().stream?.waiting, 32);
    assert.equal((await service.get('/v1/personnel?limit=1', key)).status, 200);
    for (const socket of [...readers, ...waiting]) socket.destroy();
  });
});

/** Connections that ask for something and take no more than the beginning of it. */
async function openReaders(service: TestService, path: string, key: string, count: number) {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = ask(service, path, key).pause();
    sockets.push(socket);
    await new Promise((resolve) => socket.once('readable', resolve));
  }
  return sockets;
}

function ask({ origin }: TestService, path: string, key: string): Socket {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}
