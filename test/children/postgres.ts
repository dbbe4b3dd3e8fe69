import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startPostgres } from '../postgres.ts';
import type { Command, Reply } from '../postgres-server.ts';

/**
 * The child process of `startPostgresServer`: it starts PostgreSQL, and kills or freezes it on command. When the parent
 * disconnects or dies, it kills the server and deletes its data.
 */
const folder = mkdtempSync(join(tmpdir(), 'muster-postgres-'));
// The server may run as another user, which needs access to its data.
chmodSync(folder, 0o755);

let server: Awaited<ReturnType<typeof startPostgres>> | undefined;
let isRunning = false;

async function start(): Promise<void> {
  if (!server) server = await startPostgres(folder, process.argv.slice(2), process.env.PRIMARY_URL);
  else await restart(server);
  isRunning = true;
}

/** Retries, because orphaned processes may hold the shared memory for a moment, and the postmaster cannot start then. */
async function restart(server: { restart(): Promise<void> }): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await server.restart();
    } catch (error) {
      if (attempt === 100) throw error ?? new Error('the server ended immediately');
      await setTimeout(100);
    }
  }
}

/** Lists the postmaster and its child processes. Stops the postmaster first, so that it starts no more of them. */
function listProcesses(): number[] {
  // The system may reuse the process id of a dead server.
  if (!server || !isRunning) return [];
  const parent = server.pid();
  send(parent, 'SIGSTOP');
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = all.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return [parent, ...pairs.flatMap(([pid, ppid]) => (pid && ppid === parent ? pid : []))];
}

function signal(name: NodeJS.Signals): void {
  for (const pid of listProcesses()) send(pid, name);
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function kill(): void {
  signal('SIGKILL');
  isRunning = false;
}

const commands: Record<Command, () => unknown> = {
  start,
  kill,
  freeze: () => signal('SIGSTOP'),
  thaw: () => signal('SIGCONT'),
};

process.on('message', async (command: Command) => {
  let reply: Reply;
  try {
    await commands[command]();
    reply = { url: server?.url ?? '' };
  } catch (error) {
    reply = { error: String(error) };
  }
  process.send?.(reply);
});

process.on('disconnect', () => process.exit());
process.on('exit', () => {
  kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});
