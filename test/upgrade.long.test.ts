import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { version } from '../src/core/version.ts';
import { migrationNames } from '../src/store/migrate.ts';
import { launchMuster, muster, startMuster, temporaryFolder } from './process.ts';
import { loadReleased } from './released/load.ts';
import { releasedVersions } from './released/versions.ts';

const root = join(import.meta.dirname, '..');
const released = releasedVersions.at(-1) ?? '';
const hasNewerMigration = !releasedVersions.some((name) => migrationNames.at(-1)?.includes(`_${name}_`));

/** The main file of the sources of a released version, or of these; undefined if this checkout does not have them. */
function mainFile(t: TestContext): string | undefined {
  if (released === version) return join(root, 'src/main.ts');
  const commit = findRelease();
  if (commit === undefined) return undefined;
  const folder = temporaryFolder(t);
  const archive = join(folder, 'sources.tar');
  execFileSync('git', ['archive', '--output', archive, commit], { cwd: root });
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/main.ts');
}

/** The tag of the newest release. Without tags, the last commit before the version of these sources. */
function findRelease(): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    if (git('tag', '--list', `v${released}`) !== '') return `v${released}`;
    const since = git('log', '--format=%H', `-S"version": "${version}"`, '--', 'package.json');
    return git('rev-parse', '--verify', `${since.split('\n').at(-1)}~1`);
  } catch {
    return undefined;
  }
}

test('instances of the newest released and this version serve one database during an upgrade', async (t) => {
  const file = mainFile(t);
  if (file === undefined) return t.skip(`the sources of ${released} are not in this checkout`);
  const { url, drop } = await loadReleased('postgres', released);
  t.after(drop);
  const environment = { MUSTER_DATABASE_URL: url, MUSTER_LOG_LEVEL: 'error' };
  const old = await startMuster(t, temporaryFolder(t), environment, 'serve', { file });
  const key = await muster(
    temporaryFolder(t),
    ['keys', 'create', '--name', 'upgrade', '--scopes', 'all', '--json'],
    environment,
    { file },
  );
  const { secret } = JSON.parse(key.stdout);
  const send = async (origin: string, method: string, path: string, body?: object) => {
    const response = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const lists = ['/v1/personnel', '/v1/risks', '/v1/issues', '/v1/tasks', '/v1/events?after=0'];
  for (const list of lists) await send(old.origin, 'GET', list);

  // It migrates the database while the old instance serves it.
  const next = await startMuster(t, temporaryFolder(t), environment);
  const origins = [old.origin, next.origin];
  for (const [i, writer] of origins.entries()) {
    const reader = origins[1 - i] ?? '';
    const person = await send(writer, 'POST', '/v1/personnel', { name: `Person ${i}` });
    const risk = await send(writer, 'POST', '/v1/projects/APOLLO/risks', {
      title: `Risk ${i}`,
      probability: 3,
      impact: 3,
      owner_user_id: person.user_id,
    });
    const path = `/v1/projects/APOLLO/risks/${risk.id}`;
    assert.equal((await send(reader, 'PATCH', path, { impact: 4 })).score, 12);
    assert.equal((await send(writer, 'GET', path)).score, 12);
    const { issue } = await send(reader, 'POST', `${path}/materialize`, {});
    const tasks = '/v1/projects/APOLLO/tasks';
    const task = await send(writer, 'POST', tasks, { title: `Task ${i}`, issue_id: issue.id });
    await send(reader, 'DELETE', `${tasks}/${task.id}`);
    for (const list of lists) {
      const seen = await Promise.all(origins.map((origin) => send(origin, 'GET', list)));
      assert.deepEqual(
        seen[0].data.map(({ id, user_id, sequence }: Record<string, string>) => id ?? user_id ?? sequence),
        seen[1].data.map(({ id, user_id, sequence }: Record<string, string>) => id ?? user_id ?? sequence),
        list,
      );
    }
  }

  if (hasNewerMigration) {
    const late = launchMuster(temporaryFolder(t), ['serve'], { ...environment, MUSTER_PORT: '0' }, { file });
    assert.notEqual(await late.exit, 0);
    assert.match(late.stderr(), /which is newer than this one/);
  }
  old.child.kill('SIGTERM');
  assert.equal(await old.exit, 0, old.stderr());
  assert.deepEqual([old.stderr(), next.stderr()], ['', '']);
  const check = await muster(temporaryFolder(t), ['check'], { MUSTER_DATABASE_URL: url });
  assert.equal(check.code, 0, check.stdout + check.stderr);
});
