import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { mountReadOnly, mountSmallDisk } from '../../../../test/disks.ts';
import { muster, startMuster, temporaryFolder } from '../../../../test/process.ts';
import { systemClock } from '../../../core/clock.ts';
import { newId } from '../../../core/ids.ts';
import { personRow } from '../../../resources/personnel/queries.ts';
import { openDatabase } from '../../../store/open.ts';
import { insertRows } from '../../../store/writes/rows.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('only the owner may read the database file and the files beside it; the mode of the folder does not change', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'data'));
  chmodSync(join(folder, 'data'), 0o755);
  const before = process.umask(0o022);
  t.after(() => process.umask(before));
  await start(t, folder);
  for (const ending of ['', '-wal', '-shm']) {
    assert.equal(modeOf(join(folder, `data/muster.db${ending}`)), '600', ending);
  }
  assert.equal(modeOf(join(folder, 'data')), '755');
});

test('a removed database file fails reads and writes, is logged once, and is not recreated', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'data/muster.db');
  const service = await start(t, folder);
  for (let i = 0; i < 20; i++) assert.equal((await service.addPerson()).status, 201);
  rmSync(file);
  for (let i = 0; i < 20; i++) await assertUnavailable(await service.addPerson());
  await assertUnavailable(await service.importPeople());
  await assertUnavailable(await service.get('/v1/personnel'));
  await assertUnavailable(await service.get('/v1/personnel?limit=1'));
  await assertUnavailable(await service.get('/readyz'));
  assert.equal((await service.get('/livez')).status, 200);
  assert.equal(existsSync(file), false);
  const reports = service
    .stderr()
    .split('\n')
    .filter((line) => line.includes('removed or replaced'));
  assert.equal(reports.length, 1, service.stderr());
  assert.match(reports[0] ?? '', /"level":60.*The database file data\/muster\.db or its write-ahead log/);

  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  const { code, stdout, stderr } = await muster(folder, ['serve'], { MUSTER_PORT: '0' });
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /^muster: The database file data\/muster\.db is missing or empty, but [^\n]+\n$/);
  assert.equal(existsSync(file), false);
});

test('a removed file is detected without writes', async (t) => {
  const folder = temporaryFolder(t);
  const service = await start(t, folder);
  rmSync(join(folder, 'data/muster.db'));
  while (!service.stderr().includes('removed or replaced')) await setTimeout(50);
  await assertUnavailable(await service.get('/v1/personnel'));
});

test('a replaced file is not written to, and is used after a restart', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'data/muster.db');
  const first = await start(t, folder);
  assert.equal((await first.addPerson()).status, 201);
  first.child.kill('SIGTERM');
  await first.exit;
  copyFileSync(file, `${file}.copy`);

  const second = await start(t, folder, first.key);
  assert.equal((await second.addPerson()).status, 201);
  renameSync(file, `${file}.replaced`);
  renameSync(`${file}.copy`, file);
  for (let i = 0; i < 5; i++) await assertUnavailable(await second.addPerson());
  await assertUnavailable(await second.importPeople());
  await assertUnavailable(await second.get('/v1/personnel'));
  await assertUnavailable(await second.get('/readyz'));
  second.child.kill('SIGTERM');
  await second.exit;

  const third = await start(t, folder, first.key);
  assert.equal(await third.countPeople(), 1);
  third.child.kill('SIGTERM');
  await third.exit;

  renameSync(`${file}.replaced`, file);
  const fourth = await start(t, folder, first.key);
  assert.equal(await fourth.countPeople(), 2, 'the replaced file has all acknowledged writes');
});

test('a file that is moved away and back is used again', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'data/muster.db');
  const service = await start(t, folder);
  assert.equal((await service.addPerson()).status, 201);
  renameSync(file, `${file}.away`);
  await assertUnavailable(await service.addPerson());
  renameSync(`${file}.away`, file);
  assert.equal((await service.get('/readyz')).status, 200);
  assert.equal((await service.addPerson()).status, 201);
  service.child.kill('SIGKILL');
  await service.exit;
  const again = await start(t, folder, service.key);
  assert.ok((await again.countPeople()) >= 2);
});

test('a removed write-ahead log fails writes; acknowledged writes exist after a restart', async (t) => {
  const folder = temporaryFolder(t);
  const service = await start(t, folder);
  for (let i = 0; i < 5; i++) assert.equal((await service.addPerson()).status, 201);
  rmSync(join(folder, 'data/muster.db-wal'));
  await assertUnavailable(await service.addPerson());
  await assertUnavailable(await service.get('/readyz'));
  service.child.kill('SIGTERM');
  await service.exit;
  const again = await start(t, folder, service.key);
  assert.ok((await again.countPeople()) >= 5);
});

test('a write-ahead log without its database is not treated as a first start', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/muster.db-wal'), 'frames');
  for (const command of ['migrate', 'serve']) {
    const { code, stderr } = await muster(folder, [command], { MUSTER_PORT: '0' });
    assert.equal(code, 1);
    assert.match(stderr, /^muster: [^\n]*missing or empty[^\n]*data\/muster\.db-wal[^\n]*\n$/);
  }
  assert.deepEqual(readdirSync(join(folder, 'data')), ['muster.db-wal']);
});

test('a database behind a symbolic link is checked as well', async (t) => {
  const folder = temporaryFolder(t);
  const linked = temporaryFolder(t);
  await muster(linked, ['migrate']);
  mkdirSync(join(folder, 'data'));
  symlinkSync(join(linked, 'data/muster.db'), join(folder, 'data/muster.db'));
  const service = await start(t, folder);
  assert.equal((await service.addPerson()).status, 201);
  assert.equal((await service.importPeople()).status, 200);
  assert.equal((await service.get('/readyz')).status, 200);
  rmSync(join(linked, 'data/muster.db-wal'));
  await assertUnavailable(await service.addPerson());
});

test('on a full disk writes get 507 and the service is ready for reads, until space is freed', async (t) => {
  const folder = mountSmallDisk(t, '8m');
  if (!folder) return;
  const service = await start(t, folder);
  const filler = join(folder, 'filler');
  assert.equal((await service.get('/readyz')).status, 200);
  fillDisk(filler);
  // The first writes may fit into the part of the write-ahead log that is already allocated.
  let full = await service.addPerson();
  for (let i = 0; i < 1000 && full.status === 201; i++) full = await service.addPerson();
  assert.equal(full.status, 507);
  assert.equal(((await full.json()) as { code: string }).code, 'storage_full');
  await setTimeout(1100);
  const checks = async () => ((await (await service.get('/readyz?verbose')).json()) as Ready).checks;
  assert.equal((await service.get('/readyz')).status, 200);
  assert.equal((await checks())[1]?.detail, 'The disk of the service is full, so writes fail.');
  assert.equal((await service.get('/v1/personnel')).status, 200);
  rmSync(filler);
  await setTimeout(1100);
  assert.deepEqual(await checks(), [
    { name: 'reads', status: 'ok' },
    { name: 'writes', status: 'ok' },
    { name: 'acceptances', status: 'ok' },
  ]);
  assert.equal((await service.addPerson()).status, 201);
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
});

test('a bulk write on a full disk reports the full disk and is rolled back', async (t) => {
  const folder = mountSmallDisk(t, '8m');
  if (!folder) return;
  const database = openDatabase(`sqlite:${join(folder, 'muster.db')}`);
  t.after(() => database.close());
  await database.migrate();
  const moment = systemClock();
  const attributes = { a: 'x'.repeat(9000) };
  const rows = Array.from({ length: 2000 }, (_, i) =>
    personRow(newId('person'), { name: `Person ${i}`, attributes }, moment),
  );
  const error = await database
    .write(async (db) => {
      // Batches are sent without waiting for the ones before.
      for (let i = 0; i < rows.length; i += 100) await insertRows(db, 'people', rows.slice(i, i + 100));
    }, 'bulk')
    .catch((error) => error);
  assert.equal(error.code, 'SQLITE_FULL');
  assert.equal(database.explain(error)?.code, 'storage_full');
  assert.deepEqual(await database.db.selectFrom('people').select('user_id').execute(), []);
  await database.write((db) => insertRows(db, 'people', rows.slice(0, 10)), 'bulk');
  assert.equal((await database.db.selectFrom('people').select('user_id').execute()).length, 10);
});

test('a database file that becomes read-only leaves the service ready for reads', async (t) => {
  const folder = mountSmallDisk(t, '8m');
  if (!folder) return;
  const service = await start(t, folder);
  assert.equal((await service.addPerson()).status, 201);
  mountReadOnly(join(folder, 'data/muster.db'));
  await setTimeout(1100);
  const probe = await service.get('/readyz?verbose');
  assert.equal(probe.status, 200);
  assert.match(((await probe.json()) as Ready).checks[1]?.detail ?? '', /read-only/);
});

type Ready = { checks: { name: string; status: string; detail?: string }[] };

/** Uses up all free space. */
function fillDisk(filler: string): void {
  const file = openSync(filler, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

async function start(t: TestContext, folder: string, earlierKey?: string) {
  const service = await startMuster(t, folder);
  if (earlierKey !== undefined) assert.equal(service.key, undefined);
  const key = service.key ?? earlierKey ?? '';
  const call = (path: string, type?: string, body?: string) =>
    fetch(service.origin + path, {
      headers: { authorization: `Bearer ${key}`, ...(type && { 'content-type': type }) },
      ...(body !== undefined && { method: 'POST', body }),
    });
  return {
    ...service,
    key,
    get: (path: string) => call(path),
    addPerson: () => call('/v1/personnel', 'application/json', '{"name":"Ada"}'),
    importPeople: () => call('/v1/personnel/import', 'text/csv', 'name\nBob\nCem\n'),
    countPeople: async (): Promise<number> =>
      ((await (await call('/v1/personnel')).json()) as { page: { total: number } }).page.total,
  };
}

async function assertUnavailable(response: Response): Promise<void> {
  const { detail } = (await response.json()) as { detail?: string };
  assert.equal(response.status, 503);
  assert.match(detail ?? '', /removed or replaced while the service was running/);
  assert.ok(response.headers.get('retry-after'));
}
