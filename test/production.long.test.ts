import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { freshDatabase } from './databases.ts';
import { makeFolder } from './folders.ts';
import { freePort } from './ports.ts';
import { inheritedEnvironment, mainFile } from './process.ts';
import { isInstalled } from './programs.ts';

const repository = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
const page = readFileSync(join(repository, 'docs/operations.md'), 'utf8');
const [, section = ''] = /^## From laptop to production\n(.*?)^## /ms.exec(page) ?? [];

/** The blocks of the section in order. One that is not run here has a comment before it that says why. */
const blocks = [...section.matchAll(/(?:<!-- not run: (.+?) -->\n)?^```(\w+)\n(.*?)^```$/gms)].map(
  ([, reason, language = '', content = '']) => ({ reason, language, content }),
);

/**
 * `systemctl` of a machine that has only these services: it starts what the units say, without waiting until it is ready, as
 * the real one. What restricts the services needs systemd, which `deploy.long.test.ts` asks.
 */
const systemctl = `#!/bin/bash
set -e
run() {
  unit=$ROOT/etc/systemd/system/$1.service
  [ "$1" = muster ] && mkdir -p "$ROOT/var/lib/muster" && cd "$ROOT/var/lib/muster"
  env=$(grep -h -E '^Environment=' "$unit" | sed -e 's/^Environment=//' -e "s#/var/#$ROOT/var/#g"; cat "$ROOT/etc/muster.env")
  command=$(sed -n "s#^ExecStart=/opt/#$ROOT/opt/#p" "$unit")
  exec env -i PATH="$PATH" MUSTER_PORT="$PORT" $env $command
}
stop() { [ ! -f "$ROOT/pid" ] || { kill "$(cat "$ROOT/pid")"; tail --pid="$(cat "$ROOT/pid")" -f /dev/null; rm "$ROOT/pid"; }; }
case "$*" in
  daemon-reload) ;;
  'enable --now muster-backup.timer') [ -f "$ROOT/etc/systemd/system/muster-backup.timer" ] ;;
  'stop muster') stop ;;
  'start muster' | 'restart muster' | 'enable --now muster')
    stop
    run muster > "$ROOT/log" 2>&1 < /dev/null &
    echo $! > "$ROOT/pid" ;;
  'start muster-backup') (run muster-backup) ;;
  *) echo "systemctl $*" >&2; exit 1 ;;
esac
`;

test('the commands from a laptop to production do what the page says', async (t) => {
  const root = makeFolder();
  const [port, metricsPort] = [String(await freePort()), String(await freePort())];
  const database = await freshDatabase('postgres');
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  for (const folder of ['bin', 'etc/caddy', 'etc/systemd/system', 'opt', 'var/lib', 'var/backups', 'muster'])
    mkdirSync(join(root, folder), { recursive: true });
  const program = (file: string, text: string) => writeFileSync(join(root, file), text, { mode: 0o755 });
  program('bin/systemctl', systemctl);
  program('bin/apt', '#!/bin/sh\nmkdir -p "$ROOT/etc/$2"\n');
  if (!isInstalled('caddy')) program('bin/caddy', '#!/bin/sh\n');
  const otherSite = 'http://other.example.com {\n\trespond "another site"\n}\n';
  writeFileSync(join(root, 'etc/caddy/Caddyfile'), otherSite);
  program('muster/muster', `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  cpSync(join(repository, 'deploy'), join(root, 'muster/deploy'), { recursive: true });
  for (const name of [version, 'NEW'])
    execFileSync('tar', ['-czf', `muster-${name}-linux-x64.tar.gz`, 'muster'], { cwd: root });
  const env = {
    ...inheritedEnvironment(),
    ROOT: root,
    PORT: port,
    PATH: `${join(root, 'bin')}:${process.env.PATH}`,
  };
  t.after(async () => {
    execFileSync('bash', ['-c', 'systemctl stop muster'], { env });
    await admin.query('drop database if exists muster with (force)');
    await admin.query('drop role if exists muster');
    await admin.end();
    await database.drop();
    rmSync(root, { recursive: true, force: true });
  });
  const { host, hostname } = new URL(database.url);
  const here = (text: string) =>
    text
      .replaceAll(/(?<![\w:])\/(opt|etc|var|tmp)\//g, `${root}/$1/`)
      .replaceAll('sqlite:/', `sqlite:${root}/`)
      .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
      .replace('9464', metricsPort)
      .replace('db.example.com', host)
      .replace('?sslmode=verify-full', hostname === '' ? '' : '?sslmode=disable');
  const printed: string[] = [];
  for (const { reason, language, content } of blocks) {
    if (reason !== undefined) continue;
    if (language === 'sql')
      for (const statement of content.split(';').filter((one) => one.trim())) await admin.query(statement);
    else {
      const { stdout } = await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', here(content)], {
        cwd: root,
        env,
      });
      printed.push(stdout);
    }
  }
  const [unpacked, started, , keys, moved, backedUp, restored, , upgraded] = printed;
  assert.equal(unpacked?.trim(), version);
  const file = `${root}/etc/muster.env`;
  for (const setting of [
    `MUSTER_DATABASE_URL +sqlite:${root}/var/lib/muster/muster.db`,
    'MUSTER_DRAIN_SECONDS +0',
  ])
    assert.match(started ?? '', new RegExp(`^${setting} +${file}$`, 'm'));
  assert.match(started ?? '', /^\{"status":"ok"\}$/m);
  assert.equal(
    readFileSync(join(root, 'etc/caddy/Caddyfile'), 'utf8'),
    `${otherSite}import muster.caddy\n`,
    'what was there stays',
  );
  assert.match(keys ?? '', /^key_\w+ .* recovery /m);
  assert.match(moved ?? '', /all is well/);
  assert.match(backedUp ?? '', /\.backup\n/);
  assert.match(restored ?? '', /all is well/);
  assert.match(upgraded ?? '', /^\{"status":"ok"\}$/m);
  // What was created on SQLite at the first start is in PostgreSQL now.
  const key = readFileSync(join(root, 'var/lib/muster/first-key'), 'utf8').trim();
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await fetch(`http://127.0.0.1:${port}/v1/me`, { headers })).status, 200);
  const { rowCount } = await admin.query("select 1 from pg_stat_activity where datname = 'muster'");
  assert.ok(rowCount);
  assert.equal((await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).status, 200);
  assert.equal(readdirSync(join(root, 'var/backups/muster')).length, 2);
});

test('a block of the way to production that no test runs says why', () => {
  assert.ok(blocks.length >= 9);
  assert.equal([...section.matchAll(/^```\w+$/gm)].length, blocks.length);
  for (const { reason, content } of blocks)
    if (reason !== undefined) assert.ok(reason.split(' ').length >= 5, content);
});
