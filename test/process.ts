import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';

/** What users run: built from the sources before the tests are. */
const main = join(import.meta.dirname, '../dist/main.js');

/** An empty folder that goes when the test ends. */
export function temporaryFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the command line in a folder to its end. */
export async function muster(folder: string, args: string[], environment: Record<string, string> = {}) {
  const running = launch(folder, args, environment);
  const code = await running.exit;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** Runs a command that goes on, and waits until it says it is ready. */
export async function startMuster(
  t: Pick<TestContext, 'after'>,
  folder: string,
  environment: Record<string, string> = {},
  command = 'serve',
  maxFiles?: number,
) {
  const settings = { MUSTER_PORT: '0', MUSTER_RATE_LIMIT: '0', ...environment };
  const running = launch(folder, [command], settings, maxFiles);
  t.after(() => running.child.kill('SIGKILL'));
  let ended: number | null | undefined;
  void running.exit.then((code) => {
    ended = code;
  });
  for (;;) {
    const [, origin] = / is ready at (\S+)/.exec(running.stdout()) ?? [];
    // The key, if there is one, is printed in the same breath.
    if (origin) {
      const [key] = /mst_\w+/.exec(running.stdout()) ?? [];
      return { ...running, origin, key };
    }
    if (ended !== undefined) throw new Error(`ended with ${ended}: ${running.stderr()}`);
    await setTimeout(10);
  }
}

function launch(folder: string, args: string[], environment: Record<string, string>, maxFiles?: number) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(MUSTER_|NODE_TEST|NODE_OPTIONS)/.test(name),
  );
  const limit = maxFiles === undefined ? '' : `ulimit -n ${maxFiles} && `;
  const command = [`${limit}exec "$@"`, 'sh', process.execPath, main, ...args];
  const child: ChildProcess = spawn('sh', ['-c', ...command], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), ...environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, exit, stdout: () => stdout, stderr: () => stderr };
}
