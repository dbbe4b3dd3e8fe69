import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inheritedEnvironment, killGroup, temporaryFolder, waitUntilReady, watchOutput } from './process.ts';

for (const script of ['start', 'demo'])
  test(`npm run ${script} ends the service on SIGTERM to npm`, { timeout: 60_000 }, async (t) => {
    const { npm, exit, port } = await startScript(t, script);
    npm.kill('SIGTERM');
    // It resolves when every process that has the output open has ended, so also the service.
    assert.equal(await exit, 0);
    await new Promise((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen(port, '127.0.0.1', () => server.close(resolve));
    });
  });

/** Runs a script of package.json and waits until the service is ready. */
async function startScript(t: TestContext, script: string) {
  const npm = spawn('npm', ['run', script], {
    cwd: join(import.meta.dirname, '..'),
    env: {
      ...inheritedEnvironment(),
      MUSTER_PORT: '0',
      MUSTER_DATABASE_URL: `sqlite:${temporaryFolder(t)}/muster.db`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own, so that nothing is left behind if the test fails.
    detached: true,
  });
  t.after(() => killGroup(npm, 'SIGKILL'));
  const running = watchOutput(npm);
  const { origin } = await waitUntilReady(running);
  return { npm, exit: running.exit, port: Number(new URL(origin).port) };
}
