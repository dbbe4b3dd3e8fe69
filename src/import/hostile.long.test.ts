import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileTypesByFormat, hostileFiles } from '../../test/hostile-files.ts';
import { stallEnvironment, takeStallMs } from '../../test/loop-stall.ts';
import { startMuster, temporaryFolder } from '../../test/process.ts';

const maxStallMs = 100;
const maxResponseMs = 90_000;

/** A garbage collection may lengthen one attempt; a file that blocks the event loop does so every time. */
const maxAttempts = 3;

test('no imported file blocks the event loop', async (t) => {
  const service = await startMuster(t, temporaryFolder(t), stallEnvironment);

  async function send(path: string, type: string, body: Buffer | string) {
    await takeStallMs(service);
    const start = performance.now();
    const response = await fetch(service.origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': type },
      body: body as BodyInit,
    });
    const text = await response.text();
    const elapsedMs = performance.now() - start;
    return { status: response.status, text, elapsedMs, stallMs: await takeStallMs(service) };
  }

  for (const [name, [format, create]] of Object.entries(hostileFiles)) {
    await t.test(`${format}: ${name}`, async () => {
      const body = await create();
      const stalls: number[] = [];
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const path = `/v1/personnel/import?dry_run=${attempt % 2 === 1}`;
        const { status, text, elapsedMs, stallMs } = await send(path, fileTypesByFormat[format], body);
        assert.ok(status < 500, `${status} ${text.slice(0, 300)}`);
        assert.ok(elapsedMs < maxResponseMs, `${elapsedMs} ms`);
        stalls.push(Math.round(stallMs));
        // Without rows, a dry run does all that an import does.
        const hasRows = status === 200 && !text.startsWith('{"summary":{"rows":0,');
        if ((attempt >= 2 || !hasRows) && stallMs < maxStallMs) break;
      }
      assert.ok(Math.min(...stalls) < maxStallMs, `stalls of ${stalls.join(', ')} ms`);
    });
  }
});
