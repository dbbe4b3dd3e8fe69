import assert from 'node:assert/strict';
import { readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startMuster, temporaryFolder } from '../../test/process.ts';
import { onBothEngines, onSqlite } from '../../test/service.ts';
import { recordBackup } from '../store/backup/record.ts';
import { openDatabase } from '../store/open.ts';
import { backupCommand } from './backup.ts';
import { scheduledBackup } from './scheduled-backup.ts';

test('scheduled backups keep the newest ones and leave other files alone', (t) => {
  const folder = join(temporaryFolder(t), 'backups');
  for (const day of ['16', '17', '18', '19']) {
    const { file, deleteOld } = scheduledBackup(
      { backup_dir: folder },
      '2',
      undefined,
      `2026-11-${day}T02:00:00.000Z`,
    );
    writeFileSync(file, '');
    writeFileSync(join(folder, 'before-upgrade.backup'), '');
    deleteOld();
  }
  assert.deepEqual(readdirSync(folder).sort(), [
    'before-upgrade.backup',
    'muster-20261118T020000Z.backup',
    'muster-20261119T020000Z.backup',
  ]);
});

test('the backup that was just written is kept, whatever the dates of others', (t) => {
  const folder = temporaryFolder(t);
  const ahead = ['20990101T000000Z', '20990102T000000Z', '20990103T000000Z'];
  for (const time of ahead) writeFileSync(join(folder, `muster-${time}.backup`), '');
  const { file, deleteOld } = scheduledBackup({ backup_dir: folder }, '2', undefined, '2026-11-19T02:00:00Z');
  writeFileSync(file, '');
  deleteOld();
  assert.deepEqual(readdirSync(folder).sort(), [
    'muster-20261119T020000Z.backup',
    'muster-20990103T000000Z.backup',
  ]);
});

test('a folder of backups that cannot be used is one sentence', (t) => {
  const link = join(temporaryFolder(t), 'backups');
  symlinkSync('nothing', link);
  assert.throws(() => scheduledBackup({ backup_dir: link }, '7', undefined), {
    name: 'UsageError',
    message: /^MUSTER_BACKUP_DIR: the folder .*backups cannot be created \(E\w+\)\. Name a folder/,
  });
});

test('--keep needs a folder and a number, and no other file', () => {
  assert.throws(() => scheduledBackup({ backup_dir: undefined }, '7', undefined), /Set MUSTER_BACKUP_DIR/);
  assert.throws(() => scheduledBackup({ backup_dir: 'x' }, '0', undefined), /--keep is “0” but must be/);
  assert.throws(() => scheduledBackup({ backup_dir: 'x' }, '7', 'a.backup'), /either --keep or --output/);
});

onSqlite('metrics of storage', (start) => {
  test('tell the size of the database, free disk and the age of the newest backup', async (t) => {
    const folder = temporaryFolder(t);
    const service = await start(t, { environment: { MUSTER_BACKUP_DIR: folder } });
    const key = await service.key();
    const value = async (name: string) =>
      new RegExp(`^${name} (.+)$`, 'm').exec((await service.get('/metrics', key)).text)?.[1];
    assert.equal(await value('muster_backup_age_seconds'), undefined);
    const file = join(folder, 'a.backup');
    writeFileSync(file, '');
    utimesSync(file, new Date(), new Date(Date.now() - 7_200_000));
    // Neither tells when a backup was made.
    symlinkSync('nothing', join(folder, 'link.backup'));
    writeFileSync(join(folder, 'ahead.backup'), '');
    utimesSync(join(folder, 'ahead.backup'), new Date(), new Date(Date.now() + 86_400_000));
    assert.equal(Math.round(Number(await value('muster_backup_age_seconds')) / 3600), 2);
    assert.ok(Number(await value('muster_database_size_bytes')) > 50_000);
    assert.ok(Number(await value('muster_disk_free_bytes')) > 0);
    assert.ok(Number(await value('muster_database_wal_bytes')) >= 0);
    assert.equal(await value('muster_database_writable'), '1');
  });
});

onBothEngines('a backup by another process', (start) => {
  test('is in the metrics of the service, with its result and size', async (t) => {
    const folder = temporaryFolder(t);
    const service = await start(t);
    const key = await service.key();
    const value = async (name: string) => {
      const found = new RegExp(`^muster_backup_${name} (.+)$`, 'm').exec(
        (await service.get('/metrics', key)).text,
      );
      return found ? Number(found[1]) : undefined;
    };
    const before = Date.now() / 1000;
    assert.deepEqual(
      [await value('last_success_timestamp_seconds'), await value('last_result'), await value('age_seconds')],
      [0, undefined, undefined],
    );
    const database = openDatabase(service.url);
    t.after(() => database.close());
    const file = join(folder, 'a.backup');
    const { bytes } = await backupCommand(database, file, () => {});
    assert.equal(statSync(file).size, bytes);
    assert.ok(Number(await value('last_success_timestamp_seconds')) >= before - 1);
    assert.deepEqual([await value('last_size_bytes'), await value('last_result')], [bytes, 1]);

    await assert.rejects(backupCommand(database, join(folder, 'missing/a.backup'), () => {}));
    assert.deepEqual([await value('last_size_bytes'), await value('last_result')], [bytes, 0]);
    await backupCommand(database, file, () => {});
    assert.equal(await value('last_result'), 1);

    // What cannot be stored does not make the backup fail.
    const errors: unknown[] = [];
    const write = () => Promise.reject(new Error('read-only'));
    await backupCommand(
      { ...database, write },
      file,
      () => {},
      (error) => errors.push(error),
    );
    assert.equal(errors.length, 1);
  });
});

test('the start says in the log how old the newest backup is', async (t) => {
  const folder = temporaryFolder(t);
  const linesOf = async (environment = {}) => {
    const running = await startMuster(t, folder, environment);
    running.child.kill();
    await running.exit;
    return running.stderr().match(/[^"]*backup[^"]*(?="\})/g);
  };
  assert.equal(await linesOf(), null, 'not at the first start');
  assert.deepEqual(await linesOf(), ['No backup of this database is known. `muster backup` makes one.']);
  const database = openDatabase(`sqlite:${join(folder, 'data/muster.db')}`);
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  await recordBackup(database, { succeeded_at: hoursAgo(40), bytes: 1 });
  assert.deepEqual(await linesOf(), ['The newest backup is 40 hours old.']);
  await recordBackup(database, { succeeded_at: hoursAgo(0), bytes: 1 });
  await database.close();
  assert.equal(await linesOf(), null);
  assert.deepEqual(await linesOf({ MUSTER_LOG_LEVEL: 'info' }), ['The newest backup is 0 hours old.']);
});
