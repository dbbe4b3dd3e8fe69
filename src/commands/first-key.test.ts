import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/process.ts';
import { onBothEngines } from '../../test/service.ts';
import { openDatabase } from '../store/open.ts';
import { createFirst } from './first-key.ts';

onBothEngines('the first key', (start) => {
  test('is written to a file that only its owner can read, once, or is not created', async (t) => {
    const { app, database, get } = await start(t);
    const folder = temporaryFolder(t);
    const file = join(folder, 'first-key');
    const keys = () => database.db.selectFrom('keys').selectAll().execute();

    await assert.rejects(createFirst(database, app.clock(), join(folder, 'nothing/first-key')), {
      name: 'UsageError',
      message: /^MUSTER_FIRST_KEY_FILE: .* cannot be created \(ENOENT\)/,
    });
    writeFileSync(file, 'mst_of_another_database');
    await assert.rejects(createFirst(database, app.clock(), file), /exists already/);
    assert.equal(readFileSync(file, 'utf8'), 'mst_of_another_database');
    rmSync(file);
    assert.deepEqual(await keys(), []);

    // A disk that is full when the file is written, or a commit that fails, leaves neither.
    const write: typeof database.write = (work) =>
      database.write(async (db, hasWaiters) => {
        await work(db, hasWaiters);
        assert.match(readFileSync(file, 'utf8'), /^mst_/, 'the file is complete before the commit');
        throw new Error('The commit failed.');
      });
    await assert.rejects(createFirst({ ...database, write }, app.clock(), file), /The commit failed/);
    assert.ok(!existsSync(file));
    assert.deepEqual(await keys(), []);

    // A start that was killed may have left the file empty.
    writeFileSync(file, '', { mode: 0o644 });
    assert.deepEqual(await createFirst(database, app.clock(), file), { file });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const key = readFileSync(file, 'utf8');
    assert.match(key, /^mst_\w+\n$/);
    assert.equal((await get('/v1/me', key.trim())).status, 200);
    // No link was created that nobody has seen.
    assert.deepEqual(await database.db.selectFrom('links').selectAll().execute(), []);

    rmSync(file);
    assert.equal(await createFirst(database, app.clock(), file), undefined);
    assert.ok(!existsSync(file));
    assert.equal((await keys()).length, 1);
  });

  test('is created by one of several instances that start at once, and the others start too', async (t) => {
    const { app, get, url } = await start(t);
    const file = join(temporaryFolder(t), 'first-key');
    const instances = [1, 2, 3].map(() => openDatabase(url));
    t.after(() => Promise.all(instances.map((instance) => instance.close())));
    const created = await Promise.all(instances.map((instance) => createFirst(instance, app.clock(), file)));
    assert.equal(created.filter((first) => first?.file === file).length, 1);
    assert.equal(created.filter((first) => first === undefined).length, 2);
    assert.equal((await get('/v1/me', readFileSync(file, 'utf8').trim())).status, 200);
  });

  test('is not created if a setting says so', async (t) => {
    const { app, database } = await start(t);
    assert.equal(await createFirst(database, app.clock(), 'off'), undefined);
    assert.ok(!existsSync('off'));
    for (const table of ['keys', 'links'] as const)
      assert.deepEqual(await database.db.selectFrom(table).selectAll().execute(), []);
  });

  test('stays in its file if the outcome of the commit is unknown', async (t) => {
    const { app, database, faults, get } = await start(t);
    const file = join(temporaryFolder(t), 'first-key');
    Object.assign(faults, { failure: 'unknown, saved' });
    await assert.rejects(createFirst(database, app.clock(), file), /may or may not have been saved/);
    Object.assign(faults, { failure: undefined });
    assert.equal((await get('/v1/me', readFileSync(file, 'utf8').trim())).status, 200);
  });
});
