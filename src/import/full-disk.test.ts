import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { muster, startMuster } from '../../test/process.ts';

/** Mounts a file system of a few mebibytes; undefined if the user is not allowed to. */
function smallDisk(t: TestContext, mebibytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'muster-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  t.after(() => {
    // The service may still have files open in it.
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  return folder;
}

const people = (header: string, row: (i: number) => string) =>
  [header, ...Array.from({ length: 20_000 }, (_, i) => row(i))].join('\n');

test('a full disk interrupts an import with 507 and advice on how to continue', async (t) => {
  const folder = smallDisk(t, 6);
  if (!folder) return t.skip('only root can mount a small disk');
  const service = await startMuster(t, folder);
  const send = async (file: string, query = '') => {
    const response = await fetch(`${service.origin}/v1/personnel/import${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'text/csv' },
      body: file,
    });
    return { status: response.status, body: await response.json() };
  };

  const plain = await send(people('name,title', (i) => `Person ${i},${'x'.repeat(150)}`));
  assert.equal(plain.status, 507, JSON.stringify(plain.body).slice(0, 500));
  assert.equal(plain.body.code, 'storage_full');
  const [, last] = /^2-(\d+)$/.exec(plain.body.imported_lines) ?? [];
  assert.equal(Number(last) - 1, plain.body.created, 'one row per line after the header');
  assert.match(plain.body.detail, /remove the imported lines \(2-\d+\) from the file and send the rest/);
  const { stdout } = await muster(folder, ['export', 'personnel', '--format', 'ndjson']);
  assert.equal(stdout.trim().split('\n').length, plain.body.created, 'the reported rows are stored');

  const known = await send(people('name,external_id,title', (i) => `Person ${i},e${i},${'x'.repeat(150)}`));
  assert.equal(known.status, 507);
  if (known.body.rows) assert.match(known.body.detail, /mode=upsert/);

  const dryRun = await send('name\nAda', '?dry_run=true');
  assert.equal(dryRun.status, 507);
  assert.match(dryRun.body.detail, /needs room for a copy of the database/);
});
