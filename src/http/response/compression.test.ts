import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { fillPeople } from '../../../test/people.ts';
import { onSqlite, type TestService, withKey } from '../../../test/service.ts';
import { compress, compressStream, encodings } from './compression.ts';

const decoders = {
  zstd: zlib.zstdDecompressSync,
  br: zlib.brotliDecompressSync,
  gzip: zlib.gunzipSync,
};

onSqlite('compression', (start) => {
  test('a page is sent in the requested encoding with its own ETag, and any of its ETags gets 304', async (t) => {
    const { service, key } = await withKey(start(t));
    await fillPeople(service.database, 30);
    const path = '/v1/personnel?limit=30';
    const plain = await fetchRaw(service, path, key, 'identity');
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers.vary, 'authorization, cookie, accept, accept-encoding');
    // Three times: a response is cached when it is requested again.
    for (const encoding of [...encodings, ...encodings, ...encodings]) {
      const { headers, bytes } = await fetchRaw(service, path, key, encoding);
      assert.equal(headers['content-encoding'], encoding);
      assert.equal(headers['content-length'], String(bytes.length));
      assert.equal(headers.vary, 'authorization, cookie, accept, accept-encoding');
      assert.ok(bytes.length < plain.bytes.length / 2);
      assert.deepEqual(decoders[encoding](bytes), plain.bytes);
      assert.equal(headers.etag, `${plain.headers.etag?.slice(0, -1)}-${encoding}"`);
      const known = await service.get(path, key, { 'if-none-match': String(headers.etag) });
      assert.deepEqual([known.status, known.headers.get('etag')], [304, headers.etag]);
      assert.equal(known.headers.get('content-encoding'), null);
    }
    const other = `${plain.headers.etag?.slice(0, -1)}-deflate"`;
    assert.equal((await service.get(path, key, { 'if-none-match': other })).status, 200);
  });

  test('a stream is compressed chunk by chunk, and complete', async (t) => {
    const { service, key } = await withKey(start(t));
    await fillPeople(service.database, 3000);
    const plain = await fetchRaw(service, '/v1/personnel', key, 'identity');
    assert.ok(plain.bytes.length > 1_000_000);
    for (const encoding of encodings) {
      const { headers, bytes, first } = await fetchRaw(service, '/v1/personnel', key, encoding);
      assert.equal(headers['content-encoding'], encoding);
      assert.equal(headers.etag, `${plain.headers.etag?.slice(0, -1)}-${encoding}"`);
      assert.ok(bytes.length < plain.bytes.length / 4);
      assert.deepEqual(decoders[encoding](bytes), plain.bytes);
      const begun = await beginningOf(encoding, first);
      assert.ok(begun.length > 1000 && plain.bytes.toString().startsWith(begun), encoding);
    }
  });

  test('HEAD has the headers of GET in every encoding', async (t) => {
    const { service, key } = await withKey(start(t));
    await fillPeople(service.database, 3000);
    for (const path of ['/v1/personnel?limit=30', '/v1/personnel', '/v1/me', '/docs']) {
      for (const encoding of [...encodings, 'identity']) {
        const get = await service.get(path, key, { 'accept-encoding': encoding });
        const head = await service.call('HEAD', path, key, undefined, { 'accept-encoding': encoding });
        for (const name of ['etag', 'content-encoding', 'content-length', 'content-type', 'vary'])
          assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${encoding} ${name}`);
      }
    }
  });

  test('a small response is not compressed, unless the client rejects identity', async (t) => {
    const { service, key } = await withKey(start(t));
    const small = await fetchRaw(service, '/v1/me', key, 'gzip, br, zstd');
    assert.equal(small.headers['content-encoding'], undefined);
    const wanted = await fetchRaw(service, '/v1/me', key, 'gzip, identity;q=0');
    assert.equal(wanted.headers['content-encoding'], 'gzip');
    assert.deepEqual(zlib.gunzipSync(wanted.bytes), small.bytes);

    const rejected = await service.post(
      '/v1/groups',
      key,
      { name: 'x' },
      { 'accept-encoding': 'identity;q=0' },
    );
    assert.equal(rejected.status, 406);
    assert.deepEqual(rejected.body.available, ['identity', 'zstd', 'br', 'gzip']);
    assert.equal((await service.get('/v1/groups', key)).body.page.total, 0, 'nothing was done');
  });

  test('If-Match accepts the ETag of a compressed response', async (t) => {
    const { service, key } = await withKey(start(t));
    const attributes = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, 'x'.repeat(200)]));
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada', attributes });
    const path = `/v1/personnel/${user_id}`;
    const { headers } = await fetchRaw(service, path, key, 'zstd');
    const tag = String(headers.etag);
    assert.match(tag, /^"1-[\da-z]+\..{22}-zstd"$/);
    const patch = (name: string) => service.patch(path, key, { name }, { 'if-match': tag });
    assert.equal((await patch('Ada L.')).status, 200);
    assert.equal((await patch('Ada Lovelace')).status, 412);
  });
});

test('short and long inputs survive a compression round trip', async () => {
  for (const encoding of encodings) {
    for (const length of [1, 1000, 16 * 1024, 16 * 1024 + 1, 1_000_000]) {
      const bytes = Buffer.alloc(length, 'an response ');
      assert.deepEqual(decoders[encoding](await compress(bytes, encoding)), bytes);
    }
  }
});

test('an unread stream applies backpressure, and an abandoned one is destroyed', async () => {
  for (const encoding of encodings) {
    let taken = 0;
    let isEnded = false;
    async function* endless() {
      try {
        for (;;) {
          taken++;
          yield randomBytes(32 * 1024);
        }
      } finally {
        isEnded = true;
      }
    }
    const stream = compressStream(Readable.from(endless(), { objectMode: false }), encoding);
    const closed = new Promise((resolve) => stream.once('close', resolve));
    for (let before = -1; before !== taken; await setTimeout(100)) before = taken;
    assert.ok(taken > 0 && taken < 20, `${encoding}: ${taken} pieces`);
    stream.destroy();
    await closed;
    await setImmediate();
    assert.ok(isEnded, encoding);
  }
});

type Received = { headers: IncomingMessage['headers']; bytes: Buffer; first: Buffer };

/** A response with the bytes on the wire. */
function fetchRaw({ origin }: TestService, path: string, key: string, encoding: string): Promise<Received> {
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': encoding };
  return new Promise((resolve, reject) => {
    httpGet(origin + path, { headers, agent: false }, async (response) => {
      const chunks: Buffer[] = await response.toArray();
      resolve({ headers: response.headers, bytes: Buffer.concat(chunks), first: chunks[0] ?? Buffer.of() });
    }).on('error', reject);
  });
}

/** Decompresses the start of a stream. */
function beginningOf(encoding: (typeof encodings)[number], bytes: Buffer): Promise<string> {
  const decoder = {
    zstd: zlib.createZstdDecompress,
    br: zlib.createBrotliDecompress,
    gzip: zlib.createGunzip,
  }[encoding]();
  decoder.write(bytes);
  return new Promise((resolve) => decoder.once('data', (data) => resolve(data.toString())));
}
