import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { compressBackup, rewriteBackup } from '../../test/backup-files.ts';
import { mountSmallDisk } from '../../test/disks.ts';
import { muster, temporaryFolder } from '../../test/process.ts';
import { freshDatabase, onBothEngines, type TestService } from '../../test/service.ts';
import { openDatabase } from '../store/open.ts';
import { allTables, columnSchemas, type Tables } from '../store/tables.ts';
import { backupCommand, restoreCommand } from './backup.ts';

type Row = Record<string, unknown>;

/** Changes of one row of a table, and what the error says about it. The message starts with the line and the table. */
const damages: [table: string, change: (row: Row) => unknown, expected: RegExp][] = [
  ['risks', (row) => ({ ...row, probability: 99 }), /: probability must be 7 or less\./],
  ['risks', (row) => ({ ...row, probability: 0 }), /: probability must be 1 or more\./],
  ['risks', (row) => ({ ...row, probability: 1.5 }), /: probability must be a whole number or null\./],
  ['risks', (row) => ({ ...row, impact: 'abc' }), /: impact must be a whole number or null\./],
  ['risks', (row) => ({ ...row, impact: '3' }), /: impact must be a whole number or null\./],
  ['risks', (row) => ({ ...row, impact: true }), /: impact must be a whole number or null\./],
  ['risks', (row) => ({ ...row, impact: [3] }), /: impact must be a whole number or null\./],
  ['risks', (row) => ({ ...row, score: 50 }), /: score must be 49 or less\./],
  ['risks', (row) => ({ ...row, level: 'grave' }), /: level must be one of/],
  ['risks', (row) => ({ ...row, rank_key: null }), /: rank_key must be text\./],
  ['risks', (row) => ({ ...row, version: 2 ** 31 }), /: version must be 2147483647 or less\./],
  ['risks', (row) => ({ ...row, title: null }), /: title must be text\./],
  ['risks', (row) => ({ ...row, title: '' }), /: title must not be empty/],
  ['risks', (row) => ({ ...row, title: 'x'.repeat(201) }), /: title must have at most 200 characters\./],
  ['risks', (row) => ({ ...row, title: 'a\u0000b' }), /: title has forbidden characters\./],
  ['risks', (row) => ({ ...row, title: 'a\ud800b' }), /: title has forbidden characters\./],
  ['risks', (row) => ({ ...row, title: 'a\u001bb' }), /: title has forbidden characters\./],
  ['risks', (row) => ({ ...row, status: 'gone' }), /: status must be one of "open"/],
  ['risks', (row) => ({ ...row, id: 'rsk_1' }), /: id must be an id such as rsk_/],
  ['risks', (row) => ({ ...row, raised_on: '2026-02-30' }), /: raised_on must be a day/],
  ['risks', (row) => ({ ...row, created_at: 'yesterday' }), /: created_at must be a time/],
  ['risks', (row) => ({ ...row, source_url: 'javascript:alert(1)' }), /: source_url must/],
  ['risks', (row) => ({ ...row, attributes: '{' }), /: attributes is not JSON\./],
  ['risks', (row) => ({ ...row, attributes: '[]' }), /: attributes must be an object\./],
  ['risks', (row) => ({ ...row, attributes: '{"a":1}' }), /: attributes\.a must be text\./],
  [
    'risks',
    (row) => ({ ...row, owner_user_id: missing('usr') }),
    / risks\.owner_user_id is usr_0{26}, which is not in people\./,
  ],
  ['risks', (row) => [...Object.values(row), 1], /: there are 41 values for 40 columns\./],
  ['risks', (row) => Object.values(row).slice(1), /: there are 39 values for 40 columns\./],
  ['risks', () => [], /: there are 0 values for 40 columns\./],
  ['people', (row) => ({ ...row, email: 'nobody' }), /: email must be an email address/],
  ['people', (row) => ({ ...row, time_zone: 'Mars/Base' }), /: time_zone must be an IANA time zone/],
  ['people', (row) => ({ ...row, skills: '["a","a"]' }), /: skills must not contain the same item twice\./],
  ['people', (row) => ({ ...row, skills: null }), /: skills must be text\./],
  [
    'people',
    (row) => ({ ...row, manager_user_id: missing('usr') }),
    / people\.manager_user_id is usr_0{26}, which is not in people\./,
  ],
  ['memberships', (row) => ({ ...row, user_id: 'usr' }), /: user_id must be an id such as usr_/],
  ['projects', (row) => ({ ...row, active_risks: -1 }), /: active_risks must be 0 or more\./],
  ['projects', (row) => ({ ...row, appetite: 50 }), /: appetite must be 49 or less\./],
  ['projects', (row) => ({ ...row, key: 'a' }), /: key must be 2 to 10 of A-Z and 0-9\./],
  [
    'issues',
    (row) => ({ ...row, severity: null }),
    /: severity must be one of "critical"|: severity must be text/,
  ],
  [
    'tasks',
    (row) => ({ ...row, issue_id: missing('iss') }),
    / tasks\.issue_id is iss_0{26}, which is not in issues\./,
  ],
  ['comments', (row) => ({ ...row, mentions: '["nobody"]' }), /: mentions\.0 must be an id such as usr_/],
  ['views', (row) => ({ ...row, list: 'keys' }), /: list must be one of/],
  ['keys', (row) => ({ ...row, hash: 'x' }), /: hash must match/],
  ['keys', (row) => ({ ...row, scopes: '["all"]' }), /: scopes\.0 must be one of/],
  ['history', (row) => ({ ...row, to: 'x' }), /: to is not JSON\./],
  ['history', (row) => ({ ...row, reason: '\u0000' }), /: reason has forbidden characters\./],
  ['events', (row) => ({ ...row, sequence: -1 }), /: sequence must be 0 or more\./],
  ['events', (row) => ({ ...row, data: '' }), /: data is not JSON\./],
  ['webhooks', (row) => ({ ...row, url: 'ftp://example.com' }), /: url must start with http/],
  ['data_versions', (row) => ({ ...row, table_name: 'nothing' }), /: table_name must be one of/],
];

const missing = (prefix: string) => `${prefix}_${'0'.repeat(26)}`;

/** Changes of the lines of a backup, without its trailer, which is corrected. */
const structures: [change: (lines: string[]) => string[], expected: RegExp][] = [
  [([, ...lines]) => lines, /is not a backup of Muster/],
  [([, ...lines]) => ['null', ...lines], /is not a backup of Muster/],
  [([, ...lines]) => ['{"muster_backup":"1"}', ...lines], /is not a backup of Muster/],
  [([, ...lines]) => ['{"muster_backup":1}', ...lines], /its first line does not have the version/],
  [edit(/"migrations":\[.*\]/, '"migrations":[]'), /its migrations are not those of any version/],
  [edit(/"migrations":\[.*\]/, '"migrations":"all"'), /its first line does not have the version/],
  [edit(/"migrations":\[(.*)\]/, '"migrations":[$1,$1]'), /its migrations are not those of any version/],
  [edit('{"table":"groups"', '{"table":"people"'), /starts the table people again/],
  [edit('{"table":"groups"', '{"table":"kysely_migration"'), /does not have: kysely_migration/],
  [edit('{"table":"groups"', '{"table":"__proto__"'), /does not have: __proto__/],
  [edit('{"table":"groups"', '{"tables":"groups"'), /line \d+ is not part of a backup/],
  [edit('"columns":["user_id"', '"columns":["user_id","user_id"'), /line 2 \(people\) has a column twice/],
  [edit('"columns":["user_id",', '"columns":['), /line 2 \(people\) does not have the column user_id/],
  [edit('"columns":["user_id"', '"columns":[7'), /line 2 is not part of a backup/],
  [(lines) => [...lines.slice(0, 1), '[]', ...lines.slice(1)], /line 2 is a row that belongs to no table/],
  [insert('[1,2'), /line 3 \(people\) is not a list of values/],
  [insert('[],[]'), /line 3 \(people\) is not a list of values/],
  [insert(`[${'['.repeat(100_000)}${']'.repeat(100_000)}]`), /line 3 \(people\): there are 1 values/],
  [insert(`${'['.repeat(100_000)}`), /line 3 \(people\) is not a list of values/],
  [insert('{"a":'.repeat(10_000)), /line 3 is not part of a backup/],
  [insert('null'), /line 3 is not part of a backup/],
  [insert(''), /line 3 is not part of a backup/],
  [(lines) => withoutTable(lines, 'event_checkpoints'), /it does not have the table event_checkpoints/],
  [(lines) => withRowTwice(lines, 'people'), /two rows of people have the same user_id/],
  [(lines) => withRowTwice(lines, 'views'), /two rows of views have the same/],
];

function edit(from: string | RegExp, to: string) {
  return (lines: string[]) => {
    const edited = lines.join('\n').replace(from, to);
    assert.notEqual(edited, lines.join('\n'), String(from));
    return edited.split('\n');
  };
}

function insert(line: string) {
  return (lines: string[]) => [...lines.slice(0, 2), line, ...lines.slice(2)];
}

const startOf = (lines: string[], table: string) =>
  lines.findIndex((line) => line.startsWith(`{"table":"${table}"`));

function withoutTable(lines: string[], table: string): string[] {
  const start = startOf(lines, table);
  const rows = lines.slice(start + 1).findIndex((line) => line.startsWith('{'));
  return lines.toSpliced(start, 1 + rows);
}

function withRowTwice(lines: string[], table: string): string[] {
  const row = startOf(lines, table) + 1;
  return lines.toSpliced(row, 0, lines[row] ?? '');
}

/** Changes the first row of a table. */
function withChange(lines: string[], table: string, change: (row: Row) => unknown): string[] {
  const start = startOf(lines, table);
  const { columns } = JSON.parse(lines[start] ?? '') as { columns: string[] };
  assert.ok(lines[start + 1]?.startsWith('['), `${table} has no rows`);
  const values = JSON.parse(lines[start + 1] ?? '') as unknown[];
  const changed = change(Object.fromEntries(columns.map((name, i) => [name, values[i]]))) as Row | unknown[];
  const row = Array.isArray(changed) ? changed : columns.map((name) => changed[name]);
  return lines.with(start + 1, JSON.stringify(row));
}

/** Creates rows in most tables and returns the text of their backup. */
async function backUp(service: TestService, folder: string): Promise<string> {
  const key = await service.key();
  const person = await service.make('/v1/personnel', key, {
    name: 'Ada',
    email: 'ada@example.com',
    skills: ['go'],
  });
  const group = await service.make('/v1/groups', key, { name: 'Platform' });
  await service.post(`/v1/groups/${group.id}/members`, key, { user_ids: [person.user_id] });
  const project = await service.make('/v1/projects', key, { name: 'Apollo' });
  const risk = await service.make(`/v1/projects/${project.id}/risks`, key, {
    title: 'Ünïcode "quoted" 李 👩‍🚀',
    probability: 3,
    impact: 4,
    owner_user_id: person.user_id,
    attributes: { ключ: '值' },
  });
  const issue = await service.make(`/v1/projects/${project.id}/issues`, key, { title: 'Leak' });
  await service.make(`/v1/projects/${project.id}/tasks`, key, { title: 'Fix', issue_id: issue.id });
  await service.make(`/v1/projects/${project.id}/risks/${risk.id}/comments`, key, {
    body: `Ask @${person.user_id}`,
  });
  await service.make('/v1/views', key, { list: 'risks', name: 'High', query: 'level=high' });
  await service.make('/v1/webhooks', key, { url: 'https://example.com/', types: ['*'] });
  const file = join(folder, 'whole.backup');
  await backupCommand(service.database, file, () => {});
  return zstdDecompressSync(readFileSync(file)).toString();
}

onBothEngines('muster restore', (start, engine) => {
  test('rejects each row and line that no backup can have, in one sentence, and leaves nothing behind', async (t) => {
    const folder = temporaryFolder(t);
    const text = await backUp(await start(t), folder);
    const lines = text.split('\n').slice(0, -2);
    const target = await freshDatabase(engine);
    t.after(target.drop);
    const file = join(folder, 'damaged.backup');
    const restore = async (content: Buffer) => {
      writeFileSync(file, content);
      const database = openDatabase(target.url);
      try {
        await restoreCommand(database, file, { onProgress: () => {} });
      } finally {
        await database.close();
      }
    };
    const left = async () => {
      if (engine === 'sqlite') return readdirSync(join(target.url.slice('sqlite:'.length), '..'));
      const database = openDatabase(target.url);
      const tables = await database.describeTables(database.db);
      await database.close();
      return tables.map(({ table }) => table);
    };
    const before = await left();
    const assertRejected = async (content: Buffer, expected: RegExp) => {
      const isExpected = (error: Error) => {
        assert.equal(error.name, 'UsageError', `${expected}: ${error.stack}`);
        assert.match(error.message, expected);
        assert.match(error.message, /^The (backup|file) [^\n]+\. Nothing was restored\.$/);
        return true;
      };
      await assert.rejects(restore(content), isExpected, `Nothing was rejected instead of ${expected}`);
      assert.deepEqual(await left(), before, String(expected));
    };
    // What validation finds does not depend on the engine, and PostgreSQL takes a second to create the tables each time.
    const isQuick = engine === 'sqlite';
    for (const [table, change, expected] of damages.filter(
      ([, , { source }], i) => isQuick || i % 6 === 0 || !source.startsWith(':'),
    )) {
      const changed = withChange(lines, table, change);
      const line = startOf(lines, table) + 2;
      const place = expected.source.startsWith(':') ? `line ${line} \\(${table}\\)` : 'is damaged:';
      await assertRejected(compressBackup(changed), new RegExp(place + expected.source));
    }
    for (const [change, expected] of structures)
      await assertRejected(compressBackup(change(lines)), expected);
    const broken = Buffer.from(`${lines.join('\n')}\n`);
    broken[broken.indexOf('Ada')] = 0xff;
    await assertRejected(zstdCompressSync(broken), /it has text that is not UTF-8/);
    // Numbers in another notation are the same numbers.
    await restore(rewriteBackup(text, (text) => text.replace(/,3,4,/, ',3.0,4e0,')));
    assert.notDeepEqual(await left(), before);
    const copy = openDatabase(target.url);
    const risk = await copy.db
      .selectFrom('risks')
      .select(['probability', 'impact', 'score'])
      .executeTakeFirst();
    await copy.close();
    assert.deepEqual(risk, { probability: 3, impact: 4, score: 12 });
  });

  test('validates every column of every table', async (t) => {
    const { database } = await start(t);
    for (const { table, columns } of await database.describeTables(database.db)) {
      if (!allTables.some((name) => name === table)) continue;
      const known = Object.keys(columnSchemas(table as keyof Tables));
      for (const { name } of columns) assert.ok(known.includes(name), `${table}.${name} needs a schema`);
    }
  });
});

test('a damaged backup is one line on standard error, and exit code 1', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'files'));
  await muster(folder, ['migrate']);
  await muster(folder, ['backup', '-o', 'files/whole.backup']);
  const text = zstdDecompressSync(readFileSync(join(folder, 'files/whole.backup'))).toString();
  const damaged = rewriteBackup(text, (text) => text.replace(/\["comments",\d+\]/, '["comments",1.5]'));
  writeFileSync(join(folder, 'files/damaged.backup'), damaged);
  const { code, stdout, stderr } = await muster(folder, ['restore', 'files/damaged.backup'], {
    MUSTER_DATABASE_URL: 'sqlite:new/folder/muster.db',
  });
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(
    stderr,
    /^muster: The backup files\/damaged\.backup is damaged: line \d+ \(data_versions\): version must be a whole number\. Nothing was restored\.\n$/,
  );
  assert.deepEqual(readdirSync(folder).sort(), ['data', 'files']);
});

test('a restore on a full disk leaves nothing behind', async (t) => {
  const disk = mountSmallDisk(t, '1m');
  if (!disk) return;
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  await muster(folder, ['backup', '-o', 'whole.backup']);
  const environment = { MUSTER_DATABASE_URL: `sqlite:${join(disk, 'new/muster.db')}` };
  // First in the middle of a table, then before anything.
  for (const left of [200_000, 0]) {
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - left), { flag: 'a' });
    const { code, stderr } = await muster(folder, ['restore', 'whole.backup'], environment);
    assert.equal(code, 1);
    assert.match(stderr, /^muster: [^\n]*full[^\n]*\n$/);
    assert.deepEqual(readdirSync(disk), ['filler']);
  }
});
