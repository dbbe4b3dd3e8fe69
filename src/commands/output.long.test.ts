import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { mainFile, muster, temporaryFolder } from '../../test/process.ts';
import { openDatabase } from '../store/open.ts';
import { writeOutput } from './output.ts';

const write = (output: string) => writeOutput(Readable.from(['new']), output, { mode: 0o600, flush: true });

test('a regular file is replaced, and a link to one stays a link', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'files'));
  const file = join(folder, 'files/a.backup');
  const link = join(folder, 'latest.backup');
  writeFileSync(file, 'old');
  linkSync(file, join(folder, 'files/kept'));
  symlinkSync('files/a.backup', link);
  await write(link);
  assert.equal(readlinkSync(link), 'files/a.backup');
  assert.equal(readFileSync(file, 'utf8'), 'new');
  assert.equal(readFileSync(join(folder, 'files/kept'), 'utf8'), 'old', 'replaced as a whole');
  assert.equal(lstatSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder).sort(), ['files', 'latest.backup']);
  assert.deepEqual(readdirSync(join(folder, 'files')).sort(), ['a.backup', 'kept']);
});

test('two commands that write the same file at once leave a complete one and nothing else', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'a.backup');
  const slow = new PassThrough();
  const first = writeOutput(slow, file);
  slow.write('first, ');
  while (readdirSync(folder).length === 0) await setImmediate();
  await write(file);
  assert.equal(readFileSync(file, 'utf8'), 'new');
  slow.end('complete');
  await first;
  assert.equal(readFileSync(file, 'utf8'), 'first, complete');
  assert.deepEqual(readdirSync(folder), ['a.backup']);
});

test('what killed commands left is removed, and what another command writes is not', async (t) => {
  const folder = temporaryFolder(t);
  const old = new Date(Date.now() - 2 * 3_600_000);
  const abandoned = ['muster-1b9d6bcd.part', 'muster-20261118T020000Z.backup.part'];
  for (const name of [...abandoned, 'other.part', 'muster-1.backup']) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), old, old);
  }
  writeFileSync(join(folder, 'muster-busy.part'), '');
  await write(join(folder, 'a.csv'));
  assert.deepEqual(readdirSync(folder).sort(), [
    'a.csv',
    'muster-1.backup',
    'muster-busy.part',
    'other.part',
  ]);
});

test('a named pipe, or a link to it, gets the content and stays a pipe', async (t) => {
  const folder = temporaryFolder(t);
  const pipe = join(folder, 'pipe');
  const link = join(folder, 'link');
  execFileSync('mkfifo', [pipe]);
  symlinkSync(pipe, link);
  for (const output of [pipe, link]) {
    const reader = spawn('cat', [pipe]);
    t.after(() => reader.kill());
    const read = text(reader.stdout);
    await write(output);
    assert.ok(lstatSync(pipe).isFIFO());
    assert.equal(await read, 'new');
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.deepEqual(readdirSync(folder).sort(), ['link', 'pipe']);
  }
});

const isRoot = process.getuid?.() === 0;
test('a character device gets the content and stays a device; a disk is refused', {
  skip: !isRoot && 'only root can create a device',
}, async (t) => {
  const folder = temporaryFolder(t);
  const [nothing, disk] = [join(folder, 'null'), join(folder, 'disk')];
  try {
    // The device of /dev/null, and a block device that no driver has.
    execFileSync('mknod', [nothing, 'c', '1', '3']);
    execFileSync('mknod', [disk, 'b', '240', '0']);
  } catch {
    return t.skip('devices cannot be created here');
  }
  await write(nothing);
  await assert.rejects(write(disk), /disk is a disk\. Name a file\./);
  assert.ok(lstatSync(nothing).isCharacterDevice());
  assert.ok(lstatSync(disk).isBlockDevice());
  assert.deepEqual(readdirSync(folder).sort(), ['disk', 'null']);
});

test('a folder, a socket and a link to nothing are refused, and stay what they are', async (t) => {
  const folder = temporaryFolder(t);
  const [socket, link] = [join(folder, 'socket'), join(folder, 'link')];
  const server = createServer().listen(socket);
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  symlinkSync('nothing', link);
  for (const [output, expected] of [
    [folder, /is a folder\. Name a file\.$/],
    [socket, /is a socket\. Name a file\.$/],
    [link, /is a link to a file that does not exist\. Remove the link, or name a file\.$/],
    [join(folder, 'missing/a.backup'), /^The file .* cannot be written \(ENOENT/],
  ] as const)
    await assert.rejects(write(output), (error: Error) => {
      assert.equal(error.name, 'UsageError');
      assert.match(error.message, expected);
      return true;
    });
  assert.ok(lstatSync(socket).isSocket());
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.deepEqual(readdirSync(folder).sort(), ['link', 'socket']);
});

test('commands write into pipes and links with --output, and report elsewhere', async (t) => {
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  const run = async (script: string) => {
    const env = { PATH: process.env.PATH, NODE: process.execPath, MAIN: mainFile };
    const whole = `set -e -o pipefail; muster() { "$NODE" "$MAIN" "$@"; }\n${script}`;
    return promisify(execFile)('bash', ['-c', whole], { cwd: folder, env, timeout: 60_000 });
  };
  const manifest = /^\{"muster_backup":1,/;
  const decompress = `"$NODE" -e 'process.stdin.pipe(require("zlib").createZstdDecompress()).pipe(process.stdout)'`;
  // As /dev/stdout, which a mistake could replace. It is a pipe in the first command, and a file with a line in the second.
  const piped = await run(`muster backup -o /dev/fd/1 | ${decompress}`);
  assert.match(piped.stdout, manifest);
  assert.match(piped.stderr, /rows in [\d.]+ s\.\n$/);
  await run('{ echo first; muster export personnel --format csv -o /dev/fd/1; } > out.csv');
  assert.match(readFileSync(join(folder, 'out.csv'), 'utf8'), /^first\n.*user_id/);
  await run('mkfifo pipe; ln -s pipe link');
  for (const [command, expected] of [
    ['backup -o link', manifest],
    ['export personnel --format json -o link', /^\{"data":\[\]/],
    ['openapi -o link', /^\{\n {2}"openapi"/],
  ] as const) {
    const filter = command.startsWith('backup') ? decompress : 'cat';
    await run(`cat pipe > content & muster ${command} > report; wait; ${filter} < content > text`);
    assert.match(readFileSync(join(folder, 'text'), 'utf8'), expected);
    assert.ok(lstatSync(join(folder, 'pipe')).isFIFO() && lstatSync(join(folder, 'link')).isSymbolicLink());
  }
  await run('muster backup -o - | cat | MUSTER_DATABASE_URL=sqlite:copy.db muster restore -');
  await run('MUSTER_DATABASE_URL=sqlite:copy.db muster check');
  await run(`muster backup -o >(${decompress} > text) > report; wait $!`);
  assert.match(readFileSync(join(folder, 'text'), 'utf8'), manifest);
});

test('an output that ends early or is full is an error of a backup, and no stack', async (t) => {
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  const env = { PATH: process.env.PATH, NODE: process.execPath, MAIN: mainFile };
  const run = (script: string) =>
    new Promise<{ code: unknown; stderr: string }>((resolve) => {
      const whole = `muster() { "$NODE" "$MAIN" "$@"; }\n${script}`;
      execFile('bash', ['--norc', '-c', whole], { cwd: folder, env }, (error, _, stderr) =>
        resolve({ code: error?.code ?? 0, stderr }),
      );
    });
  // The reader has ended before the command starts.
  const closed = 'exec 4> >(true); wait $!;';
  assert.deepEqual(await run(`${closed} muster backup -o - >&4`), {
    code: 1,
    stderr: 'muster: Standard output cannot be written (write EPIPE).\n',
  });
  const { backup_failed_at } = await storedSettings(folder);
  assert.ok(backup_failed_at, 'metrics tell that it failed');
  assert.deepEqual(await run(`${closed} muster export personnel >&4`), { code: 0, stderr: '' });
  assert.deepEqual(await run(`${closed} muster backup -o a.backup >&4`), { code: 0, stderr: '' });
  assert.match(
    (await run('muster openapi > /dev/full')).stderr,
    /^muster: Standard output cannot be written \([^\n]*ENOSPC[^\n]*\)\.\n$/,
  );
});

async function storedSettings(folder: string) {
  const database = openDatabase(`sqlite:${join(folder, 'data/muster.db')}`);
  const rows = await database.db.selectFrom('settings').selectAll().execute();
  await database.close();
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

test('a key whose secret cannot be printed is revoked, and a rotated one says what to do', async (t) => {
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  const [first = ''] = /key_\w+/.exec((await create('first', 'all')).stdout) ?? [];
  const lost = await create('second', 'personnel.read', ' > /dev/full');
  assert.match(
    lost.stderr,
    /^muster: Standard output cannot be written \([^\n]*ENOSPC[^\n]*\), so nobody has seen the secret\. key_\w+ is revoked\.\n$/,
  );
  assert.match(
    (await run(`keys rotate ${first} > /dev/full`)).stderr,
    /Replace its secret: muster keys rotate key_\w+\.\n$/,
  );
  const keys = JSON.parse((await run('keys list --json')).stdout);
  assert.deepEqual(
    keys.map((key: { name: string; revoked_at: string | null }) => [key.name, key.revoked_at === null]),
    [
      ['first', true],
      ['second', false],
    ],
  );

  function create(name: string, scopes: string, redirected = '') {
    return run(`keys create --name ${name} --scopes ${scopes}${redirected}`);
  }
  function run(command: string): Promise<{ stdout: string; stderr: string }> {
    const script = `"${process.execPath}" "${mainFile}" ${command}`;
    return promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder }).catch((error) => error);
  }
});
