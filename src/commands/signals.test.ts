import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  inheritedEnvironment,
  mainFile,
  muster,
  temporaryFolder,
  waitUntilReady,
  watchOutput,
} from '../../test/process.ts';

// Nothing listens on this port.
const noServer = { MUSTER_DATABASE_URL: 'postgres://muster@127.0.0.1:1/muster', MUSTER_PORT: '0' };

/** Starts a command in a folder, beside the other processes, or as the first one of a namespace, as in a container. */
function launch(
  t: TestContext,
  isFirst: boolean,
  folder: string,
  command: string[],
  environment: Record<string, string>,
) {
  const node = [process.execPath, mainFile, ...command];
  const [program = '', ...args] = isFirst ? ['unshare', '--pid', '--fork', '--kill-child', ...node] : node;
  const env = { ...inheritedEnvironment(), ...environment };
  const running = watchOutput(spawn(program, args, { cwd: folder, env }));
  const { child } = running;
  t.after(() => child.kill('SIGKILL'));
  // Not to `unshare`, which waits for its child.
  const pid = () =>
    isFirst
      ? Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
      : (child.pid as number);
  const stop = () => {
    assert.ok(pid() > 0, 'it has ended');
    process.kill(pid(), 'SIGTERM');
  };
  return { ...running, stop };
}

for (const isFirst of [false, true]) {
  const isAllowed = !isFirst || spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;
  const options = { skip: !isAllowed && 'needs the permission to create a namespace of processes' };
  const place = isFirst ? 'the first process of a container' : 'any other process';
  /** By itself, or by the default of the system, which has no effect on a first process. */
  const ended = isFirst ? [143, null] : [null, 'SIGTERM'];

  test(`SIGTERM ends the start of ${place}`, options, async (t) => {
    const { child, exit, stderr, stop } = launch(t, isFirst, temporaryFolder(t), ['serve'], noServer);
    while (!stderr().includes('Waiting up to 30 s')) await setImmediate();
    stop();
    await exit;
    assert.deepEqual([child.exitCode, child.signalCode], ended, stderr());
  });

  test(`SIGTERM ends a command as ${place}`, options, async (t) => {
    const folder = temporaryFolder(t);
    await muster(folder, ['migrate']);
    await muster(folder, ['backup', '-o', 'whole.backup']);
    const environment = { MUSTER_DATABASE_URL: 'sqlite:new.db' };
    const { child, exit, stderr, stop } = launch(t, isFirst, folder, ['restore', '-'], environment);
    // The end of the file is never sent, so it waits.
    child.stdin?.write(readFileSync(join(folder, 'whole.backup')));
    while (!readdirSync(folder).some((name) => name.startsWith('new.db-restore-'))) await setImmediate();
    stop();
    await exit;
    assert.deepEqual([child.exitCode, child.signalCode], ended, stderr());
  });

  test(`SIGTERM lets a service that is ready finish as ${place}`, options, async (t) => {
    const running = launch(t, isFirst, temporaryFolder(t), ['serve'], { MUSTER_PORT: '0' });
    await waitUntilReady(running);
    running.stop();
    assert.equal(await running.exit, 0, running.stderr());
  });
}
