import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { launchMuster, muster, startMuster, temporaryFolder } from './process.ts';
import { freshDatabase } from './service.ts';

const root = join(import.meta.dirname, '..');
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });

/** The main file of the sources before the newest migration; undefined without the history of the repository. */
function previousVersion(t: TestContext): string | undefined {
  const folder = temporaryFolder(t);
  try {
    const newest = globSync('src/database/migrations/*.ts', { cwd: root }).sort().at(-1) ?? '';
    const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', newest).toString().trim();
    const archive = join(folder, 'sources.tar');
    git('archive', '--output', archive, `${added}^`);
    execFileSync('tar', ['-xf', archive, '-C', folder]);
  } catch {
    return undefined;
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/main.ts');
}

test('instances of the previous and this version serve one database during an upgrade', async (t) => {
  const file = previousVersion(t);
  if (file === undefined) return t.skip('needs git and the history of the repository');
  const { url, drop } = await freshDatabase('postgres');
  t.after(drop);
  const environment = { MUSTER_DATABASE_URL: url, MUSTER_LOG_LEVEL: 'error' };
  const old = await startMuster(t, temporaryFolder(t), environment, 'serve', { file });
  const send = async (origin: string, method: string, path: string, body?: object) => {
    const response = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${old.key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  await send(old.origin, 'POST', '/v1/projects', { name: 'Apollo', key: 'APOLLO' });
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

  const late = launchMuster(temporaryFolder(t), ['serve'], { ...environment, MUSTER_PORT: '0' }, { file });
  assert.notEqual(await late.exit, 0);
  assert.match(late.stderr(), /was written by a newer version of Muster/);
  old.child.kill('SIGTERM');
  assert.equal(await old.exit, 0, old.stderr());
  assert.deepEqual([old.stderr(), next.stderr()], ['', '']);
  const check = await muster(temporaryFolder(t), ['check'], { MUSTER_DATABASE_URL: url });
  assert.equal(check.code, 0, check.stdout + check.stderr);
});
