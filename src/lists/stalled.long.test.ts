import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fillPeople } from '../../test/people.ts';
import { onBothEngines, type TestService, withKey } from '../../test/service.ts';
import type { Database } from '../database/open.ts';

const people = 2000;
/** A list far longer than the socket buffers of unread connections. */
const fill = (database: Database) =>
  fillPeople(database, people, { attributes: { a: 'x'.repeat(9000), b: 'x'.repeat(9000) } });

onBothEngines('clients that do not read their response', (start) => {
  test('do not block requests for pages, summaries and single resources', async (t) => {
    const { service, key } = await withKey(start(t));
    await fill(service.database);
    const otherPaths = ['/v1/risks/summary', '/v1/personnel?limit=1&q=person', '/v1/risks?limit=1', '/v1/me'];
    for (const path of ['/v1/personnel', '/v1/personnel?limit=1000', '/v1/personnel?limit=1000&q=person']) {
      const sockets = await openReaders(service, path, key, 8);
      for (const other of otherPaths) assert.equal((await service.get(other, key)).status, 200, other);
      for (const socket of sockets) socket.destroy();
    }
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, people);
  });

  test('release their connections when their snapshots have been open for too long', async (t) => {
    const service = await start(t);
    service.app.listSpool.maxSnapshotMs = 100;
    const key = await service.key();
    await fill(service.database);
    const sockets = await openReaders(service, '/v1/personnel', key, 8);
    assert.equal((await service.get('/v1/personnel', key)).body?.page.total, people);
    while (service.database.pools().stream?.used !== 0) await setTimeout(10);
    for (const socket of sockets) socket.destroy();
  });

  test('have a bounded queue of waiting requests; further requests get 503', async (t) => {
    const service = await start(t);
    service.app.listSpool.maxSnapshotMs = 600_000;
    const key = await service.key();
    await fill(service.database);
    const readers = await openReaders(service, '/v1/personnel', key, 8);
    const waiting = Array.from({ length: 33 }, () => sendRequest(service, '/v1/personnel', key));
    const response = await Promise.race(
      waiting.map(
        (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
      ),
    );
    assert.match(response, /^HTTP\/1\.1 503 .*retry-after: \d/s);
    assert.equal(service.database.pools().stream?.waiting, 32);
    assert.equal((await service.get('/v1/personnel?limit=1', key)).status, 200);
    for (const socket of [...readers, ...waiting]) socket.destroy();
  });
});

/** Opens connections that send a request and read only the start of the response. */
async function openReaders(service: TestService, path: string, key: string, count: number) {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = sendRequest(service, path, key).pause();
    sockets.push(socket);
    await new Promise((resolve) => socket.once('readable', resolve));
  }
  return sockets;
}

function sendRequest({ origin }: TestService, path: string, key: string): Socket {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}
