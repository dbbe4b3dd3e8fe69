import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from './process.ts';

for (const script of ['start', 'demo'])
  test(`npm run ${script} ends the service on SIGTERM to npm`, { timeout: 60_000 }, async (t) => {
    const { npm, port } = await startScript(t, script);
    npm.kill('SIGTERM');
    // `close` follows when every process that has the output open has ended, so also the service.
    await new Promise((resolve) => npm.once('close', resolve));
    assert.equal(npm.exitCode, 0);
    await new Promise((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen(port, '127.0.0.1', () => server.close(resolve));
    });
  });

/** Runs a script of package.json and waits until the service is ready. */
async function startScript(t: TestContext, script: string) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(MUSTER_|NODE_TEST|NODE_OPTIONS)/.test(name),
  );
  const npm = spawn('npm', ['run', script], {
    cwd: join(import.meta.dirname, '..'),
    env: {
      ...Object.fromEntries(inherited),
      MUSTER_PORT: '0',
      MUSTER_DATABASE_URL: `sqlite:${temporaryFolder(t)}/muster.db`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own, so that nothing is left behind if the test fails.
    detached: true,
  });
  t.after(() => {
    try {
      process.kill(-(npm.pid as number), 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  });
  let printed = '';
  for await (const text of npm.stdout.iterator({ destroyOnReturn: false })) {
    printed += text;
    const [, port] = / is ready at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed) ?? [];
    if (port === undefined) continue;
    npm.stdout.resume();
    return { npm, port: Number(port) };
  }
  throw new Error(`npm run ${script} ended: ${printed}`);
}
