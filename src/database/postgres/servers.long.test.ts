import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { mountSmallDisk } from '../../../test/disks.ts';
import { makeFolder } from '../../../test/folders.ts';
import { startPostgresServer } from '../../../test/postgres-server.ts';
import { muster, temporaryFolder } from '../../../test/process.ts';
import { isInstalled } from '../../../test/programs.ts';
import { startTestService } from '../../../test/service.ts';
import { openDatabase } from '../../store/open.ts';

const closeAfter = (t: TestContext, url: string) => {
  const database = openDatabase(url);
  t.after(() => database.close());
  return database;
};

test('a standby is ready neither for reads, which may be stale, nor for writes', async (t) => {
  const primary = await startPostgresServer(['wal_level=replica']);
  t.after(() => primary.stop());
  const url = await primary.createDatabase();
  const database = closeAfter(t, url);
  await database.migrate();
  const standby = await startPostgresServer([], primary.url);
  t.after(() => standby.stop());
  await database.checkReady();
  await database.checkWritable();
  const copy = closeAfter(t, url.replace(primary.url, standby.url));
  const explained = await copy.checkReady().catch(copy.explain);
  assert.match(String(explained), /is a standby, which may lack the latest changes/);
  await assert.rejects(copy.checkWritable(), /standby/);
  const started = await muster(temporaryFolder(t), ['serve'], {
    MUSTER_DATABASE_URL: url.replace(primary.url, standby.url),
    MUSTER_PORT: '0',
  });
  assert.equal(started.code, 1);
  assert.match(
    started.stderr,
    /^muster: The database [^\n]* accepts no writes, [^\n]*: it is a standby [^\n]*\.\n$/,
  );
  await standby.run('select pg_promote()');
  await copy.checkReady();
  await copy.checkWritable();
});

test('TLS: the certificate must be valid and for the host; otherwise one sentence says what to change', async (t) => {
  if (!isInstalled('openssl')) return t.skip('openssl is not installed');
  const files = createCertificate();
  const server = await startPostgresServer(['ssl=on', ...files.settings]);
  t.after(() => server.stop());
  const plain = await server.createDatabase();
  const url = (parameters: string, host = 'localhost') => `${plain.replace('127.0.0.1', host)}?${parameters}`;
  const root = `sslrootcert=${files.certificate}`;
  const explain = async (parameters: string, host?: string) => {
    const error = await closeAfter(t, url(parameters, host))
      .waitUntilReachable(() => {}, 0)
      .catch((one) => one);
    assert.equal(error?.name, 'UsageError', error?.stack);
    return error.message as string;
  };
  for (const mode of [`sslmode=verify-full&${root}`, `sslmode=require&${root}`, 'sslmode=no-verify']) {
    const database = closeAfter(t, url(mode));
    await database.migrate();
    const { rows } = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(database.db);
    assert.deepEqual(rows, [{ ssl: true }], mode);
  }
  assert.match(await explain('sslmode=verify-full'), /sslrootcert=<file>/);
  assert.match(await explain(`sslmode=verify-full&${root}`, '127.0.0.1'), /is for another host/);
});

/** A certificate for `localhost` that signs itself, which the server can read. */
function createCertificate() {
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  const [certificate, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
  execFileSync(
    'openssl',
    [
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      [
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        key,
        '-out',
        certificate,
      ],
    ].flat(),
    { stdio: 'pipe' },
  );
  // As root, the server runs as another user, who must own the key.
  if (process.getuid?.() === 0) chownSync(key, 65_534, 65_534);
  return { certificate, settings: [`ssl_cert_file=${certificate}`, `ssl_key_file=${key}`] };
}

test('a full disk is 507 at once, nothing is saved, reads go on, and /readyz?verbose says it until there is space', async (t) => {
  const folder = mountSmallDisk(t, '20m');
  if (folder === undefined) return;
  chmodSync(folder, 0o700);
  chownSync(folder, 65_534, 65_534);
  const filler = join(folder, 'filler');
  writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024));
  const server = await startPostgresServer();
  t.after(() => server.stop());
  await server.run(`create tablespace small location '${folder}'`);
  await server.run('create database full_disk tablespace small');
  const url = `${server.url}/full_disk`;
  const database = openDatabase(url);
  await database.migrate();
  await database.close();
  const service = await startTestService(t, 'postgres', { target: { url, drop: async () => {} } });
  const key = await service.key();
  await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
  let saved = 0;
  for (;;) {
    const { status, body } = await service.post('/v1/projects/APOLLO/risks', key, {
      title: `Risk ${saved}`,
      // Random, so that PostgreSQL cannot compress it.
      description: Array.from({ length: 250 }, () => crypto.randomUUID()).join(''),
    });
    if (status === 201) {
      saved++;
      continue;
    }
    assert.deepEqual([status, body.code], [507, 'storage_full']);
    assert.doesNotMatch(body.detail, /may or may not/);
    break;
  }
  const risks = await service.list('/v1/risks', key);
  assert.deepEqual([saved > 0, risks.length], [true, saved]);
  const writesOf = async () => {
    const { status, body } = await service.get('/readyz?verbose');
    assert.equal(status, 200);
    return body.checks.find(({ name }: { name: string }) => name === 'writes');
  };
  const writable = async () =>
    /^muster_database_writable (\d)$/m.exec((await service.get('/metrics', key)).text)?.[1];
  const full = await writesOf();
  assert.equal(full.status, 'failed');
  assert.match(full.detail, /^The disk of the database is full\./);
  assert.equal(await writable(), '0');
  rmSync(filler);
  assert.deepEqual(await writesOf(), { name: 'writes', status: 'ok' });
  assert.equal(await writable(), '1');
});
