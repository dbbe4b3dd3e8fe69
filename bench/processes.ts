import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export type Running = AsyncDisposable & {
  pid: number;
  /** Waits until its output matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
};

type Environment = Record<string, string>;

/** Nothing here takes nearly as long; what hangs does not hang for ever. */
const longest = 3_600_000;
const longestStart = 60_000;

const running = new Set<ChildProcess>();

/** Starts a program that goes on until it is disposed of. */
export function start(command: string, args: string[], environment: Environment = {}): Running {
  const { child, ended, stdout } = launch(command, args, environment);
  return {
    pid: child.pid ?? 0,
    async says(pattern) {
      const deadline = performance.now() + longestStart;
      while (performance.now() < deadline) {
        const match = pattern.exec(stdout());
        if (match) return match;
        // One that has ended says nothing more.
        const isOver = await Promise.race([ended.then(() => true), setTimeout(5)]);
        if (isOver) throw new Error(`${args[0]} ended before it was ready: ${stdout()}`);
      }
      throw new Error(`${args[0]} was not ready after a minute`);
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

/** Runs a program to its end and gives what it printed. */
export async function run(command: string, args: string[], environment: Environment = {}): Promise<string> {
  const { ended, stdout } = launch(command, args, environment);
  await ended;
  return stdout();
}

/** The service as `npm start` runs it: see docs/operations.md. */
export const muster = (command: 'serve' | 'demo', ...options: string[]): [string, string[]] => [
  process.execPath,
  ['--max-semi-space-size=4', ...options, join(import.meta.dirname, '../dist/main.js'), command],
];

/** A file of this folder as a program of its own, on the same Node as this one. */
export const script = (name: string, ...args: string[]): [string, string[]] => [
  process.execPath,
  [join(import.meta.dirname, name), ...args],
];

/** Ends whatever still runs: when this program fails or is told to stop. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map(end));
}

function launch(command: string, args: string[], environment: Environment) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(MUSTER_|NODE_OPTIONS)/.test(name));
  const env = { ...Object.fromEntries(inherited), ...environment };
  const child = spawn(command, args, { env, timeout: longest });
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
  // Whoever waits for the end hears of it; nobody waits for one that is stopped.
  ended.catch(() => {});
  return { child, ended, stdout: () => stdout };
}

async function end(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const closed = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  const patience = new AbortController();
  await Promise.race([closed, setTimeout(10_000, undefined, { signal: patience.signal }).catch(() => {})]);
  patience.abort();
  if (running.has(child)) child.kill('SIGKILL');
  await closed;
}
