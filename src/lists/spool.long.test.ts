import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { mountSmallDisk } from '../../test/disks.ts';
import { fillPeople } from '../../test/people.ts';
import { onBothEngines, startTestService, type TestService, withKey } from '../../test/service.ts';
import type { Database } from '../database/open.ts';

const people = 1000;
/** A list far longer than the socket buffers of an unread connection. */
const fill = (database: Database) =>
  fillPeople(database, people, { attributes: { a: 'x'.repeat(9000), b: 'é'.repeat(5000) } });

onBothEngines('a slow reader of a whole list', (start) => {
  test('gets the whole list as of its request without holding a snapshot', async (t) => {
    const { service, key } = await filled(t, start);
    service.app.listSpool.maxSnapshotMs = 100;
    const paths = ['/v1/personnel', '/v1/personnel?format=csv', '/v1/personnel?format=xlsx'];
    const fast = await Promise.all(paths.map((path) => readAll(openRequest(service, path, key))));
    const slow = await Promise.all(paths.map((path) => openRequest(service, path, key)));
    const packed = await openRequest(service, '/v1/personnel', key, 'gzip');
    await untilSnapshotsEnd(service);
    await fillPeople(service.database, 10);

    for (const [i, response] of slow.entries()) {
      const { bytes, isComplete } = await readAll(response);
      assert.ok(isComplete);
      assert.ok(bytes.equals(fast[i]?.bytes ?? Buffer.of()), String(paths[i]));
    }
    const { bytes } = await readAll(packed);
    assert.ok(gunzipSync(bytes).equals(fast[0]?.bytes ?? Buffer.of()));
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, people + 10);
    assert.equal(service.app.listSpool.readers.size, 0);
  });

  test('gets the whole list if it keeps reading while the rest moves to a file', async (t) => {
    const { service, key } = await filled(t, start);
    const fast = await readAll(openRequest(service, '/v1/personnel', key));
    for (const maxSnapshotMs of [0, 5, 20, 50]) {
      service.app.listSpool.maxSnapshotMs = maxSnapshotMs;
      const { bytes } = await readAll(openRequest(service, '/v1/personnel', key));
      assert.ok(bytes.equals(fast.bytes), `${maxSnapshotMs} ms`);
    }
  });

  test('gets the whole list if the file returns less than was asked for', async (t) => {
    const { service, key } = await filled(t, start);
    service.app.listSpool.maxSnapshotMs = 100;
    const fast = await readAll(openRequest(service, '/v1/personnel', key));
    const path = join(tmpdir(), crypto.randomUUID());
    const file = await open(path, 'wx+');
    const prototype = Object.getPrototypeOf(file);
    await file.close();
    await unlink(path);
    const { read } = prototype;
    t.mock.method(
      prototype,
      'read',
      function (this: FileHandle, bytes: Buffer, start: number, length: number, at: number) {
        return read.call(this, bytes, start, Math.min(length, 1000), at);
      },
    );
    const slow = await openRequest(service, '/v1/personnel', key);
    await untilSnapshotsEnd(service);
    const { bytes } = await readAll(slow);
    assert.ok(bytes.equals(fast.bytes));
  });

  test('is dropped if the files of slow readers exceed their limit, and sees that the list is incomplete', async (t) => {
    const { service, key } = await filled(t, start);
    // Room for one whole list, not for the rest of six.
    const { bytes } = await readAll(openRequest(service, '/v1/personnel', key));
    Object.assign(service.app.listSpool, { maxSnapshotMs: 50, maxBytes: bytes.length });
    const slow: IncomingMessage[] = [];
    for (const encoding of ['identity', 'identity', 'gzip', 'identity', 'gzip', 'identity']) {
      slow.push(await openRequest(service, '/v1/personnel', key, encoding));
      await untilSnapshotsEnd(service);
    }
    const results = await Promise.all(slow.map((response) => readAll(response)));
    const complete = results.filter(({ isComplete }) => isComplete).length;
    assert.ok(complete > 0 && complete < slow.length, `${complete} complete`);
    assert.equal((await readAll(openRequest(service, '/v1/personnel', key))).isComplete, true);
  });

  test('that disconnects releases its connection and its file', async (t) => {
    const { service, key } = await filled(t, start);
    for (const maxSnapshotMs of [0, 30, 600_000]) {
      service.app.listSpool.maxSnapshotMs = maxSnapshotMs;
      const response = await openRequest(service, '/v1/personnel', key);
      await setTimeout(30);
      response.destroy();
      await untilSnapshotsEnd(service);
      while (service.app.listSpool.readers.size > 0) await setTimeout(10);
    }
  });

  test('is cut off if the file cannot be created, and the service continues', async (t) => {
    const { service, key } = await filled(t, start);
    service.app.listSpool.maxSnapshotMs = 50;
    setTemporaryFolder(t, join(tmpdir(), 'no such folder'));
    const { isComplete } = await readAllAfter(service, openRequest(service, '/v1/personnel', key));
    assert.equal(isComplete, false);
    assert.equal((await service.get('/v1/personnel?limit=1', key)).status, 200);
    assert.equal((await service.get('/readyz')).status, 200);
  });
});

test('a slow reader is cut off if the temporary disk is full, and the service continues', async (t) => {
  const folder = mountSmallDisk(t, '1m');
  if (!folder) return;
  const { service, key } = await withKey(startTestService(t, 'sqlite'));
  await fill(service.database);
  service.app.listSpool.maxSnapshotMs = 50;
  setTemporaryFolder(t, folder);
  const { isComplete } = await readAllAfter(service, openRequest(service, '/v1/personnel', key));
  assert.equal(isComplete, false);
  assert.equal((await service.get('/v1/personnel?limit=1', key)).status, 200);
  assert.deepEqual(readdirSync(folder), []);
});

test('the write-ahead log stays small during a slow read and concurrent writes', async (t) => {
  const { service, key } = await withKey(startTestService(t, 'sqlite'));
  await fill(service.database);
  const wal = `${service.url.slice('sqlite:'.length)}-wal`;
  const path = '/v1/personnel?q=person';
  const fast = await readAll(openRequest(service, path, key));
  service.app.listSpool.maxSnapshotMs = 200;
  // The slow client reads nothing while the writes last, however long that is.
  service.app.slowReaders.limits.periodMs = 600_000;
  const slow = await openRequest(service, path, key);
  const writing = { isOver: false };
  // Overlapping reads must not keep the log from being truncated either.
  const otherReads = [0, 1].map(async (i) => {
    await setTimeout(100 * i);
    while (!writing.isOver) assert.ok((await readAll(openRequest(service, path, key))).isComplete);
  });
  let maxWalBytes = 0;
  let written = 0;
  for (; written < 200_000_000; written += 200 * 18_000) {
    const attributes = { a: 'y'.repeat(9000), b: 'z'.repeat(9000) };
    await fillPeople(service.database, 200, { name: 'Ada', attributes });
    maxWalBytes = Math.max(maxWalBytes, statSync(wal).size);
  }
  writing.isOver = true;
  await Promise.all(otherReads);
  t.diagnostic(`the log reached ${maxWalBytes / 1e6} MB while ${written / 1e6} MB were written`);
  assert.ok(maxWalBytes < 128 * 1024 * 1024, `${maxWalBytes} bytes`);
  while (statSync(wal).size > 16 * 1024 * 1024) await setTimeout(50);
  assert.ok((await readAll(slow)).bytes.equals(fast.bytes));
});

async function filled(t: TestContext, start: (t: TestContext) => Promise<TestService>) {
  const { service, key } = await withKey(start(t));
  await fill(service.database);
  return { service, key };
}

/** Requests a path and reads only the headers of the response. */
function openRequest(service: TestService, path: string, key: string, encoding = 'identity') {
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': encoding };
  return new Promise<IncomingMessage>((resolve, reject) => {
    get(service.origin + path, { headers, agent: false }, resolve).on('error', reject);
  });
}

async function readAll(request: IncomingMessage | Promise<IncomingMessage>) {
  const response = await request;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk);
  } catch {
    // Cut off: `complete` is false.
  }
  return { bytes: Buffer.concat(chunks), isComplete: response.complete };
}

/** Reads the rest after the list has moved to a file, or has failed to. */
async function readAllAfter(service: TestService, request: Promise<IncomingMessage>) {
  const response = await request;
  await untilSnapshotsEnd(service);
  return readAll(response);
}

async function untilSnapshotsEnd({ database }: TestService): Promise<void> {
  while (database.pools().stream?.used !== 0) await setTimeout(10);
}

function setTemporaryFolder(t: TestContext, folder: string): void {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
}
