import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';

/** The path of a program, if it is installed. Debian installs servers in /usr/sbin, which is not in the PATH of every user. */
export function findProgram(program: string): string | undefined {
  const options = { env: programEnvironment, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${program}`], options);
  return status === 0 ? stdout.trim() : undefined;
}

export const isInstalled = (program: string) => findProgram(program) !== undefined;

const programEnvironment = { ...process.env, PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` };

/** Starts a server, waits until it accepts connections on the port, and stops it when the test ends. */
export async function startProgram(
  t: Pick<TestContext, 'after'>,
  [program = '', ...args]: string[],
  port: number,
  options: { uid?: number; gid?: number } = {},
): Promise<void> {
  const child = spawn(program, args, {
    env: programEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  const exit = new Promise<void>((resolve) => child.once('close', () => resolve()));
  t.after(() => stop(child, exit));
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${output}`);
  }
}

async function stop(child: ChildProcess, exit: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  // Not every proxy stops while a client keeps a connection open.
  const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
  await exit;
  clearTimeout(timer);
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () =>
      setTimeout(resolve, 20, false),
    );
    socket.on('connect', () => socket.destroy());
  });
