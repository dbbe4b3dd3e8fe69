import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export type Running = AsyncDisposable & {
  pid: number;
  /** Resolves when the output matches. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
};

type Environment = Record<string, string>;

/** Kills a process that hangs; no step takes nearly this long. */
const maxRunMs = 3_600_000;
const maxStartMs = 60_000;

const running = new Set<ChildProcess>();

/** Starts a program that runs until it is disposed. */
export function start(command: string, args: string[], environment: Environment = {}): Running {
  const { child, ended, stdout } = launch(command, args, environment);
  return {
    pid: child.pid ?? 0,
    async waitForOutput(pattern) {
      const deadline = performance.now() + maxStartMs;
      while (performance.now() < deadline) {
        const match = pattern.exec(stdout());
        if (match) return match;
        // A process that has ended prints nothing more.
        const isOver = await Promise.race([ended.then(() => true), setTimeout(5)]);
        if (isOver) throw new Error(`${args[0]} ended before it was ready: ${stdout()}`);
      }
      throw new Error(`${args[0]} was not ready after a minute`);
    },
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** Runs a program to its end and returns its output. */
export async function run(command: string, args: string[], environment: Environment = {}): Promise<string> {
  const { ended, stdout } = launch(command, args, environment);
  await ended;
  return stdout();
}

/** The command line of the service, as in `npm start`: see docs/operations.md. */
export const muster = (command: 'serve' | 'demo', ...options: string[]): [string, string[]] => [
  process.execPath,
  ['--max-semi-space-size=4', ...options, join(import.meta.dirname, '../dist/main.js'), command],
];

/** The command line that runs a file of this folder as a separate Node process. */
export const nodeScript = (name: string, ...args: string[]): [string, string[]] => [
  process.execPath,
  [join(import.meta.dirname, name), ...args],
];

/** Stops all running child processes. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

function launch(command: string, args: string[], environment: Environment) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(MUSTER_|NODE_OPTIONS)/.test(name));
  // As `npm start` sets it.
  const env = { MALLOC_MMAP_THRESHOLD_: '1048576', ...Object.fromEntries(inherited), ...environment };
  const child = spawn(command, args, { env, timeout: maxRunMs });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args[0]} ended with ${code ?? signal}: ${stderr || stdout}`));
    });
  });
  // `start` does not await `ended`, so avoid an unhandled rejection when the process is stopped.
  ended.catch(() => {});
  return { child, ended, stdout: () => stdout };
}

async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  const killTimeout = new AbortController();
  await Promise.race([closed, setTimeout(10_000, undefined, { signal: killTimeout.signal }).catch(() => {})]);
  killTimeout.abort();
  if (running.has(child)) child.kill('SIGKILL');
  await closed;
}
