import assert from 'node:assert/strict';
import { existsSync, linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { temporaryFolder } from '../../../../test/process.ts';
import { openDatabase } from '../../../store/open.ts';
import type { Tables } from '../../tables.ts';
import { Checkpointer } from '../checkpoints.ts';
import { removeOldCopies } from './dry-run-copy.ts';
import { lockFolder } from './restore.ts';

test('a folder that a process of another container uses is kept, until it is abandoned', (t) => {
  const file = join(temporaryFolder(t), 'muster.db');
  const folders = ['dry-run', 'restore'].map((kind) => `${file}-${kind}-${2 ** 30}-x`);
  // No process here has this id.
  for (const folder of folders) mkdirSync(folder);
  const locks = folders.map(lockFolder);
  removeOldCopies(file);
  assert.deepEqual(folders.map(existsSync), [true, true]);
  for (const lock of locks) lock?.release();
  removeOldCopies(file);
  assert.deepEqual(folders.map(existsSync), [false, false]);
});

test('a second service on a file is noticed, until the first one has stopped', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'muster.db')}`;
  const first = openDatabase(url);
  assert.equal(first.claim(), undefined);
  const second = openDatabase(url);
  assert.match(second.claim() ?? '', /^Another service uses the database file .* should use PostgreSQL\.$/);
  await first.close();
  assert.equal(second.claim(), undefined);
  await second.close();
});

test('a second service is noticed also if it knows the file by a link', async (t) => {
  const folder = temporaryFolder(t);
  const first = openDatabase(`sqlite:${join(folder, 'muster.db')}`);
  assert.equal(first.claim(), undefined);
  symlinkSync('muster.db', join(folder, 'link.db'));
  const second = openDatabase(`sqlite:${join(folder, 'link.db')}`);
  assert.match(second.claim() ?? '', /^Another service uses the database file .*link\.db\./);
  await second.close();
  await first.close();
});

test('a file with another name is reported at the start', async (t) => {
  const folder = temporaryFolder(t);
  const database = openDatabase(`sqlite:${join(folder, 'muster.db')}`);
  await database.migrate();
  linkSync(join(folder, 'muster.db'), join(folder, 'other.db'));
  assert.match(database.claim() ?? '', /muster\.db has another name \(a hard link\)\. Remove that/);
  await database.close();
});

test('a database of another application is refused and stays as it is', async (t) => {
  const file = join(temporaryFolder(t), 'notes.db');
  const notes = new Sqlite(file);
  notes.exec('create table notes (text)');
  const database = openDatabase(`sqlite:${file}`);
  await assert.rejects(
    database.migrate(),
    /is a database of another application \(it has the tables notes\)/,
  );
  await database.close();
  assert.deepEqual(notes.prepare('select name from sqlite_schema').pluck().all(), ['notes']);
  notes.close();
});

test('an error while the write-ahead log is truncated in the background ends nothing', async () => {
  const checkpointer = new Checkpointer({
    walBytes: () => 2 ** 30,
    setAutocheckpoint() {
      throw new Error('The file is gone.');
    },
  });
  checkpointer.stop();
  await checkpointer.afterCommit({} as Kysely<Tables>, async () => {});
});
