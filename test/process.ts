import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeFolder } from './folders.ts';

/** The built service. The test runner builds it before the tests. */
export const mainFile = join(import.meta.dirname, '../dist/main.js');

type LaunchOptions = { maxFiles?: number | undefined; file?: string };

/** Creates an empty folder that is deleted when the test ends. */
export function temporaryFolder(t: Pick<TestContext, 'after'>): string {
  const folder = makeFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a command in a folder and waits for its exit. */
export async function muster(
  folder: string,
  args: string[],
  environment: Record<string, string> = {},
  options: LaunchOptions = {},
) {
  const running = launchMuster(folder, args, environment, options);
  const code = await running.exit;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** The environment of a process whose clock is ahead of that of the machine. */
export const clockAhead = (ms: number) => ({
  NODE_OPTIONS: `--import=${join(import.meta.dirname, 'children/clock-ahead.ts')}`,
  TEST_CLOCK_AHEAD_MS: String(ms),
});

/** Starts a long-running command and waits until it prints that it is ready. */
export async function startMuster(
  t: Pick<TestContext, 'after'>,
  folder: string,
  environment: Record<string, string> = {},
  command = 'serve',
  options: LaunchOptions = {},
) {
  const settings = { MUSTER_PORT: '0', MUSTER_RATE_LIMIT: '0', ...environment };
  const running = launchMuster(folder, [command], settings, options);
  t.after(() => running.child.kill('SIGKILL'));
  return { ...running, ...(await waitUntilReady(running)) };
}

/** Waits until a service prints its address. The first start prints a key together with it. */
export async function waitUntilReady(running: Running) {
  const [, origin = ''] = await waitForOutput(running, (output) => / is ready at (\S+)/.exec(output));
  return { origin, key: /mst_\w+/.exec(running.stdout())?.[0] };
}

/** Waits until `find` finds something in the output of a process. Throws if the process ends before. */
export async function waitForOutput<T>(running: Running, find: (output: string) => T) {
  for (;;) {
    const output = new Promise((resolve) => running.child.stdout?.once('data', resolve));
    const found = find(running.stdout());
    if (found) return found;
    const ended = await Promise.race([output.then(() => false), running.exit.then(() => true)]);
    if (ended)
      throw new Error(`ended with ${running.child.exitCode}: ${running.stdout()}${running.stderr()}`);
  }
}

/** Starts a command in a folder. */
export function launchMuster(
  folder: string,
  args: string[],
  environment: Record<string, string>,
  { maxFiles, file = mainFile }: LaunchOptions = {},
) {
  const limit = maxFiles === undefined ? '' : `ulimit -n ${maxFiles} && `;
  const command = [`${limit}exec "$@"`, 'sh', process.execPath, file, ...args];
  const env = { ...inheritedEnvironment(), ...environment };
  return watchOutput(spawn('sh', ['-c', ...command], { cwd: folder, env }));
}

/** The environment without the settings of a service and of the test runner. */
export const inheritedEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(MUSTER_|NODE_TEST|NODE_OPTIONS)/.test(name)),
  );

type Running = ReturnType<typeof watchOutput>;

/** Collects what a process prints. */
export function watchOutput(child: ChildProcess) {
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

/** Sends a signal to a process that was started with `detached`, and to its children. */
export function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid as number), signal);
  } catch {
    // All processes of the group have ended.
  }
}
