import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { fillPeople } from '../../test/people.ts';
import { launchMuster, muster, startMuster, temporaryFolder } from '../../test/process.ts';
import { pluck } from '../../test/service.ts';
import { dayAt, startOfDay } from '../core/time-zones.ts';
import { openDatabase } from '../store/open.ts';

test('the first start prints a key that works; later starts print none', async (t) => {
  const folder = temporaryFolder(t);
  const first = await startMuster(t, folder);
  assert.ok(first.key);
  assert.ok(
    first.stdout().includes(`curl -H 'Authorization: Bearer ${first.key}' '${first.origin}/v1/personnel'`),
  );
  const headers = { authorization: `Bearer ${first.key}` };
  assert.equal((await fetch(`${first.origin}/v1/personnel`, { headers })).status, 200);
  first.child.kill('SIGTERM');
  assert.equal(await first.exit, 0);
  assert.deepEqual(readdirSync(folder), ['data']);

  const second = await startMuster(t, folder);
  assert.equal(second.key, undefined);
  assert.equal((await fetch(`${second.origin}/v1/risks`, { headers })).status, 200);
  second.child.kill('SIGINT');
  assert.equal(await second.exit, 0);
});

test('on SIGTERM requests in flight finish, new requests get 503, and the process exits with 0', async (t) => {
  const folder = temporaryFolder(t);
  await createPeople(join(folder, 'data/muster.db'), 30_000);
  const service = await startMuster(t, folder);
  const headers = { authorization: `Bearer ${service.key}` };
  const response = await fetch(`${service.origin}/v1/personnel`, { headers });
  const reader = response.body?.getReader();
  const chunks = [(await reader?.read())?.value];

  service.child.kill('SIGTERM');
  while ((await fetch(`${service.origin}/readyz`)).status !== 503);
  const rejected = await fetch(`${service.origin}/v1/me`, { headers });
  assert.equal(rejected.status, 503);
  assert.ok(rejected.headers.get('retry-after'));
  assert.equal((await rejected.json()).code, 'unavailable');
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 503);
  assert.equal((await fetch(`${service.origin}/livez`)).status, 200);

  for (let chunk = await reader?.read(); !chunk?.done; chunk = await reader?.read())
    chunks.push(chunk?.value);
  const { data } = JSON.parse(Buffer.concat(chunks.map((chunk) => chunk ?? new Uint8Array())).toString());
  assert.equal(data.length, 30_000);
  assert.equal(await service.exit, 0);
  assert.equal(service.stderr(), '');
});

test('on SIGTERM a service with MUSTER_DRAIN_SECONDS is not ready, but serves requests until it closes', async (t) => {
  const service = await startMuster(t, temporaryFolder(t), { MUSTER_DRAIN_SECONDS: '2' });
  const headers = { authorization: `Bearer ${service.key}` };
  service.child.kill('SIGTERM');
  while ((await fetch(`${service.origin}/readyz`)).status !== 503);
  assert.equal((await fetch(`${service.origin}/v1/me`, { headers })).status, 200);
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 503);
  assert.equal(await service.exit, 0);
  assert.equal(service.stderr(), '');
});

test('SIGHUP, SIGUSR1 and SIGUSR2 neither end the service nor open a debugger', async (t) => {
  const service = await startMuster(t, temporaryFolder(t));
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGHUP'] as const) {
    service.child.kill(signal);
    assert.equal((await fetch(`${service.origin}/livez`)).status, 200, signal);
  }
  assert.equal((await fetch(`${service.origin}/readyz`)).status, 200);
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.equal(service.stderr(), '');
});

test('a list of 100,000 people streams in constant memory while other requests are served', async (t) => {
  const folder = temporaryFolder(t);
  await createPeople(join(folder, 'data/muster.db'), 100_000);
  const service = await startMuster(t, folder);
  // Without compression, so that the stream is large enough to show a memory leak.
  const headers = { authorization: `Bearer ${service.key}`, 'accept-encoding': 'identity' };
  const get = (path: string) => fetch(service.origin + path, { headers });
  // Warm up, so that memory allocated once is not counted.
  for (let i = 0; i < 5; i++) await (await get('/v1/personnel?limit=1000')).text();
  const residentBefore = residentMegabytes(service.child.pid);

  let bytes = 0;
  let maxResident = 0;
  let servedMeanwhile = 0;
  let streaming = true;
  const otherRequests = (async () => {
    while (streaming) {
      assert.equal((await get('/v1/personnel?limit=10')).status, 200);
      servedMeanwhile++;
    }
  })();
  const response = await get('/v1/personnel');
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    maxResident = Math.max(maxResident, residentMegabytes(service.child.pid));
  }
  streaming = false;
  await otherRequests;
  assert.ok(bytes > 40_000_000, `${bytes} bytes`);
  assert.ok(servedMeanwhile > 10, `${servedMeanwhile} other requests served`);
  assert.ok(maxResident - residentBefore < 64, `grew from ${residentBefore} to ${maxResident} MB`);
});

test('a start that fails prints one line, exits with 1 and creates nothing', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };

  const errors: [Record<string, string>, RegExp, command?: string][] = [
    [{ MUSTER_DATABASE_URL: 'mysql://x' }, /MUSTER_DATABASE_URL must be sqlite:<file> or postgres:/],
    [
      { MUSTER_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/x', MUSTER_PORT: '0' },
      /cannot be reached \(.*ECONNREFUSED/,
      // The service would wait for it.
      'migrate',
    ],
    [{ MUSTER_PORT: String(port) }, /is already in use\. Stop the other process, or set MUSTER_PORT/],
    [{ MUSTER_PORT: 'http' }, /MUSTER_PORT is “http” but must be a port/],
    [{ MUSTER_PROT: '80' }, /MUSTER_PROT is not a setting; did you mean MUSTER_PORT\?/],
    [{ MUSTER_HOST: '203.0.113.1', MUSTER_PORT: '0' }, /is not an address of this machine/],
  ];
  for (const [environment, expected, command = 'serve'] of errors) {
    const folder = temporaryFolder(t);
    const { code, stdout, stderr } = await muster(folder, [command], environment);
    assert.equal(code, 1, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, expected);
    assert.match(stderr, /^muster: [^\n]+\n$/);
    assert.ok(!stderr.includes('secret'));
    assert.deepEqual(readdirSync(folder), []);
  }
});

test('a folder without write permission is reported in one line', async (t) => {
  const folder = temporaryFolder(t);
  if (process.getuid?.() === 0) {
    // Permissions do not apply to root, but even root cannot create a folder below a file.
    writeFileSync(join(folder, 'data'), '');
  } else {
    mkdirSync(join(folder, 'data'));
    chmodSync(join(folder, 'data'), 0o555);
  }
  const { code, stderr } = await muster(folder, ['serve'], { MUSTER_PORT: '0' });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^muster: The database file data\/muster\.db cannot be opened for writing \([^\n]+\n$/,
  );
  assert.deepEqual(readdirSync(folder), ['data']);
});

test('a file that is not a database is left unchanged', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'notes.db'), 'dear diary, '.repeat(100));
  const environment = { MUSTER_PORT: '0', MUSTER_DATABASE_URL: 'sqlite:notes.db' };
  const { code, stderr } = await muster(folder, ['serve'], environment);
  assert.equal(code, 1);
  assert.match(stderr, /^muster: The database file notes\.db cannot be opened[^\n]*\n$/);
  assert.ok(readFileSync(join(folder, 'notes.db'), 'utf8').startsWith('dear diary'));
});

test('settings are read from a .env file', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, '.env'), 'MUSTER_DATABASE_URL=sqlite:elsewhere/other.db\n');
  const { code, stdout } = await muster(folder, ['migrate']);
  assert.equal(code, 0);
  assert.match(stdout, /^sqlite:elsewhere\/other\.db: ran 0001_0\.2\.0_first, .+\.\n$/);
  assert.equal((await muster(folder, ['migrate'])).stdout, 'sqlite:elsewhere/other.db is up to date.\n');
  assert.ok(existsSync(join(folder, 'elsewhere/other.db')));
});

test('keys are created, listed and revoked while the service runs', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startMuster(t, folder);
  const created = await muster(folder, [
    ...['keys', 'create', '--name', 'nightly export', '--scopes', 'personnel.read,projects.read'],
    ...['--expires', '90d', '--json'],
  ]);
  assert.equal(created.code, 0, created.stderr);
  const key = JSON.parse(created.stdout);
  assert.deepEqual(key.scopes, ['personnel.read', 'projects.read']);
  const status = async () =>
    (await fetch(`${service.origin}/v1/risks`, { headers: { authorization: `Bearer ${key.secret}` } }))
      .status;
  assert.equal(await status(), 200);

  const listed = JSON.parse((await muster(folder, ['keys', 'list', '--json'])).stdout);
  assert.deepEqual(pluck(listed, 'name'), ['first key', 'nightly export']);
  const { secret, ...shown } = key;
  assert.deepEqual(listed[1], shown);
  const table = (await muster(folder, ['keys', 'list'])).stdout;
  assert.match(table, /^ID +SECRET +STATUS +EXPIRES +NAME +SCOPES +PROJECTS\n/);
  assert.match(table, new RegExp(`${key.id} +mst_.{4}….{4} +valid`));
  assert.ok(!table.includes(secret));

  const project = await fetch(`${service.origin}/v1/projects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Apollo' }),
  });
  const { id: apollo } = await project.json();
  const limited = await muster(folder, [
    ...['keys', 'create', '--name', 'apollo', '--scopes', 'projects.read', '--json'],
    ...['--project', 'APOLLO', '--project', apollo, '--rate-limit', '60'],
  ]);
  const { project_ids, rate_limit, ...limitedKey } = JSON.parse(limited.stdout);
  assert.deepEqual([project_ids, rate_limit], [[apollo], 60]);
  assert.match((await muster(folder, ['keys', 'list'])).stdout, new RegExp(`${limitedKey.id}.* ${apollo}`));

  assert.match((await muster(folder, ['keys', 'revoke', key.id])).stdout, /is revoked/);
  assert.equal(await status(), 401);
});

test('the time zone is stored at start; later starts and commands use it', async (t) => {
  const folder = temporaryFolder(t);
  // The one whose day differs from that in UTC at this hour.
  const zone = new Date().getUTCHours() >= 10 ? 'Pacific/Kiritimati' : 'Etc/GMT+12';
  const days = () => [new Date().toISOString().slice(0, 10), dayAt(Date.now(), zone)];
  const first = await startMuster(t, folder, { MUSTER_TIME_ZONE: zone });
  const headers = { authorization: `Bearer ${first.key}` };
  first.child.kill('SIGTERM');
  assert.equal(await first.exit, 0);
  const second = await startMuster(t, folder);
  const me = await (await fetch(`${second.origin}/v1/me`, { headers })).json();
  assert.equal(me.time_zone, zone);

  writeFileSync(join(folder, 'risks.csv'), 'project,title\nAPOLLO,Strike\n');
  const before = days();
  const imported = await muster(folder, ['import', 'risks', 'risks.csv', '--create-projects']);
  assert.equal(imported.code, 0, imported.stderr + imported.stdout);
  const exported = await muster(folder, ['export', 'risks', '--format', 'json']);
  const [{ raised_on }] = JSON.parse(exported.stdout).data;
  const [utcDay, localDay] = days();
  // Unless the day has changed meanwhile.
  if (before[0] === utcDay && before[1] === localDay) {
    assert.notEqual(localDay, utcDay);
    assert.deepEqual([raised_on, me.today], [localDay, localDay]);
  }

  const args = ['keys', 'create', '--name', 'until', '--scopes', 'all', '--expires', '2099-01-31'];
  const { expires_at } = JSON.parse((await muster(folder, [...args, '--json'])).stdout);
  assert.equal(expires_at, startOfDay('2099-01-31', zone));
  assert.match((await muster(folder, ['keys', 'list'])).stdout, / valid +2099-01-31 +until/);
});

test('an invalid command line prints one line that says what to do, and exits with 1', async (t) => {
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  for (const [args, expected] of [
    [['srve'], /unknown command 'srve'.*Did you mean serve\?/],
    [['keys', 'create', '--name', 'x'], /required option '--scopes <list>' not specified/],
    [['keys', 'create', '--name', 'x', '--scopes', 'personel.read'], /did you mean personnel\.read\?/],
    [['keys', 'create', '--name', ' ', '--scopes', 'all'], /--name must be/],
    [['keys', 'create', '--name', 'x', '--scopes', 'all', '--expires', 'soon'], /--expires is “soon”/],
    [['keys', 'create', '--name', 'x', '--scopes', 'all', '--expires', '2020-01-01'], /is in the past/],
    [['keys', 'create', '--name', 'x', '--scopes', 'all', '--project', 'NOPE'], /There is no project NOPE/],
    [['keys', 'create', '--name', 'x', '--scopes', 'all', '--rate-limit', 'fast'], /--rate-limit is “fast”/],
    [['keys', 'revoke', 'key_nope'], /There is no key key_nope/],
  ] as const) {
    const { code, stderr } = await muster(folder, [...args]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, expected);
    assert.match(stderr, /^muster: [^\n]+\n$/);
  }
  for (const args of [['--help'], []]) {
    const help = await muster(folder, args);
    assert.deepEqual([help.code, help.stderr], [0, '']);
    assert.match(help.stdout, /serve +run the service/);
  }
  assert.match((await muster(folder, ['keys'])).stdout, /create \[options\] +create a key/);
});

test('only serve, migrate, restore and import migrate a database', async (t) => {
  const folder = temporaryFolder(t);
  const commands = [
    ['keys', 'list'],
    ['keys', 'create', '--name', 'x', '--scopes', 'all'],
    ['access', 'list'],
    ['export', 'personnel'],
  ];
  const expectAll = async (expected: RegExp) => {
    for (const args of commands) {
      const { code, stdout, stderr } = await muster(folder, args);
      assert.deepEqual([code, stdout], [1, ''], args.join(' '));
      assert.match(stderr, expected);
    }
  };
  await expectAll(
    /^muster: The database \S+ has no tables\. [^\n]+ start the service, or run muster migrate\.\n$/,
  );
  assert.deepEqual(readdirSync(folder), []);

  await muster(folder, ['migrate']);
  const database = new Sqlite(join(folder, 'data/muster.db'));
  t.after(() => database.close());
  const applied = () => database.prepare('select name from kysely_migration order by name').pluck().all();
  const [newest] = applied().slice(-1);
  database.prepare('delete from kysely_migration where name = ?').run(newest);
  const before = applied();
  await expectAll(
    /^muster: The database \S+ was written by an older version of Muster\. Run muster migrate first\.\n$/,
  );
  assert.deepEqual(applied(), before);
});

test('the demo starts with sample data and leaves nothing behind', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startMuster(t, folder, {}, 'demo');
  const headers = { authorization: `Bearer ${service.key}` };
  const total = async (path: string) =>
    (await (await fetch(service.origin + path, { headers })).json()).page.total;
  assert.ok((await total('/v1/personnel')) >= 230);
  assert.ok((await total('/v1/risks?status=all&archived=any')) >= 650);
  assert.ok((await total('/v1/issues')) >= 200);
  const { data } = await (await fetch(`${service.origin}/v1/events`, { headers })).json();
  assert.ok(data.length >= 8, 'there is recent activity');
  const times = data.map(({ at }: { at: string }) => at);
  assert.deepEqual(times, times.toSorted(), 'in the order of time');
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.deepEqual(readdirSync(folder), []);
});

async function createPeople(file: string, people: number): Promise<void> {
  const database = openDatabase(`sqlite:${file}`);
  await database.migrate();
  await fillPeople(database, people);
  await database.close();
}

function residentMegabytes(pid = 0): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

test('import and export commands report results, and exit with 1 on errors', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'people.doc'), 'name\nAda\n');
  writeFileSync(join(folder, 'people.csv'), 'Full name,E-mail,Manager\nAda,ada@example.com,\nBob,nope,Ada\n');
  const wrong = await muster(folder, ['import', 'personnel', 'people.csv', '--atomic']);
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stdout,
    /^2 rows: 1 failed, 1 skipped, in [\d.]+ s \([\d,]+ rows a second\)\.\nNothing was changed[^\n]*\nline 3, E-mail: This must be an email address such as ada@example\.com\.\n$/,
  );
  assert.equal(wrong.stderr, '');
  const json = await muster(folder, ['import', 'personnel', 'people.csv', '--json']);
  assert.equal(json.code, 1);
  const { summary, results } = JSON.parse(json.stdout);
  assert.deepEqual([summary.created, summary.failed, results[1].line], [1, 1, 3]);

  writeFileSync(
    join(folder, 'people.csv'),
    'Full name;E-mail;Manager;Note\nAda;ada@example.com;;x\nBob;bob@example.com;Ada;\n',
  );
  const right = await muster(folder, [
    'import',
    'personnel',
    'people.csv',
    '--mode',
    'upsert',
    '--map',
    'Note=',
  ]);
  assert.equal(right.code, 0, right.stdout + right.stderr);
  assert.match(right.stdout, /^2 rows: 1 created, 1 unchanged, in/);

  for (const format of ['csv', 'ndjson', 'json', 'xlsx']) {
    const file = `out.${format}`;
    const out = await muster(folder, ['export', 'personnel', 'status=active', '-o', file]);
    assert.deepEqual([out.code, out.stdout, out.stderr], [0, `2 rows are in ${file}.\n`, '']);
    if (format === 'json') continue;
    const again = await muster(folder, ['import', 'personnel', file, '--mode', 'upsert']);
    assert.match(again.stdout, /^2 rows: 2 unchanged/, format);
  }
  for (const name of ['person', 'people']) assert.equal((await muster(folder, ['export', name])).code, 0);
  const printed = await muster(folder, ['export', 'personnel', 'q=ada']);
  assert.match(printed.stdout, /^user_id,name,.*\r\nusr_\w+,Ada,.*\r\n$/);
  assert.ok(!existsSync(join(folder, 'out.csv.part')));

  const errors: [string[], RegExp][] = [
    [['import', 'personel', 'people.csv'], /“personel” cannot be imported\. Did you mean personnel\?/],
    [
      ['import', 'risks', 'people.csv'],
      /3 of 4 columns are unknown, such as “Full name”, “E-mail” and “Manager”/,
    ],
    [
      ['import', 'risks', 'people.csv', '--preset', 'jria'],
      /“jria” is not a preset. Choose from jira, redmine/,
    ],
    [['import', 'risks', 'people.csv', '--project', 'NOPE'], /There is no project NOPE/],
    [['import', 'personnel', 'nowhere.csv'], /There is no file nowhere\.csv\./],
    [['import', 'personnel', 'people.csv', '--mode', 'merge'], /Allowed choices are create, upsert/],
    [
      ['export', 'personnel', 'sttus=active'],
      /`sttus` is not a parameter of this endpoint\. Did you mean `status`\?/,
    ],
    [['export', 'personnel', 'active'], /“active” is not a filter/],
    [['export', 'peoples'], /“peoples” cannot be exported/],
    [['import', 'people', '.'], /\. is a folder/],
    [['import', 'people', 'people.doc'], /The extension \.doc is not known\. Known are \.csv,/],
    [['export', 'people', '-o', 'people.doc'], /The extension \.doc is not known/],
    [['export', 'groups', '-o', 'nowhere/x.csv'], /nowhere\/x\.csv cannot be written/],
  ];
  for (const [args, expected] of errors) {
    const { code, stderr } = await muster(folder, args);
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, expected);
    assert.match(stderr, /^muster: [^\n]+\n$/);
  }
});

test('a closed pipe ends a command quietly', async (t) => {
  const folder = temporaryFolder(t);
  await createPeople(join(folder, 'data/muster.db'), 5000);
  const running = launchMuster(folder, ['export', 'people'], {});
  running.child.stdout?.once('data', () => running.child.stdout?.destroy());
  assert.deepEqual([await running.exit, running.stderr()], [0, '']);
});

test('Ctrl-C in an import tells how much is imported and how to continue', async (t) => {
  for (const [args, expected] of [
    [
      [],
      /Stopped\. (At least the first [\d,]+ of 60,000 rows are|The first rows may be) imported\. To continue, /,
    ],
    [['--atomic'], /Stopped\. Nothing was changed\./],
  ] as const) {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'people.csv'), `name\n${'Ada\n'.repeat(60_000)}`);
    const running = launchMuster(folder, ['import', 'people', 'people.csv', ...args], {});
    // The write-ahead log grows with the first batch.
    const log = join(folder, 'data/muster.db-wal');
    while (!existsSync(log) || statSync(log).size < 1_000_000) {
      assert.equal(running.child.exitCode, null, `The import ended too soon: ${running.stderr()}`);
      await setTimeout(10);
    }
    running.child.kill('SIGINT');
    assert.equal(await running.exit, 130);
    assert.match(running.stderr(), expected);
  }
});
