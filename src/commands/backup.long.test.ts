import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { fillDemo } from '../../demo/fill.ts';
import { rewriteBackup } from '../../test/backup-files.ts';
import { settableClock } from '../../test/clock.ts';
import { fillPeople } from '../../test/people.ts';
import { launchMuster, mainFile, muster, temporaryFolder } from '../../test/process.ts';
import {
  type Engine,
  freshDatabase,
  onBothEngines,
  pluck,
  startTestService,
  type TestService,
  withKey,
} from '../../test/service.ts';
import type { Database } from '../database/open.ts';
import { presets } from '../resources/risk-model/presets.ts';
import { dumpDatabase } from '../store/backup/dump.ts';
import { decodeBackup } from '../store/backup/file.ts';
import { openDatabase } from '../store/open.ts';
import { allTables, backupTables } from '../store/tables.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { checkCommand } from './check.ts';

const noProgress = () => {};
const clock = settableClock('2026-11-15T12:00:00.000Z');
const other = (engine: Engine): Engine => (engine === 'sqlite' ? 'postgres' : 'sqlite');

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const restore = (url: string, file: string) =>
  withDatabase(url, (database) => restoreCommand(database, file, { onProgress: noProgress }));

/**
 * The lines of a backup without the manifest, the trailer, which has a checksum that includes the time, and the versions of
 * tables, which each restore renews.
 */
const linesOf = (file: string) =>
  zstdDecompressSync(readFileSync(file))
    .toString()
    .split('\n')
    .slice(1, -2)
    .filter((line) => !/^\["[a-z_]+",\d+\]$/.test(line))
    .join('\n');

const withoutNext = (text: string) => text.replace(/"next_after":\d+|"next_cursor":"[^"]*"/, '');

/** The ETag of these depends on the versions of tables, or on where to continue. */
const hasNewEtag = (path: string, { text }: { text: string }) =>
  /summary|trend/.test(path) || text !== withoutNext(text) || text.length > 200 * 1024;

/** Requests whose responses must not change. The last ones use their own ETag or repeat an idempotent write. */
const paths = [
  '/v1/personnel',
  '/v1/personnel?format=csv',
  '/v1/groups?include=members',
  '/v1/projects?status=active',
  '/v1/risks?status=all&archived=any',
  '/v1/risks?as_of=2026-10-01&limit=50',
  '/v1/risks/summary',
  '/v1/risks/trend',
  '/v1/risk-model',
  '/v1/risk-model/versions',
  '/v1/issues',
  '/v1/tasks',
  '/v1/events',
];

onBothEngines('a backup', (start, engine) => {
  test(`moves to the other engine and back with equal responses, ETags and keys`, async (t) => {
    const folder = temporaryFolder(t);
    const environment = { MUSTER_BASE_URL: 'https://ops.example.com' };
    const original = await start(t, { clock, environment });
    await fillDemo(original.database, clock());
    const key = await original.key();
    const project = (await original.get('/v1/projects?limit=1', key)).body.data[0];
    const risk = {
      title: 'Ünïcode "quoted" \\ 李 👩‍🚀 /',
      description: 'line\n\ttab\u2028',
      attributes: { ключ: '值', a: '1' },
    };
    const idempotent = { 'idempotency-key': 'move-1' };
    const created = await original.post(`/v1/projects/${project.id}/risks`, key, risk, idempotent);
    assert.equal(created.status, 201, created.text);
    await original.call('PATCH', `/v1/projects/${project.id}/risks/${created.body.id}`, key, {
      category: 'x',
    });
    const model = presets.find(({ id }) => id === 'four_by_four')?.model;
    assert.equal((await original.call('PUT', '/v1/risk-model', key, model)).status, 200);
    const deleted = await original.make(`/v1/projects/${project.id}/tasks`, key, { title: 'Delete me' });
    await original.call('DELETE', `/v1/projects/${project.id}/tasks/${deleted.id}`, key);
    const file = join(folder, 'first.backup');
    writeFileSync(file, 'old', { mode: 0o644 });
    const { rows } = await backupCommand(original.database, file, noProgress);
    assert.deepEqual(Object.keys(rows), [...backupTables]);
    for (const table of ['sessions', 'links', 'challenges']) assert.ok(!(table in rows), table);
    assert.equal(statSync(file).mode & 0o777, 0o600, 'only the owner may read the secrets in it');

    let previous = original;
    let previousFile = file;
    for (const [i, next] of [other(engine), engine].entries()) {
      const target = await freshDatabase(next);
      const restored = await restore(target.url, previousFile);
      assert.deepEqual(
        restored.rows,
        Object.fromEntries(Object.entries(rows).filter(([, count]) => count > 0)),
      );
      const service = await startTestService(t, next, { clock, target, environment });
      const history = `/v1/projects/${project.id}/risks/${created.body.id}/history`;
      for (const path of [...paths, history]) {
        const [before, after] = [await previous.get(path, key), await service.get(path, key)];
        assert.equal(after.status, 200, path);
        assertSameText(withoutNext(after.text), withoutNext(before.text), path);
        const etag = before.headers.get('etag');
        if (!etag) continue;
        const { status } = await service.get(path, key, { 'if-none-match': etag });
        assert.equal(status, hasNewEtag(path, after) ? 200 : 304, path);
      }
      const repeated = await service.post(`/v1/projects/${project.id}/risks`, key, risk, idempotent);
      assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
      assert.equal(repeated.body.id, created.body.id);
      assert.deepEqual((await checkCommand(service.database, noProgress)).violations, []);
      const nextFile = join(folder, `${i}.backup`);
      await backupCommand(service.database, nextFile, noProgress);
      assertSameText(linesOf(nextFile), linesOf(previousFile), nextFile);
      previous = service;
      previousFile = nextFile;
    }
    // Numbers of keys and versions continue where they were.
    const next = await previous.make(`/v1/projects/${project.id}/tasks`, key, { title: 'Next' });
    assert.equal(numberOf(next.key), numberOf(deleted.key) + 1);
  });

  test('contains every table and every column that is not generated', async (t) => {
    const service = await start(t);
    const stored = await service.database.describeTables(service.database.db);
    const tables = stored.filter(({ table }) => !/^(kysely|sqlite)_/.test(table));
    assert.deepEqual(tables.map(({ table }) => table).sort(), [...allTables].sort());
    for (const { table, columns, primaryKey } of tables) {
      assert.ok(primaryKey.length > 0, `${table} needs a primary key, which sorts its rows in a backup`);
      for (const { name, type } of columns)
        assert.match(type, /^(text|integer|bigint)$/, `a backup cannot hold ${table}.${name}`);
    }
    const risks = tables.find(({ table }) => table === 'risks')?.columns.map(({ name }) => name) ?? [];
    assert.ok(risks.includes('title') && !risks.includes('active'));
  });

  test('lists the migrations of its snapshot, not those of the moment before it', async (t) => {
    const { database } = await start(t);
    const { applied } = await database.migrations();
    const { migrations, end } = await dumpDatabase(
      {
        ...database,
        // Another process migrates between the first look and the snapshot; here, in the other direction.
        async snapshot(workload) {
          await database.write((db) =>
            sql`delete from kysely_migration where name = ${applied.at(-1)}`.execute(db),
          );
          return database.snapshot(workload);
        },
      },
      noProgress,
    );
    await end();
    assert.deepEqual(migrations, applied.slice(0, -1));
  });

  test('is one moment, however much is written meanwhile', async (t) => {
    const { service, key } = await withKey(start(t));
    await fillPeople(service.database, 20_000);
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    let isDone = false;
    let written = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isDone) {
        await service.make(`/v1/projects/${id}/issues`, key, { title: 'Issue' });
        written++;
      }
    });
    while (written < 10) await service.get('/v1/me', key);
    const file = join(temporaryFolder(t), 'busy.backup');
    const writtenBefore = written;
    await backupCommand(service.database, file, noProgress);
    const writtenMeanwhile = written - writtenBefore;
    isDone = true;
    await Promise.all(writers);
    assert.ok(writtenMeanwhile > 0);
    const target = await freshDatabase(other(engine));
    t.after(target.drop);
    await restore(target.url, file);
    const { violations } = await withDatabase(target.url, (database) => checkCommand(database, noProgress));
    assert.deepEqual(violations, []);
  });

  test('is restored only into a database without rows', async (t) => {
    const { service, key } = await withKey(start(t));
    const file = join(temporaryFolder(t), 'a.backup');
    await backupCommand(service.database, file, noProgress);
    await assert.rejects(
      restore(service.url, file),
      /is not empty: its table (keys|settings) has rows\. Restore into a new/,
    );
    assert.equal((await service.get('/v1/me', key)).status, 200);
    // Tables without rows do not matter.
    const empty = await freshDatabase(engine);
    t.after(empty.drop);
    await withDatabase(empty.url, (database) => database.migrate());
    assert.deepEqual((await restore(empty.url, file)).rows.keys, 1);
    const { people } = await withDatabase(empty.url, async (database) => database.versions());
    assert.ok(people > 1_000_000, 'new versions are never equal to lost ones');
  });

  test('after a loss, no ETag and no position in the events of before is valid for other data', async (t) => {
    const { service, key } = await withKey(start(t));
    const first = await service.make('/v1/projects', key, { name: 'First', key: 'FIRST' });
    const limited = await service.limitedKey([first.id], 'events.read', 'personnel.read');
    await service.make('/v1/personnel', key, { name: 'Kept' });
    const follow = (from: TestService, after: number, secret = key) =>
      from.get(`/v1/events?after=${after}`, secret);
    const kept = (await service.get('/v1/events', key)).body.meta.next_after;
    const file = join(temporaryFolder(t), 'loss.backup');
    await backupCommand(service.database, file, noProgress);
    await service.make('/v1/projects', key, { name: 'Lost', key: 'LOST' });
    await service.make('/v1/personnel', key, { name: 'Lost' });
    const tag = (await service.get('/v1/risks/summary', key)).headers.get('etag') ?? '';
    const lost = (await service.get('/v1/events', key)).body.meta.next_after;

    const target = await freshDatabase(engine);
    await restore(target.url, file);
    const environment = { MUSTER_BASE_URL: 'https://ops.example.com' };
    const restored = await startTestService(t, engine, { target });
    // As many writes as were lost.
    await restored.make('/v1/projects', key, { name: 'Other', key: 'OTHER' });
    await restored.make('/v1/personnel', key, { name: 'Other' });
    const revalidated = await restored.get('/v1/risks/summary', key, { 'if-none-match': tag });
    assert.equal(revalidated.status, 200);
    for (const secret of [key, limited]) {
      const { status, body } = await follow(restored, lost, secret);
      assert.deepEqual([status, body.code], [410, 'events_expired']);
      assert.deepEqual((await follow(restored, body.next_after, secret)).status, 200);
    }
    assert.deepEqual(pluck((await follow(restored, kept)).body.data, 'subject.key'), ['OTHER', null]);
    assert.deepEqual(pluck((await follow(restored, kept, limited)).body.data, 'data.name'), ['Other']);

    const moved = await startTestService(t, engine, {
      environment,
      target: { ...target, drop: async () => {} },
    });
    const headers = { 'if-none-match': revalidated.headers.get('etag') ?? '' };
    assert.equal((await restored.get('/v1/risks/summary', key, headers)).status, 304);
    assert.equal((await moved.get('/v1/risks/summary', key, headers)).status, 200, 'other links');
  });

  test('with scores that do not follow from the ratings is restored with the right ones', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/risks';
    const risk = await service.make(path, key, { title: 'Rated', probability: 3, impact: 4 });
    await service.patch(`${path}/${risk.id}`, key, { impact: 5 });
    const file = join(temporaryFolder(t), 'edited.backup');
    await backupCommand(service.database, file, noProgress);
    const text = zstdDecompressSync(readFileSync(file)).toString();
    const edit = (lines: string) =>
      lines.replace(/^(\["rsk_.*),3,5,15,"high",/m, '$1,3,5,1,"low",').replace(/"846/, '"995');
    writeFileSync(file, rewriteBackup(text, edit));
    const target = await freshDatabase(other(engine));
    t.after(target.drop);
    assert.equal((await restore(target.url, file)).recomputed_risks, 1);
    const rows = await withDatabase(target.url, ({ db }) =>
      db.selectFrom('risks').select(['score', 'level', 'rank_key']).execute(),
    );
    assert.deepEqual(rows, [
      { score: 15, level: 'high', rank_key: `84469999-99-99${risk.raised_on}${risk.id}` },
    ]);
  });

  test('that is damaged, incomplete, newer or something else is rejected in one sentence', async (t) => {
    const folder = temporaryFolder(t);
    const service = await start(t);
    await fillPeople(service.database, 3000);
    const file = join(folder, 'whole.backup');
    await backupCommand(service.database, file, noProgress);
    const whole = readFileSync(file);
    const text = zstdDecompressSync(whole).toString();
    const flipped = Buffer.from(whole);
    flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 0xff;
    const cases: [Buffer | string, RegExp][] = [
      [whole.subarray(0, whole.length - 60), /is incomplete: it ends before its last line/],
      [whole.subarray(0, whole.length >> 1), /is incomplete|is damaged/],
      ['', /is incomplete/],
      [flipped, /is damaged/],
      ['name,email\nAda,ada@example.com\n', /is not a backup of Muster/],
      [zstdCompressSync('{"name":"Ada"}\n'), /is not a backup of Muster/],
      [zstdCompressSync(text.slice(0, text.lastIndexOf('{'))), /is incomplete/],
      [zstdCompressSync(text.replace('Person 7"', 'Person 8"')), /is damaged: its checksum does not match/],
      [
        rewriteBackup(text, (line) => line.replace(/"\d{4}(_[\w.]+"\])/, '"9999$1')),
        /was written by a newer version of Muster/,
      ],
      [
        rewriteBackup(text, (line) =>
          line.replace(/"migrations":\[[^\]]+\]/, '"migrations":["0001_foundation","0002_search"]'),
        ),
        /^The backup was written by an unreleased version of Muster before 0\.2\.0, [^.]+\.$/,
      ],
      [
        zstdCompressSync(text.replace('{"muster_backup":1,', '{"muster_backup":2,')),
        /was written by a newer version of Muster \([^)]+\)\. Install/,
      ],
      [
        rewriteBackup(text, (line) => line.replace('"user_id"', '"nobody"')),
        /is damaged: line 2 \(people\) has a column that its version does not have: nobody/,
      ],
      [
        rewriteBackup(text, (line) => line.replace('"data_versions",', '"nothing",')),
        /a table that its version does not have: nothing/,
      ],
    ];
    const target = await freshDatabase(engine);
    t.after(target.drop);
    for (const [content, expected] of cases) {
      const damaged = join(folder, 'damaged.backup');
      writeFileSync(damaged, content);
      await assert.rejects(
        restore(target.url, damaged),
        (error: Error) => {
          assert.equal(error.name, 'UsageError', String(error.stack));
          assert.match(error.message, expected);
          return true;
        },
        String(expected),
      );
      const { applied } = await withDatabase(target.url, (database) => database.migrations());
      assert.deepEqual(applied, [], 'nothing is restored');
      if (engine === 'sqlite') assert.ok(!existsSync(target.url.slice('sqlite:'.length)));
    }
    assert.equal((await restore(target.url, file)).rows.people, 3000);
  });

  test('that is killed is not half done', async (t) => {
    const folder = temporaryFolder(t);
    const { service, key } = await withKey(start(t));
    await fillPeople(service.database, 20_000, { title: 'x'.repeat(100) });
    const source = { MUSTER_DATABASE_URL: service.url };

    const backup = launchMuster(folder, ['backup'], source);
    const first = await new Promise<Buffer>((resolve) => backup.child.stdout?.once('data', resolve));
    backup.child.kill('SIGKILL');
    await backup.exit;
    const target = await freshDatabase(engine);
    t.after(target.drop);
    writeFileSync(join(folder, 'part.backup'), first);
    const part = await muster(folder, ['restore', 'part.backup'], { MUSTER_DATABASE_URL: target.url });
    assert.deepEqual([part.code, part.stdout], [1, '']);
    assert.match(part.stderr, /^muster: The backup part\.backup is incomplete[^\n]*\n$/);

    const written = await muster(folder, ['backup', '-o', 'whole.backup', '--json'], source);
    assert.equal(written.code, 0, written.stderr);
    assert.equal(JSON.parse(written.stdout).rows.people, 20_000);
    assert.deepEqual(readdirSync(folder).sort(), ['part.backup', 'whole.backup']);
    const whole = readFileSync(join(folder, 'whole.backup'));
    const restoring = launchMuster(folder, ['restore', '-'], { MUSTER_DATABASE_URL: target.url });
    // The second half is never sent, so it is killed in the middle.
    restoring.child.stdin?.on('error', noProgress);
    restoring.child.stdin?.write(whole.subarray(0, whole.length >> 1));
    const isLoading = async () => {
      if (engine === 'sqlite') return readdirSync(join(target.url.slice('sqlite:'.length), '..')).length > 0;
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = ${target.url.split('/').at(-1)} and query like '%items%'`.execute(
        service.database.db,
      );
      return rows.length > 0;
    };
    while (!(await isLoading()));
    restoring.child.kill('SIGKILL');
    await restoring.exit;
    assert.deepEqual((await withDatabase(target.url, (database) => database.migrations())).applied, []);

    const again = await muster(folder, ['restore', 'whole.backup'], { MUSTER_DATABASE_URL: target.url });
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /rows in [\d.]+ s: 20,000 people, 1 keys\.\n$/);
    if (engine === 'sqlite')
      assert.deepEqual(readdirSync(join(target.url.slice('sqlite:'.length), '..')), ['muster.db']);
    const checked = await muster(folder, ['check', '--json'], { MUSTER_DATABASE_URL: target.url });
    assert.deepEqual([checked.code, JSON.parse(checked.stdout).violations], [0, []]);
    const restored = await startTestService(t, engine, { target: { ...target, drop: async () => {} } });
    assert.equal((await restored.get('/v1/personnel?limit=1&count=true', key)).body.page.total, 20_000);
  });
});

/** Shows only the first difference of long texts. */
function assertSameText(actual: string, expected: string, message: string): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  assert.equal(around(actual), around(expected), message);
}

const numberOf = (key: string) => Number(/\d+$/.exec(key)?.[0]);

test('docs/operations.md: the commands of Backup and of Moving to PostgreSQL work', async (t) => {
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('\n## Backup'), text.indexOf('\n## Starting and stopping'));
  const [whole = '', moving = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, block = '']) => block,
  );
  const folder = temporaryFolder(t);
  const target = await freshDatabase('postgres');
  t.after(target.drop);
  await muster(folder, ['migrate']);
  await muster(folder, ['keys', 'create', '--name', 'x', '--scopes', 'all']);
  const replaced = moving.replaceAll(/postgres:\S+/g, target.url);
  assert.notEqual(replaced, moving);
  const elsewhere = whole.replace('muster restore', 'MUSTER_DATABASE_URL=sqlite:new.db muster restore');
  const script = `set -e; muster() { "$NODE" "$MAIN" "$@"; }\n${elsewhere}\n${replaced}`;
  const env = { PATH: process.env.PATH, NODE: process.execPath, MAIN: mainFile };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env });
  assert.equal(stdout.match(/all is well/g)?.length, 2, stdout);
  assert.ok(existsSync(join(folder, 'new.db')));
});

test('the help of a backup says that it contains secrets', async (t) => {
  const { stdout } = await muster(temporaryFolder(t), ['backup', '--help']);
  assert.match(stdout.replace(/\s+/g, ' '), /secrets that sign webhooks as plain text/);
});

test('a backup of a database that does not exist is an error, and creates nothing', async (t) => {
  const folder = temporaryFolder(t);
  for (const command of [['backup', '-o', 'x.backup'], ['check']]) {
    const { code, stderr } = await muster(folder, command);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^muster: The database sqlite:data\/muster\.db is empty\. There is nothing to [^\n]+\n$/,
    );
  }
  assert.deepEqual(readdirSync(folder), []);
});

test('a backup is read in bounded pieces', async () => {
  const row = JSON.stringify(['x'.repeat(1000)]);
  const lines = ['{"table":"people","columns":["name"]}', ...Array.from({ length: 5000 }, () => row)];
  const text = `{"muster_backup":1,"version":"1","created_at":"","migrations":[]}\n${lines.join('\n')}\n`;
  const trailer = JSON.stringify({ rows: { people: 5000 }, sha256: hash('sha256', text, 'hex') });
  const { tables } = await decodeBackup(Readable.from([zstdCompressSync(`${text}${trailer}\n`)]), 'x');
  let count = 0;
  for await (const part of tables()) {
    assert.ok(part.rows.length < 1.1 * 1024 * 1024);
    count += part.values.length;
  }
  assert.equal(count, 5000);
});
