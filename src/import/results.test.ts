import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { watchLoop } from '../../test/loop-stall.ts';
import { asJson } from './import-route.ts';
import { Results } from './results.ts';

const rows = 100_000;

test('sending the results of a long import does not block the event loop', async () => {
  const results = new Results(rows);
  for (let i = 0; i < rows; i++) {
    const detail = `No person matches “unknown ${i}”. `.repeat(30);
    const errors = [{ pointer: '#/manager', code: 'unknown_reference', detail }];
    results.set(i, { line: i + 2, status: 'failed', errors });
  }

  const loop = watchLoop();
  let bytes = 0;
  // A client that reads as fast as it can.
  for await (const text of Readable.from(asJson({ summary: {} }, results.texts()))) bytes += text.length;
  const stallMs = loop.takeMaxMs();
  loop.stop();
  assert.ok(bytes > rows * 500, `${bytes} bytes`);
  assert.ok(stallMs < 100, `${stallMs} ms`);
});
