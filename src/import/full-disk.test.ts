import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountSmallDisk } from '../../test/disks.ts';
import { muster, startMuster } from '../../test/process.ts';

const people = (header: string, row: (i: number) => string) =>
  [header, ...Array.from({ length: 20_000 }, (_, i) => row(i))].join('\n');

test('a full disk interrupts an import with 507 and advice on how to continue', async (t) => {
  const folder = mountSmallDisk(t, '6m');
  if (!folder) return;
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
